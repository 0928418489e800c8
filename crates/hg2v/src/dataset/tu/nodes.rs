//! Which nodes make up which graph, and the edges between them.

use super::columns::{at_most, ids_of};
use super::faults::Faults;
use super::files::Held;
use crate::dataset::Limits;
use crate::dataset::text::{lines, unsigned};
use crate::error::{Error, Limit, Place, Problem, Result, shown};
use crate::graph::Scalar;
use crate::group::Groups;

/// The nodes of a set.
pub(super) struct Nodes {
    /// The graph of each node, in file order.
    graph_of: Vec<u32>,
    /// Graph `g` has the positions `starts[g]..starts[g + 1]` of the node columns.
    pub(super) starts: Vec<usize>,
    /// The node of the file at each position; `None` where graphs are contiguous,
    /// so that positions are file order.
    order: Option<Vec<u32>>,
    /// The position of each node of the file; `None` likewise.
    position: Option<Vec<u32>>,
}

impl Nodes {
    /// Reads the indicator; `declared` graphs are known from another file.
    pub(super) fn read(
        held: &Held,
        declared: Option<usize>,
        limits: &Limits,
        faults: &mut Faults,
    ) -> Result<Nodes> {
        const FIX: &str = "each line is the number of the graph its node belongs to, from 1";
        let bad =
            |number, problem: String| Error::input(&held.path, Place::Line(number), problem, FIX);
        let mut graph_of = Vec::new();
        let mut last = 0;
        let mut contiguous = true;
        let (mut highest, mut highest_line) = (0, 0);
        for (number, line) in lines(&held.bytes) {
            let graph = unsigned(line).filter(|&graph| graph > 0).ok_or_else(|| {
                let spelled = shown(&String::from_utf8_lossy(line));
                bad(number, format!("{spelled} is no number of a graph"))
            })?;
            if graph > highest {
                (highest, highest_line) = (graph, number);
            }
            contiguous &= graph >= last;
            last = graph;
            // Too high a number is cut here and refused below.
            graph_of.push(u32::try_from(graph - 1).unwrap_or(u32::MAX));
        }
        // Where no other file counts the graphs, numbers may skip some that have
        // no nodes, but one short line must not make a billion of them.
        let most = declared.unwrap_or(2 * graph_of.len() + 1000);
        let most = most.min(u32::MAX as usize - 1);
        if highest > most as u64 || graph_of.len() >= u32::MAX as usize {
            let why = match declared {
                Some(_) => format!("the other files have lines for {most} graphs only"),
                None => format!("{} nodes are too few for so many graphs", graph_of.len()),
            };
            return Err(bad(highest_line, format!("graph `{highest}`: {why}")));
        }
        let num_graphs = declared.unwrap_or(highest as usize);
        let Groups { starts, order } = Groups::new(num_graphs, &graph_of);
        for (graph, nodes) in starts.windows(2).map(|w| w[1] - w[0]).enumerate() {
            if nodes as u64 > limits.max_nodes {
                let problem = Problem::Beyond {
                    limit: Limit::Nodes,
                    found: Some(nodes as u64),
                    allowed: limits.max_nodes,
                    what: format!("graph {} has {nodes} nodes", graph + 1).into(),
                    fix: None,
                };
                faults.add(graph, problem.at(&held.path, Place::Whole));
            }
        }
        let position = (!contiguous).then(|| {
            let mut position = vec![0; order.len()];
            for (place, &node) in (0..).zip(&order) {
                position[node as usize] = place;
            }
            position
        });
        Ok(Nodes { graph_of, starts, order: (!contiguous).then_some(order), position })
    }

    pub(super) fn len(&self) -> usize {
        self.graph_of.len()
    }

    /// The graph of a node of the file, counted from 0.
    pub(super) fn graph_of(&self, node: usize) -> Option<usize> {
        self.graph_of.get(node).map(|&graph| graph as usize)
    }

    pub(super) fn num_graphs(&self) -> usize {
        self.starts.len() - 1
    }

    /// A column of `width` values a node, from file order to order by graph.
    pub(super) fn arrange<T: Clone>(&self, values: Vec<T>, width: usize) -> Vec<T> {
        match &self.order {
            None => values,
            Some(order) => order
                .iter()
                .flat_map(|&node| &values[node as usize * width..(node as usize + 1) * width])
                .cloned()
                .collect(),
        }
    }

