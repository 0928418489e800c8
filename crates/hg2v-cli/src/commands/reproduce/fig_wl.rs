//! How much do Weisfeiler–Lehman labels change when a few edges go?
//!
//! The similarity of a graph `g` and its damaged copy `g'` at stage `l` is the
//! intersection over union of their histograms of labels,
//! `100·Σ min(h(g), h(g')) / Σ max(h(g), h(g'))`.

use hg2v::dataset::synthetic::families::Family;
use hg2v::dataset::synthetic::noise::Noise;
use hg2v::dataset::synthetic::{Model, SyntheticSet};
use hg2v::graph::wl::{Refiner, histogram};
use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
use hg2v_math::parallel::try_map;
use serde_json::json;

use super::Args;
use super::figures::{Figure, mean_and_deviation};
use crate::context::Context;
use crate::figure::chart::Axes;
use crate::figure::{Anchor, Drawing, STEPS};
use crate::table::Table;

const NODES: u32 = 500;
const STAGES: usize = 5;
const MOST_REMOVED: u64 = 10;
const GRAPHS: u64 = 100;
const QUICK_GRAPHS: u64 = 20;

/// The paper's families, as its captions describe them.
const FAMILIES: [(&str, Family); 4] = [
    ("Cycle", Family::Cycle { nodes: NODES }),
    ("Tree, three children a node", Family::Tree { nodes: NODES, branching: 3 }),
    ("Wheel", Family::Wheel { nodes: NODES }),
    ("Ladder", Family::Ladder { nodes: NODES }),
];

/// Similarities of one family, in percent: `[stage − 1][removed − 1]`, mean and deviation.
type Curves = Vec<Vec<(f64, f64)>>;

pub(super) fn make(args: &Args, context: &Context) -> anyhow::Result<Figure> {
    let graphs = if args.quick { QUICK_GRAPHS } else { GRAPHS };
    let bar = context.progress("comparing labels", Some(FAMILIES.len() as u64 * MOST_REMOVED));
    let mut all = Vec::new();
    for (_, family) in &FAMILIES {
        let mut curves: Curves = vec![Vec::new(); STAGES];
        for removed in 1..=MOST_REMOVED {
            let found = similarities(family, removed, graphs, context.seed())?;
            for (stage, curve) in curves.iter_mut().enumerate() {
                let numbers: Vec<f64> = found.iter().map(|stages| stages[stage]).collect();
                curve.push(mean_and_deviation(&numbers));
            }
            bar.inc(1);
        }
        all.push(curves);
    }
    bar.finish_and_clear();
    let protocol = json!({
        "nodes": NODES, "graphs": graphs, "stages": STAGES, "edges_removed": [1, MOST_REMOVED],
        "families": FAMILIES.map(|(_, family)| family.name()),
        "labels": "uniform at first; stage l is round l of refinement",
        "similarity": "100 · Σ min / Σ max of the histograms of labels, averaged over graphs",
    });
    let families = FAMILIES.iter().zip(&all).map(|((_, family), curves)| {
        let means: Vec<Vec<f64>> =
            curves.iter().map(|curve| curve.iter().map(|(mean, _)| *mean).collect()).collect();
        (family.name().to_owned(), json!({ "similarity_by_stage": means }))
    });
    Ok(Figure {
        drawings: vec![(String::new(), drawn(&all))],
        tables: vec![(String::new(), table(&all))],
        protocol,
        results: families.collect::<serde_json::Map<_, _>>().into(),
        said: said(&all),
    })
}

/// The similarity at each stage, of every graph and its copy without some edges.
fn similarities(
    family: &Family,
    removed: u64,
    graphs: u64,
    seed: u64,
) -> hg2v::Result<Vec<[f64; STAGES]>> {
    let whole =
        SyntheticSet { model: family, graphs: 1, seed, noise: Noise::default(), label: None };
    let whole = whole.graph(0)?;
    // Each number of edges is drawn anew: a graph's stream is its index.
    let noise = Noise { remove: removed, add: 0 };
    let copies = SyntheticSet { model: family, graphs, seed, noise, label: None };
    try_map(0..graphs as usize, |index| {
        similarity(&whole, &copies.graph(removed * graphs + index as u64)?)
    })
}

fn similarity(one: &GraphRecord, two: &GraphRecord) -> hg2v::Result<[f64; STAGES]> {
    let mut refiner = Refiner::new(STAGES);
    let mut labels = |record: &GraphRecord| {
        // Families have no weights that could be refused.
        let graph = Graph::from_record(record, WeightPolicy::Ignore).map(|(graph, _)| graph);
        refiner.refine(record, &graph.unwrap_or_default())
    };
    let (one, two) = (labels(one)?, labels(two)?);
    Ok(std::array::from_fn(|stage| shared(&one[stage + 1], &two[stage + 1])))
}

