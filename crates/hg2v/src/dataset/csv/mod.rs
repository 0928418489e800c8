//! A folder of CSV tables: `edges.csv`, and perhaps `nodes.csv` and `graphs.csv`.
//!
//! Each has a header; columns come in any order, and where two names are given
//! either will do.
//!
//! | file | column | holds |
//! |---|---|---|
//! | `edges.csv` | `graph`, `graph_id` | the graph; left out, the folder is one graph |
//! | | `src`, `source`, `u`; `dst`, `target`, `v` | the ends |
//! | | `weight`?, `label`? | a finite number; a label |
//! | | `id`, `edge`, `edge_id`, `key`, `type`? | nothing |
//! | | any other that begins with a number | a finite number; together, in order, the edge's attributes |
//! | `nodes.csv` | `graph`, `graph_id` | the graph |
//! | | `node`, `id` | the node's id |
//! | | `label`? | a label |
//! | | any other | a finite number; together, in order, the node's attributes |
//! | `graphs.csv` | `graph`, `graph_id`, `id` | the graph |
//! | | `id`? (beside `graph`) | the id the graph goes by; empty: none |
//! | | `y`, `label`? | the graph's label |
//! | | `y.NAME`? | one of several targets; empty or `nan`: not known |
//! | | `directed`? | `true` or `false` |
//!
//! With `nodes.csv` the nodes are those it lists, in its order. Without it they
//! are those the edges name: `0..n` where the ids are just these, else in order of
//! first appearance. `graphs.csv` likewise lists the graphs, some perhaps without
//! nodes. An empty cell is an absent value, and what one node (or edge) of a graph
//! has, all have; trailing attributes may be absent through a graph.
//!
//! A cell is an integer where it prints as one, `true` or `false`, a number, a
//! JSON string (`"7"` is the text 7, not the number), or else the text itself.
//!
//! The writer numbers the graphs from 0 in the columns `graph` and keeps their own
//! ids in the column `id` of `graphs.csv`, so that missing and repeated ids
//! survive. What a graph has nothing to hang on (labels without nodes, weights
//! without edges) reads as absent.

mod attributes;
mod graphs;
mod reader;
pub(crate) mod row;
pub(crate) mod table;
mod writer;

pub use reader::read;
pub use writer::write;
