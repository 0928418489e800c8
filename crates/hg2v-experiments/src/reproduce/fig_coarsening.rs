//! What is left of a digit, level after level.
//!
//! Four digits of MNIST, two of one class and two of another, and their pyramids: a
//! super-node stands in the middle of the pixels that were pooled into it, as large as
//! they are many.

use std::fmt::Write;
use std::slice;

use hg2v::coarsen;
use hg2v::error::{Error, Place};
use hg2v::graph::{Graph, GraphRecord, Scalar};
use hg2v::prepare::{Collection, Needs, Run};
use hg2v_math::rng;
use rand::RngExt;
use serde_json::json;

use super::Plan;
use super::figures::{Figure, chosen};
use crate::config;
use crate::environment::Environment;
use crate::error::Result;
use crate::figure::placed_graph::{PlacedGraph, View};
use crate::figure::{Anchor, Drawing, GREY, KINDS, Point};
use crate::table::TextTable;

/// One level of one digit.
struct Stage {
    graph: Graph,
    points: Vec<Point>,
    /// Pixels pooled into each node.
    pixels: Vec<u32>,
}

/// A digit and its levels.
struct Digit {
    index: usize,
    class: String,
    stages: Vec<Stage>,
}

pub(super) fn make(plan: &Plan, environment: &Environment<'_>) -> Result<Figure> {
    let config::FigCoarsening { dataset, levels } = config::fig_coarsening()?;
    let mut found = chosen(slice::from_ref(&dataset), plan, environment)?;
    let (_, provenance) = found.swap_remove(0);
    let (file, records) = provenance.records(environment)?;
    let indices = choose(&records, environment.seed).ok_or_else(|| {
        let problem = "there are no two classes of two graphs with a place for each node";
        let fix = "give MNIST as `hg2v images` makes it: row and column are the first attributes";
        Error::input(&file, Place::Whole, problem, fix)
    })?;
    let few: Vec<GraphRecord> = indices.iter().map(|&i| records[i].clone()).collect();
    let run = Run::of(&few, &file);
    let coarsening = coarsen::Params::default();
    let needs = Needs::default().coarsening(Some(coarsening));
    // Four graphs are soon coarsened, and belong to no collection that is worth keeping.
    let uncached = environment.context.clone().cached_in(None);
    let collection = Collection::new(run, &needs, &uncached)?;
    let digits: Vec<Digit> = (0..few.len())
        .map(|i| Digit {
            index: indices[i],
            class: few[i].label.as_ref().map_or_else(String::new, Scalar::to_string),
            stages: stages(&collection, i, levels),
        })
        .collect();
    let sizes = |digit: &Digit| {
        let nodes: Vec<usize> = digit.stages.iter().map(|stage| stage.points.len()).collect();
        json!({ "image": digit.index, "class": digit.class, "nodes": nodes })
    };
    Ok(Figure {
        drawings: vec![(String::new(), drawn(&digits))],
        numbers: vec![("-nodes".to_owned(), nodes(&digits)), ("-edges".to_owned(), edges(&digits))],
        protocol: json!({
            "set": dataset, "coarsening": coarsening, "levels_drawn": levels,
            "digits": "two classes and two images of each, drawn uniformly",
            "place": "the mean of the pooled pixels", "size": "area by pooled pixels",
        }),
        results: digits.iter().map(sizes).collect::<Vec<_>>().into(),
        table: table(&digits),
    })
}

/// Two graphs of one class and two of another, each with a place for its nodes.
fn choose(records: &[GraphRecord], seed: u64) -> Option<[usize; 4]> {
    let placed = |i: &usize| {
        let record: &GraphRecord = &records[*i];
        record.num_nodes > 0 && record.features.as_ref().is_some_and(|x| x.dim >= 2)
    };
    let mut classes: Vec<(&Scalar, Vec<usize>)> = Vec::new();
    for i in (0..records.len()).filter(placed) {
        let Some(label) = &records[i].label else { continue };
        match classes.iter_mut().find(|(class, _)| *class == label) {
            Some((_, members)) => members.push(i),
            None => classes.push((label, vec![i])),
        }
    }
    classes.retain(|(_, members)| members.len() >= 2);
    classes.sort_unstable();
    let mut rng = rng::stream(seed, "digits", 0, 0);
    let mut take = |count: usize| -> Option<[usize; 2]> {
        // Two that differ, each pair equally likely.
        let first = rng.random_range(0..count.max(1));
        let second = rng.random_range(0..count.checked_sub(1).filter(|&left| left > 0)?);
        Some([first, if second >= first { second + 1 } else { second }])
    };
    let [a, b] = take(classes.len())?;
    let (one, two) = (&classes[a.min(b)].1, &classes[a.max(b)].1);
    let ([i, j], [k, l]) = (take(one.len())?, take(two.len())?);
    Some([one[i], one[j], two[k], two[l]])
}

