//! With which lines bonds are drawn.
//!
//! The second line of a double bond lies inside its ring; of others beside the bond, where
//! its neighbours are; of a bond to an end, such as C=O, both lie around the middle.

use hg2v::graph::Graph;
use hg2v::graph::rings::smallest_rings;

use crate::molecule::Bond;

/// Ring systems of more atoms are too large to look for rings.
const MOST_ATOMS: usize = 200;

/// The lines of a bond from `u` to `v`; `+` is the side of `(−dy, dx)` where `(dx, dy)` is the way from
/// `u` to `v`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Lines {
    /// One.
    Single = 0,
    /// Two, around the middle.
    Double = 1,
    /// Two, the second at the side `+`.
    DoublePlus = 2,
    /// Two, the second at the other side.
    DoubleMinus = 3,
    /// Three.
    Triple = 4,
    /// Two, the second at the side `+` and dashed.
    DashedPlus = 5,
    /// Two, the second at the other side and dashed.
    DashedMinus = 6,
}

/// The lines of each bond of [`Graph::edges`], where `points` are its atoms.
pub fn bond_lines(graph: &Graph, bonds: &[Bond], points: &[[f64; 2]]) -> Vec<Lines> {
    let rings = smallest_rings(graph, MOST_ATOMS).unwrap_or_default();
    let edges: Vec<[usize; 2]> = graph.edges().map(|(u, v, _)| [u as usize, v as usize]).collect();
    let many = |u: u32, v: u32| {
        let at = edges.binary_search(&[u.min(v) as usize, u.max(v) as usize]);
        at.is_ok_and(|at| bonds[at] != Bond::Single)
    };
    // Rings with more double bonds come first, then those most like a hexagon.
    let mut ranked: Vec<(usize, &Vec<u32>)> = rings
        .iter()
        .map(|ring| {
            let next = |at: usize| ring[(at + 1) % ring.len()];
            ((0..ring.len()).filter(|&at| many(ring[at], next(at))).count(), ring)
        })
        .collect();
    ranked.sort_by_key(|(double, ring)| (std::cmp::Reverse(*double), ring.len().abs_diff(6)));
    let ring_of = |[u, v]: [usize; 2]| {
        let has = |ring: &[u32], atom: usize| ring.contains(&(atom as u32));
        ranked.iter().map(|(_, ring)| ring.as_slice()).find(|ring| has(ring, u) && has(ring, v))
    };
    let lines = |(&ends, bond): (&[usize; 2], &Bond)| match bond {
        Bond::Single => Lines::Single,
        Bond::Triple => Lines::Triple,
        Bond::Double | Bond::Aromatic => {
            let side = match ring_of(ends) {
                Some(ring) => ring.iter().map(|&v| side(points, ends, v as usize)).sum(),
                None => beside(graph, ends, points),
            };
            match (bond, side) {
                (Bond::Double, 0.0) => Lines::Double,
                (Bond::Double, side) if side > 0.0 => Lines::DoublePlus,
                (Bond::Double, _) => Lines::DoubleMinus,
                (_, side) if side > 0.0 => Lines::DashedPlus,
                _ => Lines::DashedMinus,
            }
        }
    };
    edges.iter().zip(bonds).map(lines).collect()
}

/// How far a point is at the side `+` of a bond.
fn side(points: &[[f64; 2]], [u, v]: [usize; 2], at: usize) -> f64 {
    let (p, q, r) = (points[u], points[v], points[at]);
    (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
}

/// At which side most neighbours of a bond in no ring are; 0 where that does not matter.
fn beside(graph: &Graph, ends: [usize; 2], points: &[[f64; 2]]) -> f64 {
    let degrees = ends.map(|end| graph.degree(end));
    // An end of its own, such as that of C=O, or cumulated bonds.
    if degrees.contains(&1) && degrees.iter().any(|&degree| degree > 2) || degrees == [1, 1] {
        return 0.0;
    }
    let near = ends.iter().flat_map(|&end| graph.neighbors(end));
    let sum: f64 = near.map(|&v| side(points, ends, v as usize).clamp(-1.0, 1.0)).sum();
    // Neighbours at both sides, such as those of trans-butene: either will do.
    let straight = |&end: &usize| {
        graph.neighbors(end).iter().all(|&v| side(points, ends, v as usize).abs() < 1e-3)
    };
    if ends.iter().any(straight) && sum.abs() < 1e-3 {
        return 0.0;
    }
    if sum.abs() < 1e-3 { 1.0 } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hg2v::graph::{GraphRecord, WeightPolicy};

    fn graph(num_nodes: u32, edges: Vec<[u32; 2]>) -> Graph {
        let record = GraphRecord { num_nodes, edges, ..GraphRecord::default() };
        Graph::from_record(&record, WeightPolicy::Use).unwrap().0
    }

    #[test]
    fn second_lines_are_inside_rings() {
        // A square; y grows downwards, so that 0, 1, 2, 3 go clockwise.
        let square = graph(4, vec![[0, 1], [1, 2], [2, 3], [0, 3]]);
        let points = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        // Edges are 01, 03, 12, 23.
        let (single, double) = (Bond::Single, Bond::Double);
        let found = bond_lines(&square, &[double, single, single, double], &points);
        assert_eq!(found, [Lines::DoublePlus, Lines::Single, Lines::Single, Lines::DoublePlus]);
        let found = bond_lines(&square, &[Bond::Aromatic; 4], &points);
        let (plus, minus) = (Lines::DashedPlus, Lines::DashedMinus);
        assert_eq!(found, [plus, minus, plus, plus]);
    }

    #[test]
    fn ends_have_both_lines_around_the_middle() {
        // Acetone, then propene, whose third atom is above.
        let acetone = graph(4, vec![[0, 1], [1, 2], [1, 3]]);
        let points = [[0.0, 0.5], [1.0, 0.0], [2.0, 0.5], [1.0, -1.0]];
        let found = bond_lines(&acetone, &[Bond::Single, Bond::Single, Bond::Double], &points);
        assert_eq!(found[2], Lines::Double);
        let propene = graph(3, vec![[0, 1], [1, 2]]);
        let points = [[0.0, 0.0], [1.0, 0.0], [1.5, -0.8]];
        let found = bond_lines(&propene, &[Bond::Double, Bond::Triple], &points);
        assert_eq!(found, [Lines::DoubleMinus, Lines::Triple]);
        // In one line, as carbon dioxide.
        let points = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]];
        assert_eq!(bond_lines(&propene, &[Bond::Double; 2], &points), [Lines::Double; 2]);
    }
}
