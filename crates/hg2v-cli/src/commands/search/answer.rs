//! A graph, those nearest to it, and why: for people and for programs.

use hg2v::graph::Scalar;
use hg2v::shares::VectorPart;
use hg2v::vocabulary::Named;
use hg2v_search::Neighbor;
use hg2v_search::explain::Explanation;
use serde_json::{Value, json};

use super::distance;
use super::set::Set;
use crate::table::{Table, label};

/// A graph and those nearest to it.
pub(super) struct Answer {
    pub(super) id: Scalar,
    pub(super) label: Option<Scalar>,
    pub(super) near: Vec<Neighbor>,
    /// Of each neighbour, where that was asked for.
    pub(super) why: Vec<Explanation>,
}

impl Answer {
    pub(super) fn new(id: Scalar, near: Vec<Neighbor>) -> Answer {
        Answer { id, label: None, near, why: Vec::new() }
    }

    pub(super) fn lines(&self, set: &Set) -> Vec<String> {
        let class = self.label.as_ref().map(|class| format!(", class {}", label(class)));
        let mut table = Table::new(3);
        table.row(["", "graph", "class", "distance"]);
        for (rank, neighbor) in self.near.iter().enumerate() {
            let cells = [set.name(neighbor), set.class(neighbor), distance(neighbor.distance)];
            table.row([vec![(rank + 1).to_string()], cells.to_vec()].concat());
        }
        let mut lines = vec![format!("{}{}", label(&self.id), class.unwrap_or_default())];
        lines.extend(table.lines());
        for (neighbor, why) in self.near.iter().zip(&self.why) {
            lines.extend(explained(&set.name(neighbor), why));
        }
        lines
    }

    pub(super) fn json(&self, set: &Set) -> Value {
        let neighbor = |(i, neighbor): (usize, &Neighbor)| {
            let mut value = set.neighbor_json(neighbor);
            if let Some(why) = self.why.get(i) {
                value["explanation"] = json!(why);
            }
            value
        };
        let neighbors: Vec<Value> = self.near.iter().enumerate().map(neighbor).collect();
        json!({ "id": self.id, "y": self.label, "neighbors": neighbors })
    }
}

/// Nodes that are named in an explanation.
const NODES: usize = 5;

fn explained(name: &str, why: &Explanation) -> Vec<String> {
    let mut lines = vec![String::new(), format!("why {name}: {:.6} in all", why.similarity)];
    let mut table = Table::new(2);
    table.row(["level", "of", "adds"]);
    for part in &why.parts {
        let (at, of) = match part.part {
            VectorPart::Network { level, local, readout } => {
                let of = if local { "neighbourhoods" } else { "nodes" };
                (level.to_string(), format!("{} of {of}", readout.word()))
            }
            VectorPart::Slices { hops } => (format!("{hops} hops"), "slices".to_owned()),
            VectorPart::Census => ("labels".to_owned(), "census".to_owned()),
            VectorPart::Colours { round } => (format!("round {round}"), "colours".to_owned()),
            // Euclidean distances do not see what is taken off both vectors.
            _ if part.share == 0.0 => continue,
            VectorPart::SlicesMean => ("mean".to_owned(), "slices".to_owned()),
            VectorPart::CensusMean => ("mean".to_owned(), "census".to_owned()),
            VectorPart::ColoursMean => ("mean".to_owned(), "colours".to_owned()),
            _ => ("mean".to_owned(), "vectors".to_owned()),
        };
        table.row([at, of, format!("{:.6}", part.share)]);
    }
    lines.extend(table.lines());
    for (side, nodes, rest) in [("it", &why.first, why.rest[0]), (name, &why.second, why.rest[1])] {
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by(|&a, &b| nodes[b].abs().total_cmp(&nodes[a].abs()).then(a.cmp(&b)));
        let most = order.iter().take(NODES).map(|&node| format!("{node} ({:+.6})", nodes[node]));
        let most: Vec<String> = most.collect();
        lines.push(format!(
            "nodes of {side} that count most: {}; no node: {rest:+.6}",
            most.join(", ")
        ));
    }
    lines
}
