//! The edges of a graph with what they are: their kinds, and which way they go.

use serde::{Deserialize, Serialize};

use super::{Graph, GraphRecord, Scalar};

/// Whether something that graphs bring is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Usage {
    /// Where there is any.
    #[default]
    Use,
    /// As if there were none.
    Ignore,
}

crate::vocabulary! { Usage, "usage":
    Use => "use", "where graphs have it";
    Ignore => "ignore", "as if no graph had it";
}

impl Usage {
    /// Whether it is used.
    pub fn is_used(self) -> bool {
        self == Usage::Use
    }
}

/// What is looked at of edges beside their weights; by default all that graphs bring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EdgeChoice {
    /// Their labels: of which kind they are.
    pub labels: Usage,
    /// Their numbers.
    pub attributes: Usage,
    /// Which way they go, in graphs that are directed.
    pub direction: Usage,
}

hg2v_math::setters!(EdgeChoice { labels: Usage, attributes: Usage, direction: Usage });

impl EdgeChoice {
    /// Nothing but weights, as in the paper.
    pub const NOTHING: EdgeChoice =
        EdgeChoice { labels: Usage::Ignore, attributes: Usage::Ignore, direction: Usage::Ignore };
}

/// Which way an edge goes, seen from one of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Both ways.
    Both,
    /// Away from the node.
    Out,
    /// To the node.
    In,
}

/// An edge, seen from one of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link<'a> {
    /// The other end.
    pub to: u32,
    /// Which way it goes.
    pub way: Way,
    /// Its label.
    pub kind: Option<&'a Scalar>,
    /// Its position among the edges of the record, the first where it is said several times.
    pub edge: usize,
}

/// All edges of a graph at both of their ends.
///
/// # Policy
/// Edges are those of the [`Graph`], under [its policy](Graph#policy), with one difference: edges
/// between the same nodes that differ in kind or direction stay distinct. Those that differ
/// in nothing that is looked at are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links<'a> {
    starts: Vec<usize>,
    links: Vec<Link<'a>>,
}

impl<'a> Links<'a> {
    /// The links of `record`, of which `graph` is the clean graph.
    ///
    /// # Complexity
    /// Time O(m log d) for m edges and largest degree d, memory O(m).
    pub fn of(record: &'a GraphRecord, graph: &Graph, choice: EdgeChoice) -> Links<'a> {
        let (n, directed) = (graph.num_nodes(), choice.direction.is_used() && record.directed);
        let labels = record.edge_labels.as_deref().filter(|_| choice.labels.is_used());
        // A self-loop or an edge of weight zero is in the record but not in the graph.
        let kept = |&&[u, v]: &&[u32; 2]| graph.neighbors(u as usize).binary_search(&v).is_ok();
        let mut starts = vec![0; n + 1];
        for &[u, v] in record.edges.iter().filter(kept) {
            starts[u as usize + 1] += 1;
            starts[v as usize + 1] += 1;
        }
        for node in 0..n {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut links = vec![Link { to: 0, way: Way::Both, kind: None, edge: 0 }; starts[n]];
        let ways = if directed { [Way::Out, Way::In] } else { [Way::Both; 2] };
        for (edge, ends) in record.edges.iter().enumerate().filter(|(_, ends)| kept(ends)) {
            let kind = labels.map(|labels| &labels[edge]);
            for (end, way) in ways.into_iter().enumerate() {
                let place = &mut next[ends[end] as usize];
                links[*place] = Link { to: ends[1 - end], way, kind, edge };
                *place += 1;
            }
        }
        Links { starts, links }.distinct()
    }

    /// Each once, in their order.
    fn distinct(mut self) -> Links<'a> {
        let same = |a: &Link<'_>, b: &Link<'_>| (a.to, a.way, a.kind) == (b.to, b.way, b.kind);
        let mut end = 0;
        for node in 1..self.starts.len() {
            let (from, to) =
                (std::mem::replace(&mut self.starts[node - 1], end), self.starts[node]);
            self.links[from..to].sort_unstable();
            for place in from..to {
                if end == self.starts[node - 1] || !same(&self.links[place], &self.links[end - 1]) {
                    self.links[end] = self.links[place];
                    end += 1;
                }
            }
        }
        if let Some(last) = self.starts.last_mut() {
            *last = end;
        }
        self.links.truncate(end);
        self
    }

    /// The links at `node`, ascending by their other ends.
    pub fn at(&self, node: usize) -> &[Link<'a>] {
        &self.links[self.starts[node]..self.starts[node + 1]]
    }

    /// All links, node after node.
    pub fn all(&self) -> &[Link<'a>] {
        &self.links
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::WeightPolicy;

    fn record(directed: bool) -> GraphRecord {
        GraphRecord {
            num_nodes: 4,
            edges: vec![[0, 1], [1, 0], [0, 1], [1, 2], [2, 2], [0, 1], [3, 1]],
            edge_labels: Some(vec![
                7.into(),
                7.into(),
                5.into(),
                5.into(),
                5.into(),
                5.into(),
                5.into(),
            ]),
            weights: Some(vec![1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]),
            directed,
            ..GraphRecord::default()
        }
    }

    fn seen(record: &GraphRecord, choice: EdgeChoice) -> Vec<Vec<(u32, Way, Option<i64>)>> {
        let (graph, _) = Graph::from_record(record, WeightPolicy::Use).unwrap();
        let links = Links::of(record, &graph, choice);
        let number = |kind: &Scalar| match kind {
            Scalar::Int(number) => *number,
            other => panic!("{other}"),
        };
        let one = |link: &Link<'_>| (link.to, link.way, link.kind.map(number));
        (0..4).map(|node| links.at(node).iter().map(one).collect()).collect()
    }

    #[test]
    fn kinds_stay_distinct_and_repeats_are_one() {
        let both = Way::Both;
        let expected = [
            vec![(1, both, Some(5)), (1, both, Some(7))],
            vec![(0, both, Some(5)), (0, both, Some(7)), (2, both, Some(5))],
            vec![(1, both, Some(5))],
            vec![],
        ];
        assert_eq!(seen(&record(false), EdgeChoice::default()), expected);
        let blind = seen(&record(true), EdgeChoice::NOTHING);
        let expected = [
            vec![(1, both, None)],
            vec![(0, both, None), (2, both, None)],
            vec![(1, both, None)],
            vec![],
        ];
        assert_eq!(blind, expected);
    }

    #[test]
    fn directions_are_seen_from_each_end() {
        let choice = EdgeChoice { labels: Usage::Ignore, ..EdgeChoice::default() };
        let expected = [
            vec![(1, Way::Out, None), (1, Way::In, None)],
            vec![(0, Way::Out, None), (0, Way::In, None), (2, Way::Out, None)],
            vec![(1, Way::In, None)],
            vec![],
        ];
        assert_eq!(seen(&record(true), choice), expected);
    }
}
