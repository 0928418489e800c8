//! Are graphs that are far apart still far apart after coarsening?
//!
//! The Wasserstein distance between the spectra of two graphs is compared with that
//! between the same graphs coarsened once and twice, over many pairs drawn uniformly.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hg2v::coarsen;
use hg2v::distance::spectra::{spectrum, wasserstein};
use hg2v::graph::Graph;
use hg2v::prepare::{Collection, Needs, Run};
use hg2v::progress::Stage;
use hg2v_math::parallel::try_map;
use hg2v_math::rng;
use rand::RngExt;
use serde_json::{Value, json};

use super::Plan;
use super::figures::{Figure, chosen, mean_and_deviation};
use crate::config;
use crate::environment::Environment;
use crate::error::Result;
use crate::figure::chart::Axes;
use crate::figure::{Anchor, Drawing, KINDS, Text};
use crate::table::TextTable;

/// Levels above the graph itself, each of a colour of its own.
const LEVELS: usize = 2;

/// What a pair of graphs is: who, and how far apart on each level.
struct Pair {
    graphs: [usize; 2],
    distances: [f64; LEVELS + 1],
}

/// All pairs of a dataset, run after run.
struct Measured {
    dataset: String,
    runs: Vec<Vec<Pair>>,
}

impl Measured {
    /// The correlation of distances on level 0 with those on `level`, a run.
    fn correlations(&self, level: usize) -> Vec<f64> {
        let of = |pairs: &Vec<Pair>| {
            let numbers =
                |level: usize| pairs.iter().map(|p| p.distances[level]).collect::<Vec<_>>();
            correlation(&numbers(0), &numbers(level))
        };
        self.runs.iter().map(of).collect()
    }
}

pub(super) fn make(plan: &Plan, environment: &Environment<'_>) -> Result<Figure> {
    let config = config::fig_spectra()?;
    let (runs, pairs) = match plan.quick {
        true => (config.quick.runs, config.quick.pairs),
        false => (config.runs, config.pairs),
    };
    let mut all = Vec::new();
    for (dataset, provenance) in chosen(&config.datasets, plan, environment)? {
        let (file, records) = provenance.records(environment)?;
        let coarsening = Some(coarsen::Params::default());
        let needs = Needs::default().coarsening(coarsening);
        let collection = environment.collect(Run::of(&records, &file), &needs)?;
        all.push(measured(dataset, &collection, runs, pairs, environment)?);
    }
    let protocol = json!({
        "runs": runs, "pairs_a_run": pairs, "levels": LEVELS,
        "sets": all.iter().map(|m| &m.dataset).collect::<Vec<_>>(),
        "laplacian": "D − W; super-nodes are joined by the sum of the weights between them",
        "distance": "Wasserstein, order 1, between uniform distributions over all eigenvalues",
        "coarsening": coarsen::Params::default(),
        "too_few_levels": "a graph that is not coarsened further stays as it is",
        "correlation": "Pearson's, a run; mean and deviation over runs",
    });
    let of_dataset = |m: &Measured| {
        let levels: Vec<Value> = (1..=LEVELS)
            .map(|level| {
                let correlations = m.correlations(level);
                let (mean, deviation) = mean_and_deviation(&correlations);
                json!({ "level": level, "mean": mean, "deviation": deviation, "runs": correlations })
            })
            .collect();
        (m.dataset.clone(), json!({ "correlations": levels }))
    };
    Ok(Figure {
        drawings: vec![(String::new(), drawn(&all))],
        numbers: vec![(String::new(), numbers(&all))],
        protocol,
        results: all.iter().map(of_dataset).collect::<serde_json::Map<_, _>>().into(),
        table: table(&all),
    })
}

fn measured(
    dataset: String,
    collection: &Collection<'_>,
    runs: u64,
    pairs: usize,
    environment: &Environment<'_>,
) -> Result<Measured> {
    let n = collection.len();
    if n == 0 {
        let file = PathBuf::from(collection.run.file);
        let fix = "give a set with graphs in it";
        let place = hg2v::error::Place::Whole;
        return Err(hg2v::Error::input(file, place, "there are no graphs", fix).into());
    }
    let drawn: Vec<Vec<[usize; 2]>> = (0..runs)
        .map(|run| {
            let mut rng = rng::stream(environment.seed, "pairs of graphs", run, 0);
            (0..pairs).map(|_| [rng.random_range(0..n), rng.random_range(0..n)]).collect()
        })
        .collect();
    let needed: BTreeSet<usize> = drawn.iter().flatten().flatten().copied().collect();
    let needed: Vec<usize> = needed.into_iter().collect();
    let counter = environment.context.counter(Stage::Comparing, needed.len() as u64);
    let spectra: Vec<[Vec<f64>; LEVELS + 1]> = try_map(&needed, |&graph| {
        let found = spectra(collection, graph)?;
        counter.add(1)?;
        Ok::<_, hg2v::Error>(found)
    })?;
    let spectra_of = |graph: usize| &spectra[needed.partition_point(|&other| other < graph)];
    let pair = |graphs: [usize; 2]| {
        let [a, b] = graphs.map(spectra_of);
        Pair { graphs, distances: std::array::from_fn(|level| wasserstein(&a[level], &b[level])) }
    };
    let runs = drawn.into_iter().map(|run| run.into_iter().map(pair).collect()).collect();
    Ok(Measured { dataset, runs })
}

