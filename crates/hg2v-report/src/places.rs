//! Where the nodes of a graph are drawn.
//!
//! Pictures and aggregates know where their nodes are: two of their attributes say it.
//! All other graphs are [laid out](hg2v::graph::layout).

use hg2v::graph::layout::layout;
use hg2v::graph::{Features, Graph, GraphRecord};

/// Which attributes of nodes say where they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coordinates {
    /// The attribute that grows to the right.
    pub x: usize,
    /// The attribute that grows downwards, or upwards.
    pub y: usize,
    /// Whether it is upwards.
    pub upwards: bool,
}

/// Graphs and edges that are looked at before attributes are believed to be places.
const MOST_GRAPHS: usize = 200;
const LEAST_EDGES: usize = 8;

/// The longest edge, in shortest edges: a diagonal of a grid, and a little more.
const LONGEST: f64 = 1.5;

impl Coordinates {
    /// The first two attributes, where they are places: every edge is about as long as
    /// every other of its graph. Random numbers hardly ever look so.
    ///
    /// Of three attributes the first two are row and column, as `hg2v images` makes
    /// them; else they are x and y.
    pub fn of(records: &[GraphRecord]) -> Option<Coordinates> {
        let mut edges = 0;
        let mut dim = None;
        for record in records.iter().filter(|r| !r.edges.is_empty()).take(MOST_GRAPHS) {
            let features = record.features.as_ref().filter(|features| features.dim >= 2)?;
            if *dim.get_or_insert(features.dim) != features.dim || !even(record, features) {
                return None;
            }
            edges += record.edges.len();
        }
        match dim? {
            _ if edges < LEAST_EDGES => None,
            3 => Some(Coordinates { x: 1, y: 0, upwards: false }),
            _ => Some(Coordinates { x: 0, y: 1, upwards: true }),
        }
    }

    /// Whether an attribute is one of the two.
    pub fn has(&self, column: usize) -> bool {
        column == self.x || column == self.y
    }
}

/// Whether the first two attributes put all edges of a graph at about the same length.
fn even(record: &GraphRecord, features: &Features) -> bool {
    let length = |[u, v]: &[u32; 2]| {
        let (p, q) = (features.row(*u as usize), features.row(*v as usize));
        (p[0] - q[0]).hypot(p[1] - q[1])
    };
    let lengths = record.edges.iter().filter(|[u, v]| u != v).map(length);
    let (least, most) =
        lengths.fold((f64::INFINITY, 0.0), |(least, most), l| (l.min(least), l.max(most)));
    least > 0.0 && most.is_finite() && most <= LONGEST * least
}

/// A point for each node of `record`, whose graph is `graph`; y grows downwards.
///
/// ```
/// use hg2v::graph::{Features, Graph, GraphRecord, WeightPolicy};
/// use hg2v_report::places::{Coordinates, places};
/// // Two pixels, the second below the first: row, column, luminosity.
/// let values = vec![4.0, 9.0, 0.5, 5.0, 9.0, 1.0];
/// let pixels = GraphRecord {
///     num_nodes: 2,
///     edges: vec![[0, 1]],
///     features: Some(Features { dim: 3, values }),
///     ..GraphRecord::default()
/// };
/// let (graph, _) = Graph::from_record(&pixels, WeightPolicy::Use).unwrap();
/// let picture = Coordinates { x: 1, y: 0, upwards: false };
/// assert_eq!(places(&pixels, &graph, Some(picture)), [[9.0, 4.0], [9.0, 5.0]]);
/// ```
pub fn places(
    record: &GraphRecord,
    graph: &Graph,
    coordinates: Option<Coordinates>,
) -> Vec<[f64; 2]> {
    let known = |c: &Coordinates| Some((*c, record.features.as_ref()?));
    match coordinates.as_ref().and_then(known) {
        Some((c, features)) if features.dim > c.x.max(c.y) => {
            let sign = if c.upwards { -1.0 } else { 1.0 };
            let place = |v: usize| [features.row(v)[c.x], sign * features.row(v)[c.y]];
            (0..graph.num_nodes()).map(place).collect()
        }
        _ => layout(graph),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(dim: usize, place: impl Fn(usize) -> [f64; 2]) -> GraphRecord {
        let row = |v: usize| {
            let mut row = place(v).to_vec();
            row.resize(dim, 0.5);
            row
        };
        GraphRecord {
            num_nodes: 10,
            edges: (1..10).map(|v| [v - 1, v]).collect(),
            features: Some(Features { dim, values: (0..10).flat_map(row).collect() }),
            ..GraphRecord::default()
        }
    }

    #[test]
    fn places_are_told_from_other_numbers() {
        let line = |v: usize| [3.0, v as f64];
        let picture = Coordinates { x: 1, y: 0, upwards: false };
        let plane = Coordinates { x: 0, y: 1, upwards: true };
        assert_eq!(Coordinates::of(&[path(3, line)]), Some(picture));
        assert_eq!(Coordinates::of(&[path(2, line)]), Some(plane));
        // Uneven steps, nodes on one spot, too little to go by, and nothing at all.
        assert_eq!(Coordinates::of(&[path(2, |v| [0.0, (v * v) as f64])]), None);
        assert_eq!(Coordinates::of(&[path(2, |_| [1.0, 1.0])]), None);
        assert_eq!(Coordinates::of(&[path(1, line)]), None);
        let short = GraphRecord { edges: vec![[0, 1]], ..path(2, line) };
        assert_eq!(Coordinates::of(&[short]), None);
        assert_eq!(Coordinates::of(&[GraphRecord::default()]), None);
        assert_eq!(Coordinates::of(&[]), None);
    }
}