    /// The nodes' own ids: all of a graph's, or none.
    pub(super) fn ids(&self, held: &Held, faults: &mut Faults) -> Result<Vec<Option<Scalar>>> {
        let mut ids = at_most(held, self.len(), "nodes", |held, most| {
            ids_of(held, most, &mut |node, error| faults.add_to(self.graph_of(node), error))
        })?;
        ids.resize(self.len(), None);
        let ids = self.arrange(ids, 1);
        for (graph, range) in self.starts.windows(2).enumerate() {
            let mut given: Vec<_> = ids[range[0]..range[1]].iter().flatten().collect();
            let mut bad = |problem: String, fix| {
                let problem = format!("graph {}: {problem}", graph + 1);
                faults.add(graph, Error::input(&held.path, Place::Whole, problem, fix));
            };
            if !given.is_empty() && given.len() != range[1] - range[0] {
                bad(
                    "some nodes have an id and some have none".to_owned(),
                    "give every node of a graph an id, or none",
                );
            }
            given.sort_unstable();
            if let Some(pair) = given.windows(2).find(|pair| pair[0] == pair[1]) {
                bad(
                    format!("two nodes have the id {}", shown(&pair[0].to_string())),
                    "give every node of a graph an id of its own",
                );
            }
        }
        Ok(ids)
    }

    /// Reads `A`: both ends of each line as positions, and the line's graph. In the place of a bad
    /// line stands a self-loop.
    pub(super) fn edges(
        &self,
        held: &Held,
        faults: &mut Faults,
    ) -> Result<(Vec<[u32; 2]>, Vec<u32>)> {
        let mut edges = Vec::new();
        let mut graph_of = Vec::new();
        for (number, line) in lines(&held.bytes) {
            let ends = two(line).map(|(u, v)| (self.node(u), self.node(v)));
            let [u, mut v] = match ends {
                Some((Some(u), Some(v))) => [u, v],
                // The end that is a node says whose edge it is.
                Some((Some(known), None) | (None, Some(known))) => {
                    let error = self.bad_edge(held, number, line);
                    faults.add_to(self.graph_of(known as usize), error)?;
                    [known, known]
                }
                _ => return Err(self.bad_edge(held, number, line)),
            };
            let graph = self.graph_of[u as usize];
            let other = self.graph_of[v as usize];
            if graph != other {
                for spoiled in [graph, other] {
                    let line = shown(&String::from_utf8_lossy(line));
                    let problem = format!(
                        "the edge {line} joins a node of graph {} and one of graph {}",
                        graph + 1,
                        other + 1
                    );
                    let fix = "an edge stays inside one graph: check the indicator";
                    let error = Error::input(&held.path, Place::Line(number), problem, fix);
                    faults.add(spoiled as usize, error);
                }
                v = u;
            }
            if edges.len() >= u32::MAX as usize {
                return Err(Error::input(
                    &held.path,
                    Place::Line(number),
                    "there are too many lines to number",
                    "split the set, or convert it to another format",
                ));
            }
            edges.push(match &self.position {
                None => [u, v],
                Some(position) => [position[u as usize], position[v as usize]],
            });
            graph_of.push(graph);
        }
        Ok((edges, graph_of))
    }

    /// The node that `id` names, from 0.
    fn node(&self, id: &[u8]) -> Option<u32> {
        let node = unsigned(id)?.checked_sub(1)?;
        (node < self.len() as u64).then_some(node as u32)
    }

    #[cold]
    fn bad_edge(&self, held: &Held, number: u64, line: &[u8]) -> Error {
        let text = |bytes| shown(&String::from_utf8_lossy(bytes));
        let problem = match two(line) {
            None => format!("{} is not two node ids", text(line)),
            Some((u, v)) => {
                let bad = if self.node(u).is_none() { u } else { v };
                format!("{} is not a node of this set", text(bad))
            }
        };
        let fix = match self.len() {
            0 => "the indicator lists no nodes, so there can be no edges".to_owned(),
            n => format!("a line is `u, v`, and the indicator lists the nodes 1 to {n}"),
        };
        Error::input(&held.path, Place::Line(number), problem, fix)
    }
}

/// The two words of a line, separated by a comma, blanks, or both.
fn two(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = line.iter().position(|&b| b == b',' || b.is_ascii_whitespace())?;
    let (first, rest) = line.split_at(end);
    let rest = rest.trim_ascii_start();
    let second = rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start();
    let more = second.iter().any(|&b| b == b',' || b.is_ascii_whitespace());
    (!first.is_empty() && !second.is_empty() && !more).then_some((first, second))
}
