//! The TU-Dortmund text layout: a folder (or a zip of it) with one file a column.
//!
//! | file | a line for each | holds |
//! |---|---|---|
//! | `NAME_A.txt` | edge and direction | `u, v`: ids of nodes, from 1 over the whole set |
//! | `NAME_graph_indicator.txt` | node | its graph, from 1 |
//! | `NAME_graph_labels.txt` | graph | `y` |
//! | `NAME_node_labels.txt` | node | a label |
//! | `NAME_node_attributes.txt` | node | numbers |
//! | `NAME_edge_labels.txt` | line of `A` | a label |
//! | `NAME_edge_attributes.txt` | line of `A` | a weight; several numbers: attributes |
//! | `NAME_graph_attributes.txt` | graph | targets, called by their positions from 0; `nan` or nothing between commas: not known. A single one is `y` where there are no `graph_labels` |
//!
//! The last six are optional. NAME is whatever stands before
//! `_graph_indicator.txt`. Numbers are separated by commas, blanks, or both. A
//! label is the whole line: several columns, as a few sets have, are one label,
//! the text `3, 0`. A graph whose number the indicator skips has no nodes.
//!
//! An undirected edge stands on two lines, `u, v` and `v, u`; a record holds it
//! once, where and as it stood first. More lines for the same edge are folded
//! and counted in [`folded_repeats`](crate::graph::GraphRecord::folded_repeats);
//! the first line's label, weight and attributes hold, which is said where they differ.
//!
//! # What other tools do not know
//! So that nothing is lost, the writer adds files where a collection needs them:
//!
//! | file | a line for each | holds |
//! |---|---|---|
//! | `NAME_graph_ids.txt` | graph | its id; empty: none |
//! | `NAME_node_ids.txt` | node | its id; empty through a graph: `0..n` |
//! | `NAME_edge_lines.txt` | graph | how its edges are listed |
//! | `NAME_edge_weights.txt` | line of `A` | a weight; without lines: none. `edge_attributes` are attributes, however few |
//! | `NAME_target_names.txt` | column of `graph_attributes` | what the target is called |
//!
//! An edge list is `both` (as above: nothing is said where all are), `pairs` (an
//! undirected graph with parallel edges: `u, v` then `v, u` is one edge, and
//! repeats are edges of their own; a self-loop is one line), or `directed`
//! (every line is an edge). Text that could be taken for a number, or that would
//! not stay on its line, is written as a JSON string. What a graph has nothing to
//! hang on (labels without nodes, weights without edges) reads as absent.

mod columns;
mod faults;
mod files;
mod fold;
mod nodes;
mod reader;
mod targets;
mod writer;

pub use reader::read;
pub use writer::write;

/// The ends of the files' names, after `NAME_`.
mod suffix {
    pub(super) const A: &str = "A.txt";
    pub(super) const GRAPH_INDICATOR: &str = "graph_indicator.txt";
    pub(super) const GRAPH_LABELS: &str = "graph_labels.txt";
    pub(super) const GRAPH_ATTRIBUTES: &str = "graph_attributes.txt";
    pub(super) const NODE_LABELS: &str = "node_labels.txt";
    pub(super) const NODE_ATTRIBUTES: &str = "node_attributes.txt";
    pub(super) const EDGE_LABELS: &str = "edge_labels.txt";
    pub(super) const EDGE_ATTRIBUTES: &str = "edge_attributes.txt";
    pub(super) const GRAPH_IDS: &str = "graph_ids.txt";
    pub(super) const NODE_IDS: &str = "node_ids.txt";
    pub(super) const EDGE_LINES: &str = "edge_lines.txt";
    pub(super) const EDGE_WEIGHTS: &str = "edge_weights.txt";
    pub(super) const TARGET_NAMES: &str = "target_names.txt";

    /// The files that are read.
    pub(super) const ALL: [&str; 13] = [
        A,
        GRAPH_INDICATOR,
        GRAPH_LABELS,
        GRAPH_ATTRIBUTES,
        NODE_LABELS,
        NODE_ATTRIBUTES,
        EDGE_LABELS,
        EDGE_ATTRIBUTES,
        GRAPH_IDS,
        NODE_IDS,
        EDGE_LINES,
        EDGE_WEIGHTS,
        TARGET_NAMES,
    ];
}

/// How the lines of `A` list a graph's edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listing {
    /// An undirected edge on a line for each direction; repeats mean nothing.
    Both,
    /// An undirected edge on two consecutive lines; repeats are parallel edges.
    Pairs,
    /// A directed edge on each line.
    Directed,
}

impl Listing {
    const ALL: [Listing; 3] = [Listing::Both, Listing::Pairs, Listing::Directed];

    fn word(self) -> &'static str {
        match self {
            Listing::Both => "both",
            Listing::Pairs => "pairs",
            Listing::Directed => "directed",
        }
    }
}
