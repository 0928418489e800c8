//! Which graphs lie next to each other in the space that was learnt?
//!
//! A model is trained on each set without labels; graphs drawn at random stand beside
//! the six whose vectors are nearest to theirs, by Euclidean distance.

use std::fmt::Write;

use hg2v::context::Machine;
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

use super::Args;
use super::figures::{Figure, chosen};
use crate::context::Context;
use crate::figure::network::{Network, View};
use crate::figure::{Anchor, Color, Drawing, GREY, KINDS, PALE, Point};
use crate::graphs;
use crate::table::{Table, percent};
use crate::watch::Watch;

/// The paper's sets, and how many graphs its figures draw neighbours of.
const SETS: [(&str, usize); 3] = [("IMDB-BINARY", 10), ("MNIST", 4), ("PTC_FR", 6)];

const NEIGHBORS: usize = 6;

/// A quick run sees this many graphs of a set at most, this often.
const QUICK_GRAPHS: usize = 600;
const QUICK_EPOCHS: u64 = 3;

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

/// Everything that is drawn of a set.
struct Found {
    set: &'static str,
    records: Vec<GraphRecord>,
    rows: Vec<Row>,
    /// Of the six nearest of every graph, how many are of its class; and how many
    /// would be by chance.
    same_class: f64,
    by_chance: f64,
}

pub(super) fn make(args: &Args, context: &Context) -> anyhow::Result<Figure> {
    let machine = args.device.open()?;
    let params = args.preset.params().seed(context.seed());
    let params = if args.quick { params.epochs(QUICK_EPOCHS) } else { params };
    let names = SETS.map(|(set, _)| set);
    let mut all = Vec::new();
    for (set, origin) in chosen(&names, args, context)? {
        let (file, mut records) = origin.records(context)?;
        if args.quick {
            let mut rng = rng::stream(context.seed(), "some graphs", 0, 0);
            let kept = rng::sample_without_replacement(records.len(), QUICK_GRAPHS, &mut rng);
            records = kept.iter().map(|&i| std::mem::take(&mut records[i])).collect();
        }
        let run = Run::of(&records, &file);
        let collection = graphs::collected(run, &params.needs(), args.cache.open(), context)?;
        let vectors = vectors(set, &collection, &params, &machine, context)?;
        let wanted = SETS.iter().find(|(name, _)| *name == set).map_or(0, |(_, rows)| *rows);
        all.push(found(set, &collection, &vectors, wanted, context.seed())?);
    }
    let mut protocol = json!({
        "rows": SETS.iter().map(|(set, rows)| (*set, *rows)).collect::<Vec<_>>(),
        "neighbors": NEIGHBORS,
        "distance": "Euclidean, between vectors as the model gives them",
        "trained_on": "all graphs of the set, without labels",
        "most_graphs": args.quick.then_some(QUICK_GRAPHS),
        "model": params,
    });
    if let Some(device) = args.device.note() {
        protocol["device"] = device.into();
    }
    let of_set = |f: &Found| -> (String, Value) {
        let result = json!({
            "graphs": f.records.len(), "same_class": f.same_class, "by_chance": f.by_chance,
        });
        (f.set.to_owned(), result)
    };
    Ok(Figure {
        drawings: all.iter().map(|f| (format!("-{}", f.set), drawn(f))).collect(),
        tables: vec![(String::new(), table(&all))],
        protocol,
        results: all.iter().map(of_set).collect::<serde_json::Map<_, _>>().into(),
        said: said(&all),
    })
}

/// A vector for each graph, by a model that was trained on all of them.
fn vectors(
    set: &str,
    collection: &Collection<'_>,
    params: &Hg2vParams,
    machine: &Machine,
    context: &Context,
) -> anyhow::Result<Space> {
    context.say(format!("{set}: training on {} graphs", collection.len()));
    let watch = Watch::new(context);
    let work = graphs::on(machine).watched_by(&watch);
    let fit = params.prepare(collection, &collection.all())?;
    let model = fit.train(&work)?;
    let rows = model.embed_examples(&fit.examples, &work)?;
    Ok(Space::new(model.dim(), rows, Metric::Euclidean)?)
}

fn found(
    set: &'static str,
    collection: &Collection<'_>,
    vectors: &Space,
    wanted: usize,
    seed: u64,
) -> hg2v::Result<Found> {
    let n = vectors.len();
    let mut rng = rng::stream(seed, "graphs with neighbours", 0, 0);
    let mut queries: Vec<usize> = Vec::new();
    while queries.len() < wanted.min(n) {
        let graph = rng.random_range(0..n);
        if !queries.contains(&graph) {
            queries.push(graph);
        }
    }
    let label = |i: usize| collection.run.records[i].label.as_ref();
    let near = nearest_others(vectors, NEIGHBORS)?;
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
    Ok(Found {
        set,
        records: collection.run.records.to_vec(),
        rows: queries.iter().map(|&graph| all[graph].clone()).collect(),
        same_class: same as f64 / pairs.max(1) as f64,
        by_chance: chance as f64 / (n * n.saturating_sub(1)).max(1) as f64,
    })
}

fn drawn(found: &Found) -> Drawing {
    let (cell, top) = (112.0, 58.0);
    let height = cell + 18.0;
    let columns = NEIGHBORS + 1;
    let size = [cell * columns as f64 + 36.0, top + height * found.rows.len() as f64 + 4.0];
    let description =
        format!("Graphs of {} and the six nearest to each in latent space", found.set);
    let mut drawing = Drawing::new(size, description);
    let left = |column: usize| {
        // The graph itself stands a little apart.
        6.0 + cell * column as f64 + if column > 0 { 20.0 } else { 0.0 }
    };
    drawing.title([10.0, 20.0], 13.0, Anchor::Start, found.set);
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
fn vocabulary(found: &Found) -> Vec<Scalar> {
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
    let network = Network {
        graph: &graph,
        points: &points,
        radii: &vec![radius; n],
        colors: &colors,
        // Dense graphs would be black.
        edge: GREY.with_opacity((60.0 / graph.num_edges().max(1) as f32).clamp(0.12, 0.7)),
    };
    network.draw(drawing, corner, size, view);
}

fn table(all: &[Found]) -> String {
    let mut out = String::from("set,row,rank,graph,distance,class,nodes,edges\n");
    for found in all {
        for (at, row) in found.rows.iter().enumerate() {
            for (rank, (index, distance)) in row.shown().enumerate() {
                let record = &found.records[index];
                let id = record.id.as_ref().map_or_else(|| index.to_string(), Scalar::to_string);
                let class = record.label.as_ref().map_or_else(String::new, Scalar::to_string);
                let (set, nodes, edges) = (found.set, record.num_nodes, record.edges.len());
                // Writing to a string does not fail.
                let _ =
                    writeln!(out, "{set},{at},{rank},{id},{distance:.6},{class},{nodes},{edges}");
            }
        }
    }
    out
}

fn said(all: &[Found]) -> Vec<String> {
    let mut table = Table::new(1);
    table.row(["set", "graphs", "of the same class", "by chance"]);
    for found in all {
        let graphs = found.records.len().to_string();
        table.row([
            found.set.to_owned(),
            graphs,
            percent(found.same_class),
            percent(found.by_chance),
        ]);
    }
    let mut lines = table.lines();
    lines.push(String::new());
    lines.push("how many of the six nearest graphs are of a graph's own class".to_owned());
    lines
}
