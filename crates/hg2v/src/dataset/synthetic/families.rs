//! Families that are the same every time: path, cycle, star, wheel, ladder,
//! tree, grid, complete.
//!
//! Nodes are numbered as networkx numbers them (`cycle_graph`, `wheel_graph`,
//! `ladder_graph`, `full_rary_tree`, …).

use hg2v_math::rng::ChaCha8Rng;

use super::{Model, at_least, plain, room_for_edges};
use crate::error::{Error, Result};
use crate::graph::GraphRecord;

/// A family with its size. The wheel's hub and the star's centre are node 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `0 – 1 – … – n−1`.
    Path {
        /// How many nodes.
        nodes: u32,
    },
    /// A path whose ends meet.
    Cycle {
        /// How many nodes, at least 3.
        nodes: u32,
    },
    /// Node 0 joined to every other.
    Star {
        /// How many nodes, the centre included.
        nodes: u32,
    },
    /// A star whose leaves form a cycle.
    Wheel {
        /// How many nodes, the hub included; at least 4.
        nodes: u32,
    },
    /// Two paths `0..n/2` and `n/2..n`, joined rung by rung.
    Ladder {
        /// How many nodes; even.
        nodes: u32,
    },
    /// The children of node i are `b·i + 1 … b·i + b`.
    Tree {
        /// How many nodes.
        nodes: u32,
        /// Children a node, b.
        branching: u32,
    },
    /// Rows and columns; node `row · columns + column`.
    Grid {
        /// How many rows.
        rows: u32,
        /// How many columns.
        columns: u32,
    },
    /// Every pair joined.
    Complete {
        /// How many nodes.
        nodes: u32,
    },
}

impl Family {
    /// The edges, each once.
    fn edges(&self) -> Vec<[u32; 2]> {
        match *self {
            Family::Path { nodes } => path(0, nodes).collect(),
            Family::Cycle { nodes } => cycle(0, nodes).collect(),
            Family::Star { nodes } => star(nodes).collect(),
            Family::Wheel { nodes } => star(nodes).chain(cycle(1, nodes)).collect(),
            Family::Ladder { nodes } => {
                let half = nodes / 2;
                let rungs = (0..half).map(|node| [node, node + half]);
                path(0, half).chain(path(half, nodes)).chain(rungs).collect()
            }
            Family::Tree { nodes, branching } => {
                (1..nodes).map(|child| [(child - 1) / branching, child]).collect()
            }
            Family::Grid { rows, columns } => (0..rows * columns)
                .flat_map(|node| {
                    let right = (node % columns + 1 < columns).then_some([node, node + 1]);
                    let down = (node / columns + 1 < rows).then_some([node, node + columns]);
                    right.into_iter().chain(down)
                })
                .collect(),
            Family::Complete { nodes } => {
                (0..nodes).flat_map(|u| (u + 1..nodes).map(move |v| [u, v])).collect()
            }
        }
    }
}

/// The path over `first..end`.
fn path(first: u32, end: u32) -> impl Iterator<Item = [u32; 2]> {
    (first + 1..end).map(|node| [node - 1, node])
}

/// The cycle over `first..end`.
fn cycle(first: u32, end: u32) -> impl Iterator<Item = [u32; 2]> {
    path(first, end).chain([[end - 1, first]])
}

/// Node 0 joined to `1..end`.
fn star(end: u32) -> impl Iterator<Item = [u32; 2]> {
    (1..end).map(|node| [0, node])
}

