//! `hg2v info`: what is in a collection.

use std::path::PathBuf;

use hg2v::dataset::duplicates::Groups;
use hg2v::dataset::summary::{Spread, Summary, TargetSummary, Vocabulary, summarize};
use hg2v::graph::{Findings, Scalar};
use serde_json::json;

use crate::context::Context;
use crate::graphs::{Asks, findings, summary_options, with_flag};
use crate::table::{Table, counted, decimal, grouped, label, percent};
use crate::watch::Watch;
use crate::words::Command;

/// Say what is in a collection: sizes, features, classes, duplicates, problems
///
/// Look-alikes are graphs with the same Weisfeiler–Lehman labels: where their
/// classes differ, no method that sees only structure, labels of nodes and edges and
/// directions, a few hops deep, can get all of them right. Graphs are numbered from 0.
///
/// With --json the result is one object with the keys name, path, format,
/// graphs, nodes, edges, nodes_per_graph, edges_per_graph, degree (each mean,
/// median, min, max), mean_density, empty_graphs, edgeless_graphs, components
/// (total, max, disconnected_graphs), isolated_nodes (nodes, graphs), attributes (dim,
/// graphs), edge_attributes (likewise), node_labels, edge_labels, classes (each distinct,
/// complete, graphs, total, top), targets (each name, graphs, min, max), weights (graphs, min, max), duplicates and wl_equivalent (each
/// groups, graphs, largest, example, mixed_classes, best_accuracy; the latter also
/// rounds), repeated_ids (ids, graphs, example), findings,
/// ignored, features (dim, plan, problem) and skipped; what a collection lacks is null.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v info MUTAG.zip                                 what is in it, and what is odd about it
  hg2v info graphs.jsonl --json | jq .duplicates      one answer of many
  hg2v info lake --no-duplicates                      a folder of Parquet, without the slowest part")]
pub(crate) struct Args {
    /// The collection of graphs
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Do not look for duplicates, which takes most of the time
    #[arg(long)]
    no_duplicates: bool,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let mut source = context.open(&args.data, Asks::Nothing)?;
    let duplicates = !args.no_duplicates;
    let options = summary_options().duplicates(duplicates);
    let watch = Watch::new(context);
    let work = hg2v::context::Context::default().watched_by(&watch);
    let summary = summarize(&mut source, &options, &work)?;
    drop(watch);
    let mut told = serde_json::to_value(&summary)?;
    told["features"]["problem"] = json!(refusal(&summary));
    match context.tell(told)? {
        true => Ok(()),
        false => context.print(page(&summary, context.skipped.count()).join("\n")),
    }
}

/// Labels named in one line, and classes listed in a table, before the rest is counted.
const NAMED_LABELS: usize = 6;
const LISTED_CLASSES: usize = 8;

/// The whole text, a line an item.
fn page(summary: &Summary, skipped: u64) -> Vec<String> {
    let mut lines = vec![
        format!("{}: {}, {}", summary.name, format_in_words(summary.format), summary.path),
        String::new(),
    ];
    lines.extend(sizes(summary));
    lines.push(String::new());
    lines.extend(facts(summary).lines());
    if let Some(classes) = &summary.classes {
        lines.push(String::new());
        lines.extend(class_table(classes, summary.graphs));
    }
    if let Some(targets) = &summary.targets {
        lines.push(String::new());
        lines.extend(target_table(targets, summary.graphs));
    }
    lines.push(String::new());
    match problems(summary, skipped) {
        problems if problems.is_empty() => lines.push("problems: none".to_owned()),
        problems => {
            lines.push("problems".to_owned());
            lines.extend(problems.iter().map(|problem| format!("  {problem}")));
        }
    }
    if !summary.ignored.is_empty() {
        lines.push("not used".to_owned());
        lines.extend(summary.ignored.iter().map(|what| format!("  {}", with_flag(what))));
    }
    lines
}

fn format_in_words(format: &str) -> &str {
    match format {
        "tu" => "TU folder",
        "tu-zip" => "TU zip",
        "jsonl" => "JSONL",
        "jsonl.gz" => "JSONL, compressed",
        "csv" => "CSV folder",
        "parquet" => "Parquet",
        "graphml" => "GraphML",
        other => other,
    }
}

