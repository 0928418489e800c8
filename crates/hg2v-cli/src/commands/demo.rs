//! `hg2v demo`: the whole job on graphs made on the spot.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use hg2v::coarsen::cache::pyramids;
use hg2v::coarsen::quality::quality;
use hg2v::coarsen::{Params, Pyramid};
use hg2v::dataset;
use hg2v::dataset::synthetic::SyntheticSet;
use hg2v::dataset::synthetic::dla::Dla;
use hg2v::dataset::synthetic::noise::Noise;
use hg2v::graph::{Graph, GraphRecord, Scalar, WeightPolicy};
use hg2v::output::OutputFolder;
use rayon::prelude::*;
use serde_json::json;

use super::coarsen::render;
use crate::context::Context;
use crate::table::{Table, decimal};

/// Do the whole job on an embedded default: make graphs, coarsen them, say what was kept
///
/// Diffusion-limited aggregates of two kinds (sticky and slippery particles) are
/// grown, and each becomes a spectral pyramid. Everything is written to --out.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hg2v demo                      writes hg2v-demo/
  hg2v demo --graphs 1000 --nodes 500 --out big   the paper's own size")]
pub(crate) struct Args {
    /// Where to write; a new or empty folder
    #[arg(long, short, default_value = "hg2v-demo", value_name = "DIR")]
    out: PathBuf,
    /// How many graphs
    #[arg(long, default_value_t = 200, value_name = "N")]
    graphs: u64,
    /// Nodes a graph
    #[arg(long, default_value_t = 500, value_name = "N")]
    nodes: u32,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let folder = OutputFolder::create(&args.out)?;
    let model = Dla { nodes: args.nodes, ..Dla::default() };
    let set = SyntheticSet {
        model: &model,
        graphs: args.graphs,
        seed: context.global.seed,
        noise: Noise::default(),
        label: None,
    };

    let started = Instant::now();
    let make = |index| set.graph(index);
    let records: Vec<GraphRecord> =
        (0..args.graphs).into_par_iter().map(make).collect::<hg2v::Result<_>>()?;
    let mut sink = dataset::create(&folder.working_path().join("graphs.jsonl"), None)?;
    for record in &records {
        sink.write(record)?;
    }
    sink.finish()?;
    let made_in = started.elapsed().as_secs_f64();
    context.say(format!("1. grew {} aggregates of {} particles", args.graphs, args.nodes));

    let started = Instant::now();
    let params = Params { seed: context.global.seed, ..Params::default() };
    let clean = |record: &GraphRecord| match Graph::from_record(record, WeightPolicy::Ignore) {
        Ok((graph, _)) => graph,
        Err(_) => Graph::default(),
    };
    let graphs: Vec<Graph> = records.par_iter().map(clean).collect();
    let (made, _) = pyramids(&graphs, &params, None)?;
    let coarsened_in = started.elapsed().as_secs_f64();
    let mut file = std::fs::File::create(folder.working_path().join("pyramids.jsonl"))?;
    for (index, pyramid) in made.iter().enumerate() {
        file.write_all(&render(&Scalar::Int(index as i64), pyramid, None)?)?;
    }
    context.say("2. coarsened each to a spectral pyramid");

    let rows = by_class(&records, &graphs, &made, &params);
    folder.commit()?;
    if context.global.json {
        let classes: Vec<_> = rows.iter().map(Row::json).collect();
        let result = json!({
            "out": args.out, "graphs": args.graphs, "nodes": args.nodes, "params": params,
            "classes": classes, "seconds": {"make": made_in, "coarsen": coarsened_in},
        });
        return context.print(result.to_string());
    }
    let mut table = Table::new(1);
    table.row([
        "class",
        "graphs",
        "nodes",
        "levels",
        "top nodes",
        "first eigenvalue",
        "ε, one level",
    ]);
    for row in &rows {
        table.row(row.cells());
    }
    context.print(table.lines().join("\n"))?;
    context.print(format!(
        "\nmade in {made_in:.2} s, coarsened in {coarsened_in:.2} s ({:.2} ms a graph)",
        1e3 * coarsened_in / args.graphs.max(1) as f64
    ))?;
    context.print(format!(
        "wrote {0}/graphs.jsonl and {0}/pyramids.jsonl; look closer with `hg2v info {0}/graphs.jsonl`",
        args.out.display()
    ))
}

/// Means over the graphs of one class.
struct Row {
    class: Scalar,
    graphs: usize,
    nodes: f64,
    levels: f64,
    top: f64,
    eigenvalue: f64,
    epsilon: f64,
}

impl Row {
    fn cells(&self) -> Vec<String> {
        vec![
            self.class.to_string(),
            self.graphs.to_string(),
            decimal(self.nodes, 1),
            decimal(self.levels, 1),
            decimal(self.top, 1),
            format!("{:.2e}", self.eigenvalue),
            decimal(self.epsilon, 3),
        ]
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "class": self.class, "graphs": self.graphs, "nodes": self.nodes, "levels": self.levels,
            "top_nodes": self.top, "first_eigenvalue": self.eigenvalue, "epsilon": self.epsilon,
        })
    }
}

fn by_class(
    records: &[GraphRecord],
    graphs: &[Graph],
    made: &[Pyramid],
    params: &Params,
) -> Vec<Row> {
    let mut classes: Vec<Scalar> = records.iter().filter_map(|r| r.label.clone()).collect();
    classes.sort();
    classes.dedup();
    let row = |class: Scalar| {
        let of_class = |i: &usize| records[*i].label.as_ref() == Some(&class);
        let members: Vec<usize> = (0..records.len()).filter(of_class).collect();
        let mean = |value: &(dyn Fn(usize) -> f64 + Sync)| {
            members.par_iter().map(|&i| value(i)).collect::<Vec<_>>().iter().sum::<f64>()
                / members.len() as f64
        };
        // What a single level keeps: the whole pyramid ends at a handful of nodes.
        let first_level = |i: usize| {
            let levels = made[i].levels.iter().take(1).cloned().collect();
            let pyramid = Pyramid { levels, ..made[i].clone() };
            quality(&graphs[i], &pyramid, params.k, true)
        };
        let top = |i: usize| {
            made[i].levels.last().map_or(made[i].num_nodes, |level| level.graph.num_nodes()) as f64
        };
        Row {
            graphs: members.len(),
            nodes: mean(&|i| graphs[i].num_nodes() as f64),
            levels: mean(&|i| made[i].levels.len() as f64),
            top: mean(&top),
            eigenvalue: mean(&|i| first_level(i).eigenvalues.get(1).copied().unwrap_or(0.0)),
            epsilon: mean(&|i| first_level(i).epsilon.unwrap_or(0.0)),
            class,
        }
    };
    classes.into_iter().map(row).collect()
}