impl Model for Family {
    fn name(&self) -> &'static str {
        match self {
            Family::Path { .. } => "path",
            Family::Cycle { .. } => "cycle",
            Family::Star { .. } => "star",
            Family::Wheel { .. } => "wheel",
            Family::Ladder { .. } => "ladder",
            Family::Tree { .. } => "tree",
            Family::Grid { .. } => "grid",
            Family::Complete { .. } => "complete",
        }
    }

    fn check(&self) -> Result<()> {
        match *self {
            Family::Path { nodes } | Family::Star { nodes } => at_least("nodes", nodes, 1),
            Family::Cycle { nodes } => at_least("nodes", nodes, 3),
            Family::Wheel { nodes } => at_least("nodes", nodes, 4),
            Family::Ladder { nodes } => {
                at_least("nodes", nodes, 2)?;
                if nodes % 2 == 1 {
                    return Err(Error::parameter(
                        "nodes",
                        nodes,
                        "a ladder has two nodes a rung: it must be even",
                    ));
                }
                Ok(())
            }
            Family::Tree { nodes, branching } => {
                at_least("nodes", nodes, 1)?;
                at_least("branching", branching, 1)
            }
            Family::Grid { rows, columns } => {
                at_least("rows", rows, 1)?;
                at_least("columns", columns, 1)?;
                room_for_edges("rows", rows, 2.0 * f64::from(rows) * f64::from(columns))
            }
            Family::Complete { nodes } => {
                at_least("nodes", nodes, 1)?;
                room_for_edges("nodes", nodes, f64::from(nodes).powi(2) / 2.0)
            }
        }
    }

    fn num_nodes(&self) -> u64 {
        match *self {
            Family::Path { nodes }
            | Family::Cycle { nodes }
            | Family::Star { nodes }
            | Family::Wheel { nodes }
            | Family::Ladder { nodes }
            | Family::Tree { nodes, .. }
            | Family::Complete { nodes } => u64::from(nodes),
            Family::Grid { rows, columns } => u64::from(rows) * u64::from(columns),
        }
    }

    fn graph(&self, _index: u64, _rng: &mut ChaCha8Rng) -> GraphRecord {
        plain(self.num_nodes() as u32, self.edges())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_members_are_known() {
        // networkx: sorted(nx.wheel_graph(5).edges), nx.ladder_graph(3),
        // nx.full_rary_tree(3, 6), nx.cycle_graph(4), nx.grid_2d_graph(2, 3) renumbered.
        let known: [(Family, &[[u32; 2]]); 8] = [
            (Family::Path { nodes: 3 }, &[[0, 1], [1, 2]]),
            (Family::Cycle { nodes: 4 }, &[[0, 1], [1, 2], [2, 3], [3, 0]]),
            (Family::Star { nodes: 4 }, &[[0, 1], [0, 2], [0, 3]]),
            (
                Family::Wheel { nodes: 5 },
                &[[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [2, 3], [3, 4], [4, 1]],
            ),
            (
                Family::Ladder { nodes: 6 },
                &[[0, 1], [1, 2], [3, 4], [4, 5], [0, 3], [1, 4], [2, 5]],
            ),
            (Family::Tree { nodes: 6, branching: 3 }, &[[0, 1], [0, 2], [0, 3], [1, 4], [1, 5]]),
            (
                Family::Grid { rows: 2, columns: 3 },
                &[[0, 1], [0, 3], [1, 2], [1, 4], [2, 5], [3, 4], [4, 5]],
            ),
            (Family::Complete { nodes: 4 }, &[[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]),
        ];
        for (family, edges) in known {
            family.check().unwrap();
            assert_eq!(family.edges(), edges, "{family:?}");
        }
        assert_eq!(Family::Path { nodes: 1 }.edges(), [[0; 2]; 0]);
        assert_eq!(Family::Star { nodes: 1 }.edges(), [[0; 2]; 0]);
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let refused = [
            Family::Path { nodes: 0 },
            Family::Cycle { nodes: 2 },
            Family::Wheel { nodes: 3 },
            Family::Ladder { nodes: 7 },
            Family::Tree { nodes: 3, branching: 0 },
            Family::Grid { rows: 0, columns: 3 },
            Family::Grid { rows: u32::MAX, columns: u32::MAX },
            Family::Complete { nodes: u32::MAX },
        ];
        for family in refused {
            assert!(family.check().is_err(), "{family:?}");
        }
    }
}
