//! Which graphs lie next to each other in the space that was learnt?
//!
//! A model is trained on each dataset without labels; graphs drawn at random stand beside
//! those whose vectors are nearest to theirs, by Euclidean distance.

use std::fmt::Write;

use hg2v::graph::{GraphRecord, Scalar};
use hg2v::prepare::{Collection, Run};
use hg2v::{Hg2vParams, Method, Model};
use hg2v_math::rng;
use hg2v_report::places::{Coordinates, places};
use hg2v_search::exact::nearest_others;
use hg2v_search::{Metric, Neighbor, Space};
use rand::RngExt;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::Plan;
use super::figures::{Figure, chosen};
use crate::config;
use crate::environment::{Environment, Event};
use crate::error::Result;
use crate::figure::placed_graph::{PlacedGraph, View};
use crate::figure::{Anchor, Color, Drawing, GREY, KINDS, PALE, Point};
use crate::table::TextTable;

/// A graph and those nearest to it, nearest first.
#[derive(Clone)]
struct Row {
    graph: usize,
    neighbors: Vec<Neighbor>,
}

impl Row {
    /// The graph itself and then its neighbours, with their distances.
    fn shown(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let others = self.neighbors.iter().map(|near| (near.position, near.distance));
        [(self.graph, 0.0)].into_iter().chain(others)
    }
}

/// Everything that is drawn of a dataset.
struct DrawnDataset {
    dataset: String,
    records: Vec<GraphRecord>,
    rows: Vec<Row>,
    /// How many neighbours each graph has.
    neighbors: usize,
    /// Of the nearest of every graph, how many are of its class; and how many
    /// would be by chance.
    same_class: f64,
    by_chance: f64,
}

pub(super) fn make(plan: &Plan, environment: &Environment<'_>) -> Result<Figure> {
    let config = config::fig_neighbors()?;
    let quick = plan.quick.then_some(&config.quick);
    let mut params = plan.model(environment);
    if let Some(quick) = quick {
        params = params.epochs(quick.epochs);
    }
    let names: Vec<String> = config.datasets.iter().map(|one| one.name.clone()).collect();
    let mut all = Vec::new();
    for (dataset, provenance) in chosen(&names, plan, environment)? {
        let (file, mut records) = provenance.records(environment)?;
        if let Some(quick) = quick {
            let mut rng = rng::stream(environment.seed, "some graphs", 0, 0);
            let most = quick.most_graphs;
            let kept = rng::sample_without_replacement(records.len(), most, &mut rng);
            records = kept.iter().map(|&i| std::mem::take(&mut records[i])).collect();
        }
        let collection = environment.collect(Run::of(&records, &file), &params.needs())?;
        let vectors = vectors(&dataset, &collection, &params, environment)?;
        let own = config.datasets.iter().find(|one| one.name == dataset);
        let wanted = Wanted {
            graphs: own.map_or(0, |one| one.graphs),
            neighbors: config.neighbors,
            seed: environment.seed,
        };
        all.push(found(dataset, &collection, &vectors, wanted)?);
    }
    let rows: Vec<(&str, usize)> =
        config.datasets.iter().map(|one| (one.name.as_str(), one.graphs)).collect();
    let protocol = environment.with_device(json!({
        "rows": rows,
        "neighbors": config.neighbors,
        "distance": "Euclidean, between vectors as the model gives them",
        "trained_on": "all graphs of the set, without labels",
        "most_graphs": quick.map(|quick| quick.most_graphs),
        "model": params,
    }));
    let of_dataset = |drawn: &DrawnDataset| -> (String, Value) {
        let result = json!({
            "graphs": drawn.records.len(), "same_class": drawn.same_class,
            "by_chance": drawn.by_chance,
        });
        (drawn.dataset.clone(), result)
    };
    Ok(Figure {
        drawings: all.iter().map(|one| (format!("-{}", one.dataset), drawn(one))).collect(),
        numbers: vec![(String::new(), numbers(&all))],
        protocol,
        results: all.iter().map(of_dataset).collect::<serde_json::Map<_, _>>().into(),
        table: table(&all, config.neighbors),
    })
}