fn stages(collection: &Collection<'_>, i: usize, levels: usize) -> Vec<Stage> {
    let graph = &collection.graphs[i];
    let features = collection.run.records[i].features.as_ref();
    // Row and column; a picture's x is its column.
    let place = |v: usize| features.map_or([0.0; 2], |x| [x.row(v)[1], x.row(v)[0]]);
    let mut stages = vec![Stage {
        graph: graph.clone(),
        points: (0..graph.num_nodes()).map(place).collect(),
        pixels: vec![1; graph.num_nodes()],
    }];
    for level in collection.pyramids[i].levels.iter().take(levels) {
        let below = &stages[stages.len() - 1];
        let n = level.graph.num_nodes();
        let (mut sums, mut pixels) = (vec![[0.0; 2]; n], vec![0; n]);
        for (node, &parent) in level.assignment.iter().enumerate() {
            let parent = parent as usize;
            pixels[parent] += below.pixels[node];
            for axis in 0..2 {
                sums[parent][axis] += f64::from(below.pixels[node]) * below.points[node][axis];
            }
        }
        let mean = |(sum, count): (&Point, &u32)| sum.map(|x| x / f64::from(*count));
        let points = sums.iter().zip(&pixels).map(mean).collect();
        stages.push(Stage { graph: level.graph.clone(), points, pixels });
    }
    stages
}

fn drawn(digits: &[Digit]) -> Drawing {
    let (cell, left, top) = (170.0, 74.0, 44.0);
    let columns = digits.iter().map(|digit| digit.stages.len()).max().unwrap_or(1);
    let size = [left + cell * columns as f64 + 10.0, top + cell * digits.len() as f64 + 8.0];
    let mut drawing = Drawing::new(size, "Four digits of MNIST, coarsened level after level");
    for column in 0..columns {
        let name = if column == 0 { "digit".to_owned() } else { format!("level {column}") };
        let x = left + cell * (column as f64 + 0.5);
        drawing.title([x, 26.0], 13.0, Anchor::Middle, name);
    }
    for (row, digit) in digits.iter().enumerate() {
        let y = top + cell * row as f64;
        drawing.title([20.0, y + 0.5 * cell], 26.0, Anchor::Start, &digit.class);
        // The two classes, apart at a glance.
        let color = KINDS[row / 2];
        let view = View::of(&digit.stages[0].points);
        for (column, stage) in digit.stages.iter().enumerate() {
            let corner = [left + cell * column as f64 + 16.0, y + 12.0];
            let radii: Vec<f64> =
                stage.pixels.iter().map(|&count| 1.9 * f64::from(count).sqrt()).collect();
            let colors = vec![color; stage.points.len()];
            let placed = PlacedGraph {
                graph: &stage.graph,
                points: &stage.points,
                radii: &radii,
                colors: &colors,
                edge: GREY.with_opacity(0.55),
            };
            placed.draw(&mut drawing, corner, [cell - 32.0, cell - 42.0], view);
            let count = stage.points.len();
            let nodes = if count == 1 { "node" } else { "nodes" };
            let at = [left + cell * (column as f64 + 0.5), y + cell - 6.0];
            drawing.text(at, 10.5, Anchor::Middle, format!("{count} {nodes}"));
        }
    }
    drawing
}

fn nodes(digits: &[Digit]) -> String {
    let mut out = String::from("image,class,level,node,x,y,pixels\n");
    for digit in digits {
        for (level, stage) in digit.stages.iter().enumerate() {
            for (node, ([x, y], pixels)) in stage.points.iter().zip(&stage.pixels).enumerate() {
                let (image, class) = (digit.index, &digit.class);
                // Writing to a string does not fail.
                let _ = writeln!(out, "{image},{class},{level},{node},{x:.4},{y:.4},{pixels}");
            }
        }
    }
    out
}

fn edges(digits: &[Digit]) -> String {
    let mut out = String::from("image,class,level,node,other,weight\n");
    for digit in digits {
        for (level, stage) in digit.stages.iter().enumerate() {
            for (u, v, weight) in stage.graph.edges() {
                let (image, class) = (digit.index, &digit.class);
                let _ = writeln!(out, "{image},{class},{level},{u},{v},{weight}");
            }
        }
    }
    out
}

fn table(digits: &[Digit]) -> TextTable {
    let columns = digits.iter().map(|digit| digit.stages.len()).max().unwrap_or(1);
    let levels = (1..columns).map(|level| format!("level {level}"));
    let names = ["class", "image", "nodes"].map(str::to_owned);
    let mut table = TextTable::new(1, names.into_iter().chain(levels));
    for digit in digits {
        let sizes = digit.stages.iter().map(|stage| stage.points.len().to_string());
        table.row([digit.class.clone(), digit.index.to_string()].into_iter().chain(sizes));
    }
    table
}
