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
use hg2v::progress::Stage;
use hg2v_math::parallel::try_map;
use serde_json::json;

use super::Plan;
use super::figures::{Figure, mean_and_deviation};
use crate::config::{self, FigWl};
use crate::environment::Environment;
use crate::error::Result;
use crate::figure::chart::Axes;
use crate::figure::{Anchor, Drawing, STEPS};
use crate::table::TextTable;

/// Similarities in percent: `[stage − 1][removed − 1]`, mean and deviation.
type Curves = Vec<Vec<(f64, f64)>>;

/// What was found of a family.
struct FamilyCurves {
    title: String,
    name: &'static str,
    curves: Curves,
}

pub(super) fn make(plan: &Plan, environment: &Environment<'_>) -> Result<Figure> {
    let config = config::fig_wl()?;
    let FigWl { stages, most_removed, .. } = config;
    let graphs = if plan.quick { config.quick.graphs } else { config.graphs };
    let total = config.families.len() as u64 * most_removed;
    let counter = environment.context.counter(Stage::Comparing, total);
    let mut all = Vec::new();
    for titled in &config.families {
        let family = titled.family.of(config.nodes);
        let mut curves: Curves = vec![Vec::new(); stages];
        for removed in 1..=most_removed {
            let found = similarities(&family, removed, graphs, stages, environment.seed)?;
            for (stage, curve) in curves.iter_mut().enumerate() {
                let numbers: Vec<f64> = found.iter().map(|stages| stages[stage]).collect();
                curve.push(mean_and_deviation(&numbers));
            }
            counter.add(1)?;
        }
        all.push(FamilyCurves { title: titled.title.clone(), name: family.name(), curves });
    }
    let protocol = json!({
        "nodes": config.nodes, "graphs": graphs, "stages": stages,
        "edges_removed": [1, most_removed],
        "families": all.iter().map(|family| family.name).collect::<Vec<_>>(),
        "labels": "uniform at first; stage l is round l of refinement",
        "similarity": "100 · Σ min / Σ max of the histograms of labels, averaged over graphs",
    });
    let families = all.iter().map(|FamilyCurves { name, curves, .. }| {
        let means: Vec<Vec<f64>> =
            curves.iter().map(|curve| curve.iter().map(|(mean, _)| *mean).collect()).collect();
        ((*name).to_owned(), json!({ "similarity_by_stage": means }))
    });
    Ok(Figure {
        drawings: vec![(String::new(), drawn(&all, most_removed))],
        numbers: vec![(String::new(), numbers(&all))],
        protocol,
        results: families.collect::<serde_json::Map<_, _>>().into(),
        table: table(&all, most_removed),
    })
}

/// The similarity at each stage, of every graph and its copy without some edges.
fn similarities(
    family: &Family,
    removed: u64,
    graphs: u64,
    stages: usize,
    seed: u64,
) -> hg2v::Result<Vec<Vec<f64>>> {
    let whole = SyntheticSet::new(family, 1, seed);
    let whole = whole.graph(0)?;
    // Each number of edges is drawn anew: a graph's stream is its index.
    let noise = Noise::default().remove(removed).add(0);
    let copies = SyntheticSet::new(family, graphs, seed).noise(noise);
    try_map(0..graphs as usize, |index| {
        similarity(&whole, &copies.graph(removed * graphs + index as u64)?, stages)
    })
}

fn similarity(one: &GraphRecord, two: &GraphRecord, stages: usize) -> hg2v::Result<Vec<f64>> {
    let mut refiner = Refiner::new(stages);
    let mut labels = |record: &GraphRecord| {
        // Families have no weights that could be refused.
        let graph = Graph::from_record(record, WeightPolicy::Ignore).map(|(graph, _)| graph);
        refiner.refine(record, &graph.unwrap_or_default())
    };
    let (one, two) = (labels(one)?, labels(two)?);
    Ok((1..=stages).map(|stage| shared(&one[stage], &two[stage])).collect())
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

fn drawn(all: &[FamilyCurves], most_removed: u64) -> Drawing {
    let description = "Similarity of Weisfeiler–Lehman labels before and after edges are removed";
    let mut drawing = Drawing::new([820.0, 640.0], description);
    let mut x = 168.0;
    drawing.title([66.0, 26.0], 12.0, Anchor::Start, "WL stage");
    let stages = all.first().map_or(0, |family| family.curves.len());
    for (stage, color) in STEPS.iter().take(stages).enumerate() {
        drawing.line([[x, 22.0], [x + 26.0, 22.0]], 2.0, *color);
        drawing.circle([x + 13.0, 22.0], 3.5, *color, None);
        drawing.text([x + 33.0, 26.0], 12.0, Anchor::Start, (stage + 1).to_string());
        x += 74.0;
    }
    for (which, FamilyCurves { title, curves, .. }) in all.iter().enumerate() {
        let (column, row) = ((which % 2) as f64, (which / 2) as f64);
        let axes = Axes {
            corner: [66.0 + 390.0 * column, 70.0 + 290.0 * row],
            size: [330.0, 210.0],
            x: [0.5, most_removed as f64 + 0.5],
            y: [0.0, 100.0],
        };
        axes.draw(&mut drawing, title, "edges removed", "similarity in %");
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

fn numbers(all: &[FamilyCurves]) -> String {
    let mut out = String::from("family,stage,edges_removed,similarity_mean,similarity_deviation\n");
    for FamilyCurves { name, curves, .. } in all {
        for (stage, curve) in curves.iter().enumerate() {
            for (i, (mean, deviation)) in curve.iter().enumerate() {
                let (stage, removed) = (stage + 1, i + 1);
                out += &format!("{name},{stage},{removed},{mean:.4},{deviation:.4}\n");
            }
        }
    }
    out
}

fn table(all: &[FamilyCurves], most_removed: u64) -> TextTable {
    let header = (1..=most_removed).map(|removed| removed.to_string());
    let names = ["family", "stage"].map(str::to_owned);
    let mut table = TextTable::new(1, names.into_iter().chain(header));
    for FamilyCurves { name, curves, .. } in all {
        for (stage, curve) in curves.iter().enumerate() {
            let means = curve.iter().map(|(mean, _)| format!("{mean:.1}"));
            let first = [(*name).to_owned(), (stage + 1).to_string()];
            table.row(first.into_iter().chain(means));
        }
    }
    let curves: Vec<&Vec<(f64, f64)>> = all.iter().flat_map(|family| &family.curves).collect();
    let falling = |curve: &&&Vec<(f64, f64)>| curve.windows(2).all(|pair| pair[1].0 <= pair[0].0);
    let pairs: Vec<_> = all.iter().flat_map(|family| family.curves.windows(2)).collect();
    let below =
        pairs.iter().filter(|pair| pair[1].iter().zip(&pair[0]).all(|(high, low)| high.0 <= low.0));
    let note = "similarity of labels in percent, by the number of edges removed";
    table.noting(note).noting(format!(
        "paper: falls with every edge, and lower at higher stages; here {} of {} curves never rise, \
         {} of {} lie nowhere above the stage before",
        curves.iter().filter(falling).count(),
        curves.len(),
        below.count(),
        pairs.len(),
    ))
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
        let found = similarities(&Family::Cycle { nodes: 500 }, 1, 2, 5, 0).unwrap();
        assert_eq!(found[0].len(), 5);
        for (stage, similarity) in (1..).zip(&found[0]) {
            let (same, changed) = (f64::from(500 - 2 * stage), f64::from(2 * stage));
            assert!((similarity - 100.0 * same / (500.0 + changed)).abs() < 1e-12);
        }
        assert_eq!(found[0], found[1]);
    }
}