fn sizes(summary: &Summary) -> Vec<String> {
    let mut table = Table::new(1);
    table.row(["", "total", "mean", "median", "min", "max"]);
    table.row(["graphs".to_owned(), grouped(summary.graphs)]);
    let mut row = |name: &str, total: String, spread: &Option<Spread>| {
        let mut cells = vec![name.to_owned(), total];
        if let Some(spread) = spread {
            cells.extend([
                decimal(spread.mean, 2),
                decimal(spread.median, 1),
                grouped(spread.min),
                grouped(spread.max),
            ]);
        }
        table.row(cells);
    };
    row("nodes", grouped(summary.nodes), &summary.nodes_per_graph);
    row("edges", grouped(summary.edges), &summary.edges_per_graph);
    row("degree", String::new(), &summary.degree);
    table.lines()
}

fn facts(summary: &Summary) -> Table {
    let mut table = Table::new(2);
    let none = || "none".to_owned();
    if let Some(density) = summary.mean_density {
        table.row(["density", &format!("{} on average", decimal(density, 4))]);
    }
    let components = &summary.components;
    let connectivity = match components.disconnected_graphs {
        0 => "no graph has more than one".to_owned(),
        graphs => format!(
            "{} with more than one, {} at most",
            counted(graphs, "graph"),
            grouped(components.max)
        ),
    };
    table.row(["components", &format!("{}; {connectivity}", grouped(components.total))]);
    let isolated = match summary.isolated_nodes.nodes {
        0 => none(),
        nodes => {
            let graphs = counted(summary.isolated_nodes.graphs, "graph");
            format!("{} in {graphs}", counted(nodes, "node"))
        }
    };
    table.row(["isolated", &isolated]);
    // Only a graph that has nodes, or edges, can have something at them.
    let with_nodes = summary.graphs - summary.empty_graphs;
    let with_edges = summary.graphs - summary.edgeless_graphs;
    let attributes = summary.attributes.map_or_else(none, |found| {
        format!("{} a node{}", grouped(found.dim), if_few(found.graphs, with_nodes))
    });
    table.row(["attributes", &attributes]);
    let labels = |found: &Option<Vocabulary>, of: u64| {
        let line = |found: &Vocabulary| labels_in_a_line(found) + &if_few(found.graphs, of);
        found.as_ref().map_or_else(none, line)
    };
    table.row(["node labels", &labels(&summary.node_labels, with_nodes)]);
    table.row(["edge labels", &labels(&summary.edge_labels, with_edges)]);
    let attributes = summary.edge_attributes.map_or_else(none, |found| {
        format!("{} an edge{}", grouped(found.dim), if_few(found.graphs, with_edges))
    });
    table.row(["edge attributes", &attributes]);
    let direction = match summary.findings.directed_graphs {
        0 => none(),
        graphs if graphs == summary.graphs => "all graphs are directed".to_owned(),
        graphs => format!("{} of {}", counted(graphs, "directed graph"), grouped(summary.graphs)),
    };
    table.row(["direction", &direction]);
    let weights = summary.weights.map_or_else(none, |found| {
        let graphs = if_few(found.graphs, with_edges);
        format!("from {} to {}{graphs}", found.min, found.max)
    });
    table.row(["weights", &weights]);
    if summary.features.problem.is_none() {
        table.row(["training uses", &summary.features.plan]);
    }
    if let Some(groups) = &summary.duplicates {
        table.row(["duplicates", &groups_in_words(groups)]);
    }
    if let Some(found) = &summary.wl_equivalent {
        let alike = groups_in_words(&found.groups);
        let alike = format!("{} Weisfeiler–Lehman rounds: {alike}", found.rounds);
        table.row(["look-alikes", &alike]);
        if let Some(best) = found.groups.best_accuracy.filter(|best| *best < 1.0) {
            let bound = format!("at most {} if no numbers are seen", percent(best));
            table.row(["accuracy", &bound]);
        }
    }
    table
}