/// The spectra of a graph and of its first levels.
fn spectra(collection: &Collection<'_>, graph: usize) -> hg2v::Result<[Vec<f64>; LEVELS + 1]> {
    let levels = &collection.pyramids[graph].levels;
    let mut found: [Vec<f64>; LEVELS + 1] = Default::default();
    found[0] = spectrum(&collection.graphs[graph])?;
    for level in 1..=LEVELS {
        let coarse: Option<&Graph> = levels.get(level - 1).map(|level| &level.graph);
        found[level] = match coarse {
            Some(graph) => spectrum(graph)?,
            None => found[level - 1].clone(),
        };
    }
    Ok(found)
}

/// Pearson's coefficient; 0 where one side is constant.
fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let ((mean_x, sd_x), (mean_y, sd_y)) = (mean_and_deviation(x), mean_and_deviation(y));
    let products = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y));
    let covariance = products.sum::<f64>() / x.len().max(1) as f64;
    if sd_x * sd_y > 0.0 { covariance / (sd_x * sd_y) } else { 0.0 }
}

fn drawn(all: &[Measured]) -> Drawing {
    let description = "Distances between spectra of graphs, before and after coarsening";
    let rows = all.len().div_ceil(2) as f64;
    let mut drawing = Drawing::new([820.0, 56.0 + 304.0 * rows], description);
    let colors = [KINDS[0], KINDS[1]];
    let names = ["coarsened once", "coarsened twice"];
    for (i, (name, color)) in names.into_iter().zip(colors).enumerate() {
        let x = 72.0 + 170.0 * i as f64;
        drawing.circle([x, 21.0], 4.0, color, None);
        drawing.text([x + 10.0, 25.0], 12.0, Anchor::Start, name);
    }
    let note = "ρ: correlation with the distance before, mean over runs";
    drawing.text([786.0, 25.0], 11.0, Anchor::End, note);
    for (which, measured) in all.iter().enumerate() {
        let (column, row) = ((which % 2) as f64, (which / 2) as f64);
        let Some(pairs) = measured.runs.first() else { continue };
        let most = |from: usize, to: usize| {
            let distances = pairs.iter().flat_map(|pair| &pair.distances[from..=to]);
            distances.fold(1e-9, |most, &distance| f64::max(most, distance)) * 1.04
        };
        let axes = Axes {
            corner: [66.0 + 390.0 * column, 70.0 + 304.0 * row],
            size: [330.0, 222.0],
            x: [0.0, most(0, 0)],
            y: [0.0, most(1, LEVELS)],
        };
        let x_label = "distance between the graphs’ spectra";
        axes.draw(&mut drawing, &measured.dataset, x_label, "the same, coarsened");
        // Dots of both kinds in turn, the second smaller: neither hides the other.
        for pair in pairs {
            for (level, radius) in [(1, 2.3), (2, 1.4)] {
                let at = axes.at(pair.distances[0], pair.distances[level]);
                drawing.circle(at, radius, colors[level - 1].with_opacity(0.5), None);
            }
        }
        for level in 1..=LEVELS {
            let (mean, _) = mean_and_deviation(&measured.correlations(level));
            drawing.write(Text {
                // Side by side, up to the right margin.
                at: [
                    axes.corner[0] + axes.size[0] - 84.0 * (LEVELS - level) as f64,
                    axes.corner[1] - 9.0,
                ],
                size: 12.5,
                anchor: Anchor::End,
                bold: true,
                upwards: false,
                color: colors[level - 1],
                text: format!("ρ = {mean:.2}"),
            });
        }
    }
    drawing
}

fn numbers(all: &[Measured]) -> String {
    let mut out = String::from("set,run,graph,other,distance,coarsened_once,coarsened_twice\n");
    for measured in all {
        // What is drawn; the record has the coefficients of all runs.
        for pair in measured.runs.iter().take(1).flatten() {
            let ([g, h], [d0, d1, d2]) = (pair.graphs, pair.distances);
            out += &format!("{},0,{g},{h},{d0:.6},{d1:.6},{d2:.6}\n", measured.dataset);
        }
    }
    out
}

fn table(all: &[Measured]) -> TextTable {
    let mut table = TextTable::new(1, ["set", "coarsened once", "coarsened twice"]);
    for measured in all {
        let coefficients = (1..=LEVELS).map(|level| {
            let (mean, deviation) = mean_and_deviation(&measured.correlations(level));
            format!("{mean:.3} ± {deviation:.3}")
        });
        table.row([measured.dataset.clone()].into_iter().chain(coefficients));
    }
    let mean = |m: &&Measured, level| mean_and_deviation(&m.correlations(level)).0;
    let falling = all.iter().filter(|m| mean(m, 2) <= mean(m, 1)).count();
    let note = "correlation of the distance between spectra with that after coarsening, mean ± \
                deviation over runs";
    table.noting(note).noting(format!(
        "paper: smaller after the second coarsening than after the first; here on {falling} of {} \
         sets (its coefficients stand in its figure alone)",
        all.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_are_pearsons() {
        assert!((correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]) - 1.0).abs() < 1e-12);
        assert!((correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
        // numpy: np.corrcoef([1, 2, 3, 4], [1, 3, 2, 5])[0, 1]
        let found = correlation(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 5.0]);
        assert!((found - 0.8315218406202999).abs() < 1e-12);
        assert_eq!(correlation(&[1.0, 1.0], &[0.0, 2.0]), 0.0);
    }
}
