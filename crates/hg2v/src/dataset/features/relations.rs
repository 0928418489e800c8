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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::dataset::features::Subject;
    use crate::graph::{EdgeChoice, WeightPolicy};

    /// Of a path 0 → 1 → 2 whose second edge is said both ways.
    fn related(directed: bool, kinds: Option<[i64; 3]>) -> (Relations, Vec<(u32, u32)>) {
        let record = GraphRecord {
            num_nodes: 4,
            edges: vec![[0, 1], [1, 2], [2, 1]],
            edge_labels: kinds.map(|kinds| kinds.into_iter().map(Into::into).collect()),
            directed,
            ..GraphRecord::default()
        };
        let (graph, _) = Graph::from_record(&record, WeightPolicy::Use).unwrap();
        let subject = Subject::new(&record, &graph);
        let schema = EdgeSchema::fit(Path::new("x"), EdgeChoice::default(), [subject]).unwrap();
        let relations = schema.unwrap().relate(&record, &graph);
        let pairs = relations.targets.iter().copied().zip(relations.kinds.iter().copied());
        let pairs = pairs.collect();
        (relations, pairs)
    }

    #[test]
    fn kinds_and_directions_are_relations_and_entries_those_of_the_whole() {
        let (relations, pairs) = related(true, Some([5, 6, 5]));
        assert_eq!((relations.count, relations.paired), (4, true));
        assert_eq!(relations.offsets, [0, 1, 4, 6, 6]);
        // 0 → 1 of kind 5; 1 hears it come in, sends 6 to 2 and gets 5 from there.
        assert_eq!(pairs, [(1, 0), (0, 1), (2, 2), (2, 1), (1, 0), (1, 3)]);
        // 1/√(D(u)·D(v)) with D of W + I: 2, 3, 2 on the path, whose second edge weighs as said.
        let (one, two) = (relations.values[0], relations.values[2]);
        assert!(relations.values.iter().all(|&value| value == one || value == two));
        assert!((one - 1.0 / 6f32.sqrt()).abs() < 1e-7, "{one}");

        let (relations, pairs) = related(false, Some([5, 6, 6]));
        assert_eq!((relations.count, relations.paired), (2, false));
        assert_eq!(pairs, [(1, 0), (0, 0), (2, 1), (1, 1)]);
        let (relations, pairs) = related(true, None);
        assert_eq!((relations.count, relations.paired), (2, true));
        assert_eq!(pairs, [(1, 0), (0, 1), (2, 0), (2, 1), (1, 0), (1, 1)]);
    }
}
