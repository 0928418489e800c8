//! How many nodes a graph has, where several parts of a record say so.

use super::Limits;
use crate::error::{Limit, Problem, shown};
use crate::graph::Scalar;

use super::fault::Fault;

/// The number of nodes, agreed on by every part of a record that implies one
/// (a count, names, attributes, labels), and within the limits.
pub(crate) struct NodeCount {
    most: u64,
    said: Option<(u64, &'static str)>,
}

impl NodeCount {
    pub(crate) fn within(limits: &Limits) -> NodeCount {
        NodeCount {
            // Nodes are numbered in 32 bits, whatever the caller allows.
            most: limits.max_nodes.min(u64::from(u32::MAX)),
            said: None,
        }
    }

    /// `part` of the record implies `count` nodes.
    pub(crate) fn says(&mut self, part: &'static str, count: u64) -> Result<(), Fault> {
        match self.said {
            Some((other, before)) if other != count => Err(Fault::new(
                format!("`{part}` stands for {count} nodes, but `{before}` for {other}"),
                "give one entry a node in each of them",
            )),
            _ if count > self.most => {
                Err(self.too_many(count, format!("`{part}` says {count} nodes")))
            }
            _ => {
                self.said = Some((count, part));
                Ok(())
            }
        }
    }

    /// The position that edge number `edge`, listed under `part`, names: below
    /// the count where one was said, else anything within the limits.
    pub(crate) fn position(&self, part: &str, edge: usize, node: i64) -> Result<u32, Fault> {
        let outside = |why: String, fix: &'static str| {
            let name = shown(&node.to_string());
            Fault::new(format!("`{part}[{edge}]` names node {name}, {why}"), fix)
        };
        let Ok(position) = u64::try_from(node) else {
            return Err(outside(
                "which is negative".to_owned(),
                "count nodes from 0, or name them in `nodes`",
            ));
        };
        match self.said {
            Some((count, before)) if position >= count => Err(outside(
                format!("but `{before}` stands for {count} nodes, counted from 0"),
                "correct the edge, or add the missing nodes",
            )),
            _ if position >= self.most => {
                let (name, nodes) = (shown(&node.to_string()), position.saturating_add(1));
                let claim = format!(
                    "`{part}[{edge}]` names node {name}, which makes a graph of {nodes} nodes"
                );
                Err(self.too_many(nodes, claim))
            }
            // Below `most`, which fits in 32 bits.
            _ => Ok(position as u32),
        }
    }

    /// The number of nodes: as said, else one more than the highest in `edges`.
    pub(crate) fn settle(&self, edges: &[[u32; 2]]) -> u32 {
        match self.said {
            // Within `most`, which fits in 32 bits.
            Some((count, _)) => count as u32,
            None => edges.iter().flatten().max().map_or(0, |&highest| highest + 1),
        }
    }

    fn too_many(&self, found: u64, claim: String) -> Fault {
        let problem = Problem::Beyond {
            limit: Limit::Nodes,
            found: Some(found),
            allowed: self.most,
            what: claim.into(),
            fix: Some("name nodes that are not counted from 0 in `nodes`"),
        };
        problem.into()
    }
}

/// Checks that `part` has one entry for each of `expected` things.
pub(crate) fn same_length(
    part: &str,
    length: usize,
    expected: usize,
    what: &str,
) -> Result<(), Fault> {
    if length == expected {
        return Ok(());
    }
    Err(Fault::new(
        format!("`{part}` has {length} entries, but the graph has {expected} {what}"),
        format!("give `{part}` one entry for each of the {what}, or leave it out"),
    ))
}

/// Whether names are the plain positions `0, 1, 2, …`, which records leave out.
pub(crate) fn are_positions<'a>(names: impl IntoIterator<Item = &'a Scalar>) -> bool {
    (0i64..).zip(names).all(|(position, name)| matches!(name, Scalar::Int(int) if *int == position))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;

    fn count() -> NodeCount {
        NodeCount::within(&Limits { max_nodes: 10, ..Limits::default() })
    }

    fn said(fault: Fault) -> String {
        fault.at("file".as_ref(), Place::Whole).to_string()
    }

    #[test]
    fn parts_must_agree_and_stay_within_the_limit() {
        let mut count = count();
        count.says("x", 4).unwrap();
        count.says("node_labels", 4).unwrap();
        let fault = count.says("n", 5).unwrap_err();
        assert!(said(fault).contains("`n` stands for 5 nodes, but `node_labels` for 4"));
        assert_eq!(count.position("edges", 0, 3).unwrap(), 3);
        assert!(count.position("edges", 0, 4).is_err());
        assert_eq!(count.settle(&[[0, 1]]), 4);
    }

    #[test]
    fn edges_alone_count_up_to_the_limit() {
        let count = count();
        assert_eq!(count.position("edges", 0, 9).unwrap(), 9);
        assert!(said(count.position("edges", 7, 10).unwrap_err()).contains("`edges[7]`"));
        assert!(count.position("edges", 0, i64::MAX).is_err());
        assert!(count.position("edges", 0, -1).is_err());
        assert_eq!(count.settle(&[[0, 2], [1, 1]]), 3);
        assert_eq!(count.settle(&[]), 0);
    }

    #[test]
    fn only_integers_in_order_are_positions() {
        assert!(are_positions(&[]));
        assert!(are_positions(&[0.into(), 1.into()]));
        assert!(!are_positions(&[1.into(), 2.into()]));
        assert!(!are_positions(&["0".into(), "1".into()]));
        assert!(!are_positions(&[Scalar::Float(0.0)]));
    }
}