/// Intersection over union of two bags of labels, in percent.
fn shared(one: &[u32], two: &[u32]) -> f64 {
    let (one, two) = (histogram(one), histogram(two));
    let mut common = 0;
    for (label, count) in &one {
        if let Ok(at) = two.binary_search_by_key(label, |&(label, _)| label) {
            common += count.min(&two[at].1);
        }
    }
    let all = |bag: &[(u32, u32)]| bag.iter().map(|(_, count)| count).sum::<u32>();
    100.0 * f64::from(common) / f64::from(all(&one) + all(&two) - common)
}

fn drawn(all: &[Curves]) -> Drawing {
    let description = "Similarity of Weisfeiler–Lehman labels before and after edges are removed";
    let mut drawing = Drawing::new([820.0, 640.0], description);
    let mut x = 168.0;
    drawing.title([66.0, 26.0], 12.0, Anchor::Start, "WL stage");
    for (stage, color) in STEPS.iter().enumerate() {
        drawing.line([[x, 22.0], [x + 26.0, 22.0]], 2.0, *color);
        drawing.circle([x + 13.0, 22.0], 3.5, *color, None);
        drawing.text([x + 33.0, 26.0], 12.0, Anchor::Start, (stage + 1).to_string());
        x += 74.0;
    }
    for (which, ((name, _), curves)) in FAMILIES.iter().zip(all).enumerate() {
        let (column, row) = ((which % 2) as f64, (which / 2) as f64);
        let axes = Axes {
            corner: [66.0 + 390.0 * column, 70.0 + 290.0 * row],
            size: [330.0, 210.0],
            x: [0.5, MOST_REMOVED as f64 + 0.5],
            y: [0.0, 100.0],
        };
        axes.draw(&mut drawing, name, "edges removed", "similarity in %");
        // Lower stages have larger dots, which show where curves lie on each other.
        for ((curve, color), radius) in curves.iter().zip(STEPS).zip([5.0, 4.4, 3.8, 3.2, 2.6]) {
            let points = curve.iter().enumerate();
            let points: Vec<_> = points.map(|(i, (y, _))| axes.at(i as f64 + 1.0, *y)).collect();
            drawing.line(points.clone(), 2.0, color);
            points.into_iter().for_each(|point| drawing.circle(point, radius, color, None));
        }
    }
    drawing
}

fn table(all: &[Curves]) -> String {
    let mut out = String::from("family,stage,edges_removed,similarity_mean,similarity_deviation\n");
    for ((_, family), curves) in FAMILIES.iter().zip(all) {
        for (stage, curve) in curves.iter().enumerate() {
            for (i, (mean, deviation)) in curve.iter().enumerate() {
                let (stage, removed) = (stage + 1, i + 1);
                let name = family.name();
                out += &format!("{name},{stage},{removed},{mean:.4},{deviation:.4}\n");
            }
        }
    }
    out
}

fn said(all: &[Curves]) -> Vec<String> {
    let mut table = Table::new(1);
    let header = (1..=MOST_REMOVED).map(|removed| removed.to_string());
    table.row(["family".to_owned(), "stage".to_owned()].into_iter().chain(header));
    for ((_, family), curves) in FAMILIES.iter().zip(all) {
        for (stage, curve) in curves.iter().enumerate() {
            let means = curve.iter().map(|(mean, _)| format!("{mean:.1}"));
            let first = [family.name().to_owned(), (stage + 1).to_string()];
            table.row(first.into_iter().chain(means));
        }
    }
    let curves: Vec<&Vec<(f64, f64)>> = all.iter().flatten().collect();
    let falling = |curve: &&&Vec<(f64, f64)>| curve.windows(2).all(|pair| pair[1].0 <= pair[0].0);
    let below = |curves: &Curves| {
        let pairs = curves.windows(2);
        pairs.filter(|pair| pair[1].iter().zip(&pair[0]).all(|(high, low)| high.0 <= low.0)).count()
    };
    let mut lines = table.lines();
    lines.push(String::new());
    lines.push("similarity of labels in percent, by the number of edges removed".to_owned());
    lines.push(format!(
        "paper: falls with every edge, and lower at higher stages; here {} of {} curves never rise, \
         {} of {} lie nowhere above the stage before",
        curves.iter().filter(falling).count(),
        curves.len(),
        all.iter().map(below).sum::<usize>(),
        all.len() * (STAGES - 1),
    ));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bags_share_what_both_have() {
        assert_eq!(shared(&[1, 1, 2], &[2, 1, 1]), 100.0);
        assert_eq!(shared(&[1, 1, 2], &[3, 3, 3]), 0.0);
        // {1, 1, 2} and {1, 2, 2}: two in common, four in all.
        assert_eq!(shared(&[1, 1, 2], &[1, 2, 2]), 50.0);
    }

    /// An edge less in a cycle changes the labels of 2l nodes of 500 at stage l.
    #[test]
    fn one_edge_of_a_cycle() {
        let found = similarities(&FAMILIES[0].1, 1, 2, 0).unwrap();
        for (stage, similarity) in (1..).zip(found[0]) {
            let (same, changed) = (f64::from(500 - 2 * stage), f64::from(2 * stage));
            assert!((similarity - 100.0 * same / (500.0 + changed)).abs() < 1e-12);
        }
        assert_eq!(found[0], found[1]);
    }
}
