//! A graph as its file says it: nothing cleaned, nothing dropped.

use serde::{Deserialize, Serialize};

use super::Scalar;
use crate::error::GraphName;

/// One graph as it stands in a file, with everything the file says about it.
///
/// Readers produce records and writers consume them, so that converting between
/// formats loses nothing. Algorithms work on [`Graph`](super::Graph), which
/// [`Graph::from_record`](super::Graph::from_record) builds under a stated policy.
///
/// Nodes are numbered `0..num_nodes` in file order; `node_ids` keeps the names
/// the file gave them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphRecord {
    /// The graph's own name, where it has one.
    pub id: Option<Scalar>,
    /// The graph's class or number to predict, `y`, where the file has just one.
    pub label: Option<Scalar>,
    /// The classes or numbers to predict, where the file has several of them by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// How many nodes; never inferred from the edges where the file says it.
    pub num_nodes: u32,
    /// The nodes' names, one a node; `None` when they are `0..num_nodes`.
    pub node_ids: Option<Vec<Scalar>>,
    /// Each edge once, as listed: both ends below `num_nodes`.
    pub edges: Vec<[u32; 2]>,
    /// One finite weight an edge; `None` when the file gives none.
    pub weights: Option<Vec<f64>>,
    /// One label an edge.
    pub edge_labels: Option<Vec<Scalar>>,
    /// Continuous edge attributes, `edge_x`: a row an edge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge_features: Option<Features>,
    /// One label a node.
    pub node_labels: Option<Vec<Scalar>>,
    /// Continuous node attributes, `x`.
    pub features: Option<Features>,
    /// The file calls this graph directed.
    pub directed: bool,
    /// Repeats the reader folded because its format lists an undirected edge
    /// more than once by convention (TU: `u, v` and `v, u`), beyond that convention.
    pub folded_repeats: u64,
}

/// A row of finite numbers for each node, or for each edge, row-major.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Features {
    /// Numbers a row.
    pub dim: usize,
    /// A row for each node or edge, one after the other.
    pub values: Vec<f64>,
}

impl Features {
    /// The attributes of a node or an edge.
    pub fn row(&self, place: usize) -> &[f64] {
        &self.values[place * self.dim..(place + 1) * self.dim]
    }
}

/// One of several classes or numbers to predict.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// What it is called; its position from 0 where the file has a list without names.
    pub name: String,
    /// Its value, where it is known.
    pub value: Option<Scalar>,
}

impl GraphRecord {
    /// What its vector is called: its id, or its position from 0 where it has none.
    pub fn id_at(&self, position: u64) -> Scalar {
        self.id.clone().unwrap_or(Scalar::Int(position as i64))
    }

    /// Whether it holds together, as all do that readers make: ends are nodes, a label for each
    /// node, a weight for each edge, numbers that are finite.
    ///
    /// # Errors
    /// What does not, as the rest of a sentence: "has 3 weights for 4 edges".
    pub fn check(&self) -> Result<(), String> {
        let (nodes, edges) = (self.num_nodes as usize, self.edges.len());
        if let Some(edge) = self.edges.iter().position(|e| e.iter().any(|&v| v >= self.num_nodes)) {
            let [u, v] = self.edges[edge];
            return Err(format!(
                "has {nodes} nodes, but an edge between nodes {u} and {v} (from 0)"
            ));
        }
        let of = |part: Option<usize>, what: &str, expected: usize, each: &str| match part {
            Some(len) if len != expected => Err(format!("has {len} {what} for {expected} {each}")),
            _ => Ok(()),
        };
        of(self.node_ids.as_ref().map(Vec::len), "names", nodes, "nodes")?;
        of(self.node_labels.as_ref().map(Vec::len), "labels", nodes, "nodes")?;
        of(self.edge_labels.as_ref().map(Vec::len), "labels", edges, "edges")?;
        of(self.weights.as_ref().map(Vec::len), "weights", edges, "edges")?;
        let attributes = [(&self.features, nodes), (&self.edge_features, edges)];
        for (features, rows) in attributes {
            let expected = features.as_ref().map_or(0, |found| rows.saturating_mul(found.dim));
            let found = features.as_ref().map(|found| found.values.len());
            of(found, "attributes", expected, "places")?;
        }
        let attributes = attributes.into_iter().filter_map(|(features, _)| features.as_ref());
        let numbers = self.weights.iter().flatten();
        let numbers = numbers.chain(attributes.flat_map(|features| &features.values));
        match numbers.into_iter().find(|number| !number.is_finite()) {
            Some(number) => Err(format!("has {number} where a finite number must be")),
            None => Ok(()),
        }
    }

    /// What to call this graph in a message, whatever its id holds: its id, or its position from 0.
    pub fn name(&self, position: u64) -> GraphName {
        let id = self.id.as_ref().map(ToString::to_string);
        GraphName { position: Some(position), id }
    }
}
