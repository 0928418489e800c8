//! The relations by which edges join nodes, where a network looks at each apart.

use super::EdgeSchema;
use super::edges::ways;
use crate::graph::{Graph, GraphRecord, Links};
use crate::nn::Relations;

impl EdgeSchema {
    /// How many relations edges have: kinds of the training graphs, each out and in where graphs
    /// are directed.
    pub fn relations(&self) -> usize {
        self.ways() * self.counts()
    }

    /// The relations of a graph: kind `k` is number `k`, or `2k` out and `2k + 1` in. An edge of a
    /// kind that training never met is of none.
    pub(crate) fn relate(&self, record: &GraphRecord, graph: &Graph) -> Relations {
        let links = Links::of(record, graph, self.choice());
        let mut related = Vec::with_capacity(links.all().len());
        for node in 0..graph.num_nodes() {
            for link in links.at(node) {
                let Some(kind) = self.kind(link) else { continue };
                for way in ways(link.way, self.direction()) {
                    let relation = kind * self.ways() + way;
                    related.push((node as u32, link.to, relation as u32));
                }
            }
        }
        Relations::new(graph, self.relations(), self.direction(), related)
    }
}