/// A vector for each graph, by a model that was trained on all of them.
fn vectors(
    dataset: &str,
    collection: &Collection<'_>,
    params: &Hg2vParams,
    environment: &Environment<'_>,
) -> Result<Space> {
    (environment.tell)(&Event::Training { dataset, graphs: collection.len() });
    let fit = params.prepare(collection, &collection.all())?;
    let model = fit.train(environment.context)?;
    let rows = model.embed_collection(collection, environment.context)?.values;
    Ok(Space::new(model.dim(), rows, Metric::Euclidean)?)
}

/// What is drawn of a dataset.
struct Wanted {
    graphs: usize,
    neighbors: usize,
    seed: u64,
}

fn found(
    dataset: String,
    collection: &Collection<'_>,
    vectors: &Space,
    wanted: Wanted,
) -> hg2v::Result<DrawnDataset> {
    let n = vectors.len();
    let mut rng = rng::stream(wanted.seed, "graphs with neighbours", 0, 0);
    let mut queries: Vec<usize> = Vec::new();
    while queries.len() < wanted.graphs.min(n) {
        let graph = rng.random_range(0..n);
        if !queries.contains(&graph) {
            queries.push(graph);
        }
    }
    let label = |i: usize| collection.run.records[i].label.as_ref();
    let near = nearest_others(vectors, wanted.neighbors)?;
    let all: Vec<Row> =
        near.into_iter().enumerate().map(|(graph, neighbors)| Row { graph, neighbors }).collect();
    let (mut same, mut pairs) = (0, 0);
    for row in &all {
        pairs += row.neighbors.len();
        let alike = |near: &&Neighbor| label(near.position) == label(row.graph);
        same += row.neighbors.iter().filter(alike).count();
    }
    let alike = |i: usize| (0..n).filter(|&j| j != i && label(j) == label(i)).count();
    let chance: usize = (0..n).into_par_iter().map(alike).sum();
    Ok(DrawnDataset {
        dataset,
        neighbors: wanted.neighbors,
        records: collection.run.records.to_vec(),
        rows: queries.iter().map(|&graph| all[graph].clone()).collect(),
        same_class: same as f64 / pairs.max(1) as f64,
        by_chance: chance as f64 / (n * n.saturating_sub(1)).max(1) as f64,
    })
}

fn drawn(found: &DrawnDataset) -> Drawing {
    let (cell, top) = (112.0, 58.0);
    let height = cell + 18.0;
    let columns = found.neighbors + 1;
    let size = [cell * columns as f64 + 36.0, top + height * found.rows.len() as f64 + 4.0];
    let description = format!(
        "Graphs of {} and the {} nearest to each in latent space",
        found.dataset,
        in_words(found.neighbors)
    );
    let mut drawing = Drawing::new(size, description);
    let left = |column: usize| {
        // The graph itself stands a little apart.
        6.0 + cell * column as f64 + if column > 0 { 20.0 } else { 0.0 }
    };
    drawing.title([10.0, 20.0], 13.0, Anchor::Start, &*found.dataset);
    let labelled = found.records.iter().any(|record| record.node_labels.is_some());
    let colours = if labelled { "; colours: labels of nodes" } else { "" };
    let note = format!("class · distance in latent space; bold: another class{colours}");
    drawing.text([size[0] - 12.0, 20.0], 10.5, Anchor::End, note);
    for column in 0..columns {
        let name = if column == 0 { "graph".to_owned() } else { column.to_string() };
        drawing.title([left(column) + 0.5 * cell, 44.0], 12.0, Anchor::Middle, name);
    }
    drawing.line([[left(1) - 10.0, 30.0], [left(1) - 10.0, size[1] - 8.0]], 1.0, PALE);
    let vocabulary = vocabulary(found);
    let coordinates = Coordinates::of(&found.records);
    for (at, row) in found.rows.iter().enumerate() {
        let y = top + height * at as f64;
        let own = found.records[row.graph].label.as_ref();
        for (column, (index, distance)) in row.shown().enumerate() {
            let record = &found.records[index];
            let corner = [left(column) + 8.0, y + 4.0];
            draw_graph(&mut drawing, record, corner, cell - 16.0, &vocabulary, coordinates);
            let class = record.label.as_ref().map_or_else(String::new, |y| format!("class {y}"));
            let class = if column == 0 { class } else { format!("{class} · {distance:.2}") };
            let at = [left(column) + 0.5 * cell, y + height - 12.0];
            match record.label.as_ref() == own {
                true => drawing.text(at, 10.0, Anchor::Middle, class),
                // One of another class stands out.
                false => drawing.title(at, 10.0, Anchor::Middle, class),
            }
        }
    }
    drawing
}

