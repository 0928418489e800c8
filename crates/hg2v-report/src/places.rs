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

/// Graphs that are looked at before attributes are believed to be places; those of fewer
/// nodes say nothing.
const MOST_GRAPHS: usize = 200;
const LEAST_NODES: usize = 8;

/// How long edges are at most, of how far apart any two nodes are.
const SHORT: f64 = 0.35;

impl Coordinates {
    /// The first two attributes, where they are places: nodes that share an edge are much
    /// closer to each other than any two nodes. Other attributes hardly ever look so.
    ///
    /// Of three attributes the first two are row and column, as `hg2v images` makes
    /// them; else they are x and y.
    pub fn of(records: &[GraphRecord]) -> Option<Coordinates> {
        let mut dim = None;
        let mut sums = [0.0; 2];
        let telling = |r: &&GraphRecord| !r.edges.is_empty() && r.num_nodes as usize >= LEAST_NODES;
        for record in records.iter().filter(telling).take(MOST_GRAPHS) {
            let features = record.features.as_ref().filter(|features| features.dim >= 2)?;
            if *dim.get_or_insert(features.dim) != features.dim {
                return None;
            }
            let [edges, any] = lengths(record, features);
            sums = [sums[0] + edges, sums[1] + any];
        }
        let dim = dim?;
        // Nodes that are all on one spot have no places; nor is infinity one.
        let short = sums[0] < SHORT * sums[1] && sums[1].is_finite();
        short.then_some(match dim {
            3 => Coordinates { x: 1, y: 0, upwards: false },
            _ => Coordinates { x: 0, y: 1, upwards: true },
        })
    }

    /// Whether an attribute is one of the two.
    pub fn has(&self, column: usize) -> bool {
        column == self.x || column == self.y
    }
}

/// How far apart two nodes are by the first two attributes, on average: those that share an
/// edge, and those that are half the nodes apart in their order, of which most do not.
fn lengths(record: &GraphRecord, features: &Features) -> [f64; 2] {
    let n = record.num_nodes as usize;
    let apart = |u: usize, v: usize| {
        let (p, q) = (features.row(u), features.row(v));
        (p[0] - q[0]).hypot(p[1] - q[1])
    };
    let edges = record.edges.iter().map(|[u, v]| apart(*u as usize, *v as usize)).sum::<f64>();
    let any = (0..n).map(|u| apart(u, (u + n / 2) % n)).sum::<f64>();
    [edges / record.edges.len() as f64, any / n as f64]
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

    fn path(nodes: u32, dim: usize, place: impl Fn(usize) -> [f64; 2]) -> GraphRecord {
        let row = |v: usize| {
            let mut row = place(v).to_vec();
            row.resize(dim, 0.5);
            row
        };
        GraphRecord {
            num_nodes: nodes,
            edges: (1..nodes).map(|v| [v - 1, v]).collect(),
            features: Some(Features { dim, values: (0..nodes as usize).flat_map(row).collect() }),
            ..GraphRecord::default()
        }
    }

    #[test]
    fn places_are_told_from_other_numbers() {
        let line = |v: usize| [3.0, v as f64];
        let picture = Coordinates { x: 1, y: 0, upwards: false };
        let plane = Coordinates { x: 0, y: 1, upwards: true };
        assert_eq!(Coordinates::of(&[path(20, 3, line)]), Some(picture));
        assert_eq!(Coordinates::of(&[path(20, 2, line)]), Some(plane));
        // Numbers in no order, nodes on one spot, numbers without bounds, too little to go
        // by, and nothing at all.
        let mixed = |v: usize| [(v * 7 % 20) as f64, (v * 11 % 20) as f64];
        assert_eq!(Coordinates::of(&[path(20, 2, mixed)]), None);
        assert_eq!(Coordinates::of(&[path(20, 2, |_| [1.0, 1.0])]), None);
        let far = |v: usize| [if v < 10 { -1e308 } else { 1e308 }, 0.0];
        assert_eq!(Coordinates::of(&[path(20, 2, far)]), None);
        assert_eq!(Coordinates::of(&[path(20, 1, line)]), None);
        assert_eq!(Coordinates::of(&[path(3, 2, line)]), None);
        assert_eq!(Coordinates::of(&[path(20, 2, line), path(20, 3, line)]), None);
        assert_eq!(Coordinates::of(&[GraphRecord::default()]), None);
        assert_eq!(Coordinates::of(&[]), None);
    }

    #[test]
    fn aggregates_have_places() {
        use hg2v::dataset::synthetic::SyntheticSet;
        use hg2v::dataset::synthetic::dla::Dla;
        use hg2v::dataset::synthetic::noise::Noise;
        let model = Dla::default().nodes(60);
        let noise = Noise::default();
        let set = SyntheticSet::new(&model, 6, 1).noise(noise);
        let plane = Coordinates { x: 0, y: 1, upwards: true };
        assert_eq!(Coordinates::of(&set.records().unwrap()), Some(plane));
    }
}
