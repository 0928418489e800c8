//! A molecule, drawn: where its atoms are, and with which lines its bonds are drawn.

use std::collections::BTreeMap;

use hg2v::graph::molecule_layout::{self, molecule_layout};
use hg2v::graph::{Graph, GraphRecord};

use crate::bond_lines::{Lines, bond_lines};
use crate::kekule::kekulize;
use crate::molecule::{Bond, Chemistry};

/// See the [module](self).
#[derive(Debug, Clone, PartialEq)]
pub struct Depiction {
    /// The place of each atom among those of the page.
    pub atoms: Vec<usize>,
    /// Where it is.
    pub points: Vec<[f64; 2]>,
    /// The lines of each bond, in the order of [`Graph::edges`].
    pub lines: Vec<Lines>,
}

impl Depiction {
    /// Draws the molecule `record`, whose graph is `graph`. Aromatic rings have single and double
    /// bonds in turn, or, where these cannot be placed, a dashed line inside.
    pub fn of(known: &Chemistry, record: &GraphRecord, graph: &Graph) -> Depiction {
        let atoms = known.places(record);
        let bonds = bonds(record, graph);
        let points = molecule_layout(graph, &bonds.iter().map(kind).collect::<Vec<_>>());
        let edges: Vec<[u32; 2]> = graph.edges().map(|(u, v, _)| [u, v]).collect();
        let own: Vec<_> = atoms.iter().map(|&atom| &known.atoms[atom]).collect();
        let bonds = kekulize(&own, &edges, &bonds).unwrap_or(bonds);
        let lines = bond_lines(graph, &bonds, &points);
        Depiction { atoms, points, lines }
    }
}

/// What each edge of `graph` is; of repeated ones, the first.
fn bonds(record: &GraphRecord, graph: &Graph) -> Vec<Bond> {
    let labels = record.edge_labels.as_deref().unwrap_or_default();
    let mut known: BTreeMap<[u32; 2], Bond> = BTreeMap::new();
    for (&[u, v], label) in record.edges.iter().zip(labels) {
        known.entry([u.min(v), u.max(v)]).or_insert_with(|| Bond::of(label).unwrap_or_default());
    }
    graph.edges().map(|(u, v, _)| known.get(&[u, v]).copied().unwrap_or_default()).collect()
}

fn kind(bond: &Bond) -> molecule_layout::Bond {
    match bond {
        Bond::Single => molecule_layout::Bond::Single,
        Bond::Double => molecule_layout::Bond::Double,
        Bond::Triple => molecule_layout::Bond::Triple,
        Bond::Aromatic => molecule_layout::Bond::Aromatic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hg2v::graph::{Scalar, WeightPolicy};

    #[test]
    fn benzene_has_three_double_bonds_inside_its_ring() {
        let text = |label: &str| Some(vec![Scalar::from(label); 6]);
        let record = GraphRecord {
            num_nodes: 6,
            edges: (0..6).map(|v| [v, (v + 1) % 6]).collect(),
            node_labels: text("cH"),
            edge_labels: text("aromatic"),
            ..GraphRecord::default()
        };
        let (graph, _) = Graph::from_record(&record, WeightPolicy::Use).unwrap();
        let known = Chemistry::of(std::slice::from_ref(&record)).unwrap();
        let drawn = Depiction::of(&known, &record, &graph);
        assert_eq!(drawn.atoms, [0; 6]);
        let double = drawn.lines.iter().filter(|lines| **lines != Lines::Single);
        assert!(
            double.clone().all(|lines| matches!(lines, Lines::DoublePlus | Lines::DoubleMinus))
        );
        assert_eq!(double.count(), 3);
    }
}