/// Says in how many graphs something is, when it is not in all that could have it.
fn if_few(graphs: u64, of: u64) -> String {
    match graphs >= of {
        true => String::new(),
        false => format!(", in {} only", counted(graphs, "graph")),
    }
}

fn labels_in_a_line(labels: &Vocabulary) -> String {
    let named = labels.top.iter().take(NAMED_LABELS);
    let named: Vec<String> =
        named.map(|one| format!("{} × {}", label(&one.label), grouped(one.count))).collect();
    let more = if labels.distinct > NAMED_LABELS as u64 { ", …" } else { "" };
    format!("{}: {}{more}", how_many(labels), named.join(", "))
}

fn how_many(labels: &Vocabulary) -> String {
    match labels.complete {
        true => grouped(labels.distinct),
        false => format!("more than {}", grouped(labels.distinct)),
    }
}

fn groups_in_words(groups: &Groups) -> String {
    let Some([first, second]) = groups.example else {
        return "none".to_owned();
    };
    let text = format!(
        "{} graphs in {} of up to {} (such as numbers {first} and {second})",
        grouped(groups.graphs),
        counted(groups.groups, "group"),
        grouped(groups.largest),
    );
    match groups.mixed_classes {
        None | Some(0) => text,
        Some(1) => text + "; 1 group mixes classes",
        Some(mixed) => format!("{text}; {} groups mix classes", grouped(mixed)),
    }
}

fn class_table(classes: &Vocabulary, graphs: u64) -> Vec<String> {
    let mut table = Table::new(1);
    table.row(["class", "graphs", "share"]);
    let share = |count: u64| percent(count as f64 / graphs as f64);
    let listed = classes.top.iter().take(LISTED_CLASSES);
    let mut rest = classes.total;
    for class in listed {
        rest -= class.count;
        table.row([label(&class.label), grouped(class.count), share(class.count)]);
    }
    if rest > 0 {
        let name = format!("… ({} in all)", how_many(classes));
        table.row([name, grouped(rest), share(rest)]);
    }
    let unlabelled = graphs - classes.graphs;
    if unlabelled > 0 {
        table.row(["(none)".to_owned(), grouped(unlabelled), share(unlabelled)]);
    }
    table.lines()
}

/// Targets listed before the rest is counted.
const LISTED_TARGETS: usize = 12;

fn target_table(targets: &[TargetSummary], graphs: u64) -> Vec<String> {
    let mut table = Table::new(1);
    table.row(["target", "graphs", "share", "min", "max"]);
    let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
    for target in targets.iter().take(LISTED_TARGETS) {
        table.row([
            label(&Scalar::from(&*target.name)),
            grouped(target.graphs),
            percent(target.graphs as f64 / graphs as f64),
            number(target.min),
            number(target.max),
        ]);
    }
    if targets.len() > LISTED_TARGETS {
        table.row([format!("… ({} in all)", grouped(targets.len() as u64))]);
    }
    table.lines()
}

/// What a user may want to mend, and what happens if they do not.
fn problems(summary: &Summary, skipped: u64) -> Vec<String> {
    let mut problems = Vec::new();
    if skipped > 0 {
        problems.push(format!("{} that cannot be read: left out", counted(skipped, "graph")));
    }
    if summary.empty_graphs > 0 {
        let graphs = counted(summary.empty_graphs, "graph");
        problems.push(format!("{graphs} without nodes: kept, with nothing to learn from"));
    }
    if let Some(repeated) = &summary.repeated_ids {
        let [first, second] = repeated.example;
        problems.push(format!(
            "{} share {} (such as numbers {first} and {second}): an id should be of one graph",
            counted(repeated.graphs, "graph"),
            counted(repeated.ids, "id"),
        ));
    }
    // Direction is no problem: it is said among what the collection has.
    let odd = Findings { directed_graphs: 0, ..summary.findings };
    problems.extend(findings(&odd, "met: refused unless told otherwise"));
    problems.extend(refusal(summary));
    problems
}

/// Why training would not begin.
fn refusal(summary: &Summary) -> Option<String> {
    summary.features.problem.as_ref().map(|error| error.worded(&Command))
}
