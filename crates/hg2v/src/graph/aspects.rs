//! What graphs bring beside nodes, edges and weights, and what is made use of.

use serde::{Deserialize, Serialize};

use super::{EdgeChoice, GraphRecord, Usage};

/// What graphs may bring beside nodes, edges and weights: of some graphs, what they bring; of a
/// model, what it sees.
///
/// ```
/// use hg2v::graph::{Aspects, GraphRecord};
/// let graph = GraphRecord { num_nodes: 2, edges: vec![[0, 1]], directed: true, ..Default::default() };
/// let brought = Aspects::of(&graph);
/// assert_eq!(brought.names(), ["direction"]);
/// assert_eq!(brought.without(Aspects::default()).names(), ["direction"]);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Aspects {
    /// Labels of nodes.
    pub node_labels: bool,
    /// Numbers of nodes.
    pub node_attributes: bool,
    /// Labels of edges: of which kind they are.
    pub edge_labels: bool,
    /// Numbers of edges.
    pub edge_attributes: bool,
    /// Which way edges go.
    pub direction: bool,
}

impl Aspects {
    /// What a graph brings. Without edges, there is nothing that they could bring.
    pub fn of(record: &GraphRecord) -> Aspects {
        let (nodes, edges) = (record.num_nodes > 0, !record.edges.is_empty());
        let features = record.features.as_ref();
        let edge_features = record.edge_features.as_ref();
        Aspects {
            node_labels: nodes && record.node_labels.is_some(),
            node_attributes: nodes && features.is_some_and(|features| features.dim > 0),
            edge_labels: edges && record.edge_labels.is_some(),
            edge_attributes: edges && edge_features.is_some_and(|features| features.dim > 0),
            direction: edges && record.directed,
        }
    }

    /// Adds what `other` has.
    pub fn add(&mut self, other: Aspects) {
        *self = self.with(other, |own, other| own | other);
    }

    /// What both have.
    #[must_use]
    pub fn and(self, other: Aspects) -> Aspects {
        self.with(other, |own, other| own & other)
    }

    /// What `other` does not have.
    #[must_use]
    pub fn without(self, other: Aspects) -> Aspects {
        self.with(other, |own, other| own & !other)
    }

    /// What is there, by the names of the fields.
    pub fn names(self) -> Vec<&'static str> {
        let names =
            ["node_labels", "node_attributes", "edge_labels", "edge_attributes", "direction"];
        names
            .into_iter()
            .zip(self.all())
            .filter_map(|(name, there)| there.then_some(name))
            .collect()
    }

    fn all(self) -> [bool; 5] {
        let Aspects { node_labels, node_attributes, edge_labels, edge_attributes, direction } =
            self;
        [node_labels, node_attributes, edge_labels, edge_attributes, direction]
    }

    fn with(self, other: Aspects, each: impl Fn(bool, bool) -> bool) -> Aspects {
        Aspects {
            node_labels: each(self.node_labels, other.node_labels),
            node_attributes: each(self.node_attributes, other.node_attributes),
            edge_labels: each(self.edge_labels, other.edge_labels),
            edge_attributes: each(self.edge_attributes, other.edge_attributes),
            direction: each(self.direction, other.direction),
        }
    }
}

impl EdgeChoice {
    /// The same of graphs that bring no more than this: what none brings is ignored.
    #[must_use]
    pub fn of(self, brought: Aspects) -> EdgeChoice {
        let used = |usage, brought| if brought { usage } else { Usage::Ignore };
        EdgeChoice {
            labels: used(self.labels, brought.edge_labels),
            attributes: used(self.attributes, brought.edge_attributes),
            direction: used(self.direction, brought.direction),
        }
    }
}
