//! Where to draw the atoms of a molecule, as chemists do.
//!
//! Bonds are 1 long. A part of a molecule that hangs together is drawn in five steps:
//!
//! 1. `ring_system`: rings that share bonds become one rigid piece, of regular polygons where
//!    that is possible;
//! 2. `grow`: from the largest piece outwards, chains zig-zag at 120°, what hangs on an atom
//!    shares the room that is free around it, and triple or cumulated double bonds are straight;
//! 3. `relief`: where atoms or bonds meet, branches are mirrored or turned;
//! 4. `refine`: what still meets is pushed apart, a little;
//! 5. `upright`: the whole lies down, its bonds in the directions of a honeycomb.
//!
//! Parts are set side by side, the largest first. The same molecule is always drawn alike.

mod geometry;
mod grow;
mod refine;
mod relief;
mod ring_system;
mod skeleton;
mod upright;

use super::layout::{in_rows, layout};
use super::rings::smallest_rings;
use super::{Components, Graph};
use geometry::Point;
use skeleton::Skeleton;

/// The most atoms of a molecule, and the most neighbours of an atom: what has more is no
/// drawing that a chemist would know, and is [laid out](layout) like any graph.
const MOST_ATOMS: usize = 200;
const MOST_NEIGHBORS: usize = 8;

/// What a bond is, as far as it decides on angles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Bond {
    /// One pair of electrons, or whatever is not below.
    #[default]
    Single,
    /// Two pairs.
    Double,
    /// Three pairs.
    Triple,
    /// Of an aromatic ring.
    Aromatic,
}

/// A point for each atom; bonds are 1 long where rings let them, and the lower left corner
/// is `(0, 0)`. `bonds` are those of [`Graph::edges`], in their order; one that is missing is single.
///
/// # Examples
/// ```
/// use hg2v::graph::molecule_layout::{Bond, molecule_layout};
/// use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
/// // Propyne is straight, propene is not.
/// let chain = GraphRecord { num_nodes: 3, edges: vec![[0, 1], [1, 2]], ..Default::default() };
/// let (graph, _) = Graph::from_record(&chain, WeightPolicy::Use).unwrap();
/// let length = |bonds: [Bond; 2]| {
///     let points = molecule_layout(&graph, &bonds);
///     (points[0][0] - points[2][0]).hypot(points[0][1] - points[2][1])
/// };
/// assert!((length([Bond::Single, Bond::Triple]) - 2.0).abs() < 1e-9);
/// assert!((length([Bond::Single, Bond::Double]) - 3f64.sqrt()).abs() < 1e-9);
/// ```
///
/// # Complexity
/// `O(n²)` for each move that is tried, of which there are few where nothing meets;
/// all in all bounded, and [`layout`]'s above 200 atoms.
pub fn molecule_layout(graph: &Graph, bonds: &[Bond]) -> Vec<[f64; 2]> {
    let crowded = |v: usize| graph.degree(v) > MOST_NEIGHBORS;
    if graph.num_nodes() > MOST_ATOMS || (0..graph.num_nodes()).any(crowded) {
        return layout(graph);
    }
    let Some(rings) = smallest_rings(graph, MOST_ATOMS) else { return layout(graph) };
    let (mut members, place) = Components::of(graph).members();
    members.sort_by_key(|atoms| std::cmp::Reverse(atoms.len()));
    let draw = |atoms: &Vec<usize>| component(&Skeleton::of(graph, bonds, &rings, atoms, &place));
    let drawn: Vec<Vec<Point>> = members.iter().map(draw).collect();
    let mut points = vec![[0.0; 2]; graph.num_nodes()];
    for ((atoms, drawn), [x, y]) in members.iter().zip(&drawn).zip(in_rows(&drawn)) {
        for (&atom, point) in atoms.iter().zip(drawn) {
            points[atom] = [point[0] + x, point[1] + y];
        }
    }
    points
}

/// A part that hangs together.
fn component(skeleton: &Skeleton) -> Vec<Point> {
    let mut points = grow::grow(skeleton);
    relief::relieve(skeleton, &mut points);
    if relief::closest(&points) < relief::ROOM {
        refine::push_apart(skeleton, &mut points);
    }
    upright::upright(skeleton, &mut points);
    points
}

#[cfg(test)]
mod tests;