/// The labels of nodes in what is drawn, the most frequent first.
fn vocabulary(found: &DrawnDataset) -> Vec<Scalar> {
    let mut counts: Vec<(Scalar, usize)> = Vec::new();
    for row in &found.rows {
        let labels = |(index, _): (usize, f64)| found.records[index].node_labels.iter().flatten();
        for label in row.shown().flat_map(labels) {
            match counts.iter_mut().find(|(known, _)| known == label) {
                Some((_, count)) => *count += 1,
                None => counts.push((label.clone(), 1)),
            }
        }
    }
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    counts.into_iter().map(|(label, _)| label).collect()
}

fn draw_graph(
    drawing: &mut Drawing,
    record: &GraphRecord,
    corner: Point,
    size: f64,
    vocabulary: &[Scalar],
    coordinates: Option<Coordinates>,
) {
    let graph = hg2v::graph::Graph::from_record(record, hg2v::graph::WeightPolicy::Abs);
    let graph = graph.map(|(graph, _)| graph).unwrap_or_default();
    let n = graph.num_nodes();
    let points = places(record, &graph, coordinates);
    let colors: Vec<Color> = (0..n)
        .map(|v| match &record.node_labels {
            Some(labels) => {
                let known = vocabulary.iter().position(|label| *label == labels[v]);
                KINDS[known.unwrap_or(KINDS.len()).min(KINDS.len() - 1)]
            }
            None => KINDS[0],
        })
        .collect();
    let (corner, size) = ([corner[0] + 4.0, corner[1] + 4.0], [size - 8.0; 2]);
    let view = View::of(&points);
    // Neighbours are about a unit apart, and must not touch.
    let radius = (0.36 * view.scale(size)).clamp(1.0, 4.0);
    let placed = PlacedGraph {
        graph: &graph,
        points: &points,
        radii: &vec![radius; n],
        colors: &colors,
        // Dense graphs would be black.
        edge: GREY.with_opacity((60.0 / graph.num_edges().max(1) as f32).clamp(0.12, 0.7)),
    };
    placed.draw(drawing, corner, size, view);
}

fn numbers(all: &[DrawnDataset]) -> String {
    let mut out = String::from("set,row,rank,graph,distance,class,nodes,edges\n");
    for found in all {
        for (at, row) in found.rows.iter().enumerate() {
            for (rank, (index, distance)) in row.shown().enumerate() {
                let record = &found.records[index];
                let id = record.id.as_ref().map_or_else(|| index.to_string(), Scalar::to_string);
                let class = record.label.as_ref().map_or_else(String::new, Scalar::to_string);
                let (set, nodes, edges) = (&found.dataset, record.num_nodes, record.edges.len());
                // Writing to a string does not fail.
                let _ =
                    writeln!(out, "{set},{at},{rank},{id},{distance:.6},{class},{nodes},{edges}");
            }
        }
    }
    out
}

fn table(all: &[DrawnDataset], neighbors: usize) -> TextTable {
    let mut table = TextTable::new(1, ["set", "graphs", "of the same class", "by chance"]);
    for found in all {
        let shares =
            [found.same_class, found.by_chance].map(|share| format!("{:.1}", 100.0 * share));
        let names = [found.dataset.clone(), found.records.len().to_string()];
        table.row(names.into_iter().chain(shares));
    }
    let neighbors = in_words(neighbors);
    table.noting(format!("percentage of the {neighbors} nearest graphs that share a graph's class"))
}

/// A small number as text has it.
fn in_words(number: usize) -> String {
    const WORDS: [&str; 10] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    WORDS.get(number).map_or_else(|| number.to_string(), |&word| word.to_owned())
}
