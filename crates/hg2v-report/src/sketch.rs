//! A graph and its pyramid in a few bytes, for a browser to draw.
//!
//! Numbers are LEB128 unless they say otherwise. A sketch is
//!
//! ```text
//! base                    levels below what is drawn: 0 for the graph itself
//! cut                     1 where only the best-connected nodes are there
//! n, m                    nodes and edges that are drawn
//! wide                    0: places are bytes, 1: they are little-endian 16 bits
//! x of each node, y of each node
//! colour of each node     a byte; not there where nodes are coloured by degree
//! size of each node       nodes pooled into it; only where base > 0
//! edges                   u − u before, v − u; u ascending
//! atom of each node       of molecules, where base and cut are 0: among those of the page
//! lines of each edge      a byte, of the same
//! levels                  how many follow; each is
//!   n'                      its nodes
//!   super-node of each node of the level below
//!   m' + 1, edges           or 0 where edges are those of the level below, contracted
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;

use hg2v::coarsen::{Level, Params, Pyramid, coarsen};
use hg2v::graph::{Graph, GraphRecord, Scalar};

use crate::depiction::Depiction;
use crate::molecule::Chemistry;
use crate::palette::KINDS;
use crate::places::{Coordinates, places};

/// The most nodes and edges that are drawn of a graph; of a larger one, a coarser level is.
pub const MOST_NODES: usize = 600;
/// See [`MOST_NODES`].
pub const MOST_EDGES: usize = 3000;

/// The code of a label beyond those that have a colour.
pub const OTHER: u8 = 255;

/// What the colour of a node says.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeColors {
    /// Its element: graphs are molecules.
    Elements(Chemistry),
    /// Its label, one of the commonest.
    Labels(Vec<Scalar>),
    /// An attribute, between two bounds.
    Attribute {
        /// Which.
        column: usize,
        /// The smallest of all graphs.
        from: f64,
        /// The largest.
        to: f64,
    },
    /// Its neighbours, counted.
    Degree,
}

/// How all graphs of a page are drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheme {
    /// The attributes that are places.
    pub coordinates: Option<Coordinates>,
    /// What colours say.
    pub colors: NodeColors,
}

impl Scheme {
    /// Atoms and labels come first, then the first attribute that is no place, then degrees.
    pub fn of(records: &[GraphRecord]) -> Scheme {
        if let Some(known) = Chemistry::of(records) {
            return Scheme { coordinates: None, colors: NodeColors::Elements(known) };
        }
        let coordinates = Coordinates::of(records);
        let mut counts: BTreeMap<&Scalar, usize> = BTreeMap::new();
        for label in records.iter().flat_map(|record| record.node_labels.iter().flatten()) {
            *counts.entry(label).or_default() += 1;
        }
        if !counts.is_empty() {
            let mut labels: Vec<(&Scalar, usize)> = counts.into_iter().collect();
            labels.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            // The last kind is for all others.
            labels.truncate(KINDS.len() - 1);
            let labels = labels.into_iter().map(|(label, _)| label.clone()).collect();
            return Scheme { coordinates, colors: NodeColors::Labels(labels) };
        }
        let all = || records.iter().filter_map(|record| record.features.as_ref());
        let dim = all().map(|features| features.dim).min().unwrap_or(0);
        let column = (0..dim).find(|&c| !coordinates.is_some_and(|known| known.has(c)));
        let values = |c: usize| {
            all().flat_map(move |f| f.values.iter().skip(c).step_by(f.dim.max(1)).copied())
        };
        let bounds = column.map(|c| {
            let bounds = values(c)
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (x.min(a), x.max(b)));
            (c, bounds)
        });
        let colors = match bounds {
            Some((column, (from, to))) if from < to => NodeColors::Attribute { column, from, to },
            _ => NodeColors::Degree,
        };
        Scheme { coordinates, colors }
    }

    /// The code of each super-node: the commonest label, or the mean attribute, of what
    /// is pooled into it.
    fn codes(&self, record: &GraphRecord, members: &[u32], count: usize) -> Option<Vec<u8>> {
        match &self.colors {
            NodeColors::Degree => None,
            NodeColors::Elements(known) => {
                let mut votes = vec![vec![0u32; known.elements.len()]; count];
                for (atom, &to) in known.places(record).iter().zip(members) {
                    votes[to as usize][known.element(*atom)] += 1;
                }
                let winner = |votes: &Vec<u32>| {
                    let best = (0..votes.len()).rev().max_by_key(|&i| votes[i]).unwrap_or(0);
                    best.min(usize::from(OTHER)) as u8
                };
                Some(votes.iter().map(winner).collect())
            }
            NodeColors::Labels(known) => {
                let mut votes = vec![[0u32; KINDS.len()]; count];
                let none = Vec::new();
                let labels = record.node_labels.as_ref().unwrap_or(&none);
                for (label, &to) in labels.iter().zip(members) {
                    let at = known.iter().position(|l| l == label).unwrap_or(KINDS.len() - 1);
                    votes[to as usize][at] += 1;
                }
                let winner = |votes: &[u32; KINDS.len()]| {
                    let best = (0..KINDS.len()).rev().max_by_key(|&i| votes[i]).unwrap_or(0);
                    if votes[best] == 0 || best == KINDS.len() - 1 { OTHER } else { best as u8 }
                };
                Some(votes.iter().map(winner).collect())
            }
            NodeColors::Attribute { column, from, to } => {
                let (mut sums, mut counts) = (vec![0.0; count], vec![0.0; count]);
                if let Some(features) = record.features.as_ref().filter(|f| f.dim > *column) {
                    for (v, &to) in members.iter().enumerate() {
                        sums[to as usize] += features.row(v)[*column];
                        counts[to as usize] += 1.0;
                    }
                }
                let code = |(sum, count): (&f64, &f64)| {
                    // Halves, lest the largest numbers leave what can be counted.
                    let (mean, span) = (0.5 * sum / count, 0.5 * to - 0.5 * from);
                    (254.0 * (mean - 0.5 * from) / span).round() as u8
                };
                Some(sums.iter().zip(&counts).map(code).collect())
            }
        }
    }

    /// The sketch of a graph.
    pub fn sketch(&self, record: &GraphRecord, graph: &Graph, pyramid: &Pyramid) -> Vec<u8> {
        let base = Base::choose(graph, pyramid);
        let whole = base.level == 0 && base.kept.is_none();
        let molecule = match &self.colors {
            NodeColors::Elements(known) if whole => Some(Depiction::of(known, record, graph)),
            _ => None,
        };
        let points = match base.level {
            _ if molecule.is_some() => molecule.iter().flat_map(|m| m.points.clone()).collect(),
            0 if base.kept.is_none() => places(record, &base.graph, self.coordinates),
            _ if self.coordinates.is_some() && record.features.is_some() => {
                let fine = places(record, graph, self.coordinates);
                means(&fine, &base.members, base.graph.num_nodes())
            }
            _ if base.kept.is_some() => circle(base.graph.num_nodes()),
            _ => places(&GraphRecord::default(), &base.graph, None),
        };
        let codes = self.codes(record, &base.members, base.graph.num_nodes());
        let mut sizes = vec![0u64; base.graph.num_nodes()];
        base.members.iter().for_each(|&to| sizes[to as usize] += 1);
        let kept = base.kept.clone();
        let kept = kept.unwrap_or_else(|| (0..base.graph.num_nodes() as u32).collect());
        let edges = base.edges();

        let mut out = Vec::new();
        number(&mut out, base.level as u64);
        number(&mut out, u64::from(base.kept.is_some()));
        number(&mut out, kept.len() as u64);
        number(&mut out, edges.len() as u64);
        let drawn: Vec<[f64; 2]> = kept.iter().map(|&v| points[v as usize]).collect();
        put_places(&mut out, &drawn);
        if let Some(codes) = codes {
            out.extend(kept.iter().map(|&v| codes[v as usize]));
        }
        if base.level > 0 {
            kept.iter().for_each(|&v| number(&mut out, sizes[v as usize]));
        }
        put_edges(&mut out, &edges);
        if let Some(molecule) = molecule {
            molecule.atoms.iter().for_each(|&atom| number(&mut out, atom as u64));
            out.extend(molecule.lines.iter().map(|&lines| lines as u8));
        }
        let above = match base.kept {
            Some(_) => &[],
            None => pyramid.levels.get(base.level..).unwrap_or_default(),
        };
        number(&mut out, above.len() as u64);
        let mut below: &Graph = &base.graph;
        for level in above {
            number(&mut out, level.graph.num_nodes() as u64);
            level.assignment.iter().for_each(|&to| number(&mut out, u64::from(to)));
            let own: Vec<[u32; 2]> = level.graph.edges().map(|(u, v, _)| [u, v]).collect();
            if own == contracted(below, &level.assignment) {
                number(&mut out, 0);
            } else {
                number(&mut out, own.len() as u64 + 1);
                put_edges(&mut out, &own);
            }
            below = &level.graph;
        }
        out
    }
}

/// The level that is drawn as if it were the graph.
struct Base<'a> {
    level: usize,
    graph: Cow<'a, Graph>,
    /// The node of `graph` that each node of the graph itself is part of.
    members: Vec<u32>,
    /// Where even the coarsest level is too large: its best-connected nodes, ascending.
    kept: Option<Vec<u32>>,
}

impl<'a> Base<'a> {
    /// The finest level that is small enough.
    fn choose(graph: &'a Graph, pyramid: &'a Pyramid) -> Base<'a> {
        let fits = |g: &Graph| g.num_nodes() <= MOST_NODES && g.num_edges() <= MOST_EDGES;
        let mut base = Base {
            level: 0,
            graph: Cow::Borrowed(graph),
            members: (0..graph.num_nodes() as u32).collect(),
            kept: None,
        };
        for level in &pyramid.levels {
            if fits(&base.graph) {
                return base;
            }
            base.rise(level, Cow::Borrowed(&level.graph));
        }
        if !fits(&base.graph) {
            // Beyond what the model looks at; what cannot be coarsened stays as it is.
            let share = MOST_NODES as f64 / base.graph.num_nodes().max(1) as f64;
            let ratio = (1.0 - 0.9 * share).clamp(0.5, 0.999_999);
            let further = coarsen(&base.graph, &Params::default().ratio(ratio));
            for level in further.into_iter().flat_map(|pyramid| pyramid.levels) {
                if fits(&base.graph) {
                    break;
                }
                base.rise(&level, Cow::Owned(level.graph.clone()));
            }
        }
        if !fits(&base.graph) {
            let mut nodes: Vec<u32> = (0..base.graph.num_nodes() as u32).collect();
            nodes.sort_by_key(|&v| std::cmp::Reverse(base.graph.degree(v as usize)));
            nodes.truncate(MOST_NODES);
            nodes.sort_unstable();
            base.kept = Some(nodes);
        }
        base
    }

    /// Goes one level up.
    fn rise(&mut self, level: &Level, graph: Cow<'a, Graph>) {
        self.members.iter_mut().for_each(|to| *to = level.assignment[*to as usize]);
        self.graph = graph;
        self.level += 1;
    }

    /// Edges between nodes that are drawn, numbered as they are drawn.
    fn edges(&self) -> Vec<[u32; 2]> {
        let all = self.graph.edges();
        let Some(kept) = &self.kept else { return all.map(|(u, v, _)| [u, v]).collect() };
        let place = |v: u32| kept.binary_search(&v).ok().map(|at| at as u32);
        all.filter_map(|(u, v, _)| Some([place(u)?, place(v)?])).take(MOST_EDGES).collect()
    }
}

/// The edges of a level whose sets are contracted, each once, ascending.
fn contracted(below: &Graph, assignment: &[u32]) -> Vec<[u32; 2]> {
    let ends = below.edges().map(|(u, v, _)| {
        let (a, b) = (assignment[u as usize], assignment[v as usize]);
        [a.min(b), a.max(b)]
    });
    let mut edges: Vec<[u32; 2]> = ends.filter(|[a, b]| a != b).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// The middle of what is pooled.
fn means(points: &[[f64; 2]], members: &[u32], count: usize) -> Vec<[f64; 2]> {
    let mut sums = vec![[0.0; 3]; count];
    for (point, &to) in points.iter().zip(members) {
        let sum = &mut sums[to as usize];
        *sum = [sum[0] + point[0], sum[1] + point[1], sum[2] + 1.0];
    }
    sums.iter().map(|[x, y, n]| [x / n, y / n]).collect()
}

/// Nodes of a graph that is too large to be laid out: a spiral as even as a sunflower's.
fn circle(count: usize) -> Vec<[f64; 2]> {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let place = |i: usize| {
        let (sin, cos) = (golden * i as f64).sin_cos();
        let radius = (i as f64 + 0.5).sqrt();
        [radius * cos, radius * sin]
    };
    (0..count).map(place).collect()
}

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Pixels keep their places; others are one of 4096 steps along the longer side.
fn put_places(out: &mut Vec<u8>, points: &[[f64; 2]]) {
    let bound = |axis: usize, first: f64, choose: fn(f64, f64) -> f64| {
        points.iter().fold(first, |bound, point| choose(bound, point[axis]))
    };
    let least = [0, 1].map(|axis| bound(axis, f64::INFINITY, f64::min));
    let most = [0, 1].map(|axis| bound(axis, f64::NEG_INFINITY, f64::max));
    // Halves, lest the largest numbers leave what can be counted.
    let half = |axis: usize| 0.5 * most[axis] - 0.5 * least[axis];
    let longest = half(0).max(half(1)).max(0.0);
    let whole = points.iter().flatten().all(|x| x.fract() == 0.0) && longest <= 127.0;
    let scale = if whole { 2.0 } else { 4095.0 / longest };
    out.push(u8::from(!whole));
    for axis in 0..2 {
        for point in points {
            let steps = scale * (0.5 * point[axis] - 0.5 * least[axis]);
            // What is not a number becomes 0.
            match whole {
                true => out.push(steps as u8),
                false => out.extend((steps.round() as u16).min(4095).to_le_bytes()),
            }
        }
    }
}

fn put_edges(out: &mut Vec<u8>, edges: &[[u32; 2]]) {
    let mut before = 0;
    for [u, v] in edges {
        number(out, u64::from(u - before));
        number(out, u64::from(v - u));
        before = *u;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hg2v::coarsen::CoarsenMethod;
    use hg2v::graph::{Features, WeightPolicy};
    use hg2v::vocabulary::Named;

    fn made(record: &GraphRecord, params: &Params) -> (Graph, Pyramid) {
        let (graph, _) = Graph::from_record(record, WeightPolicy::Abs).unwrap();
        let pyramid = coarsen(&graph, params).unwrap();
        (graph, pyramid)
    }

    fn path(num_nodes: u32) -> GraphRecord {
        let edges = (1..num_nodes).map(|v| [v - 1, v]).collect();
        GraphRecord { num_nodes, edges, ..GraphRecord::default() }
    }

    /// The numbers at the start of a sketch: base, cut, n, m.
    fn start(bytes: &[u8]) -> [u64; 4] {
        let mut at = 0;
        [(); 4].map(|()| {
            let (mut value, mut shift) = (0, 0);
            loop {
                let byte = bytes[at];
                at += 1;
                value |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return value;
                }
            }
        })
    }

    #[test]
    fn a_sketch_is_what_its_documentation_says() {
        // Three pixels in a row; the first two are one super-node, say.
        let values = vec![2.0, 5.0, 0.0, 2.0, 6.0, 0.5, 2.0, 7.0, 1.0];
        let record = GraphRecord { features: Some(Features { dim: 3, values }), ..path(3) };
        let (graph, _) = Graph::from_record(&record, WeightPolicy::Abs).unwrap();
        let level = |edges: Vec<[u32; 2]>| {
            let coarse = GraphRecord { num_nodes: 2, edges, ..GraphRecord::default() };
            hg2v::coarsen::Level {
                assignment: vec![0, 0, 1],
                graph: Graph::from_record(&coarse, WeightPolicy::Abs).unwrap().0,
            }
        };
        let scheme = Scheme {
            coordinates: Some(Coordinates { x: 1, y: 0, upwards: false }),
            colors: NodeColors::Attribute { column: 2, from: 0.0, to: 1.0 },
        };
        let sketch = |levels| {
            let pyramid = Pyramid { num_nodes: 3, levels, converged: true };
            scheme.sketch(&record, &graph, &pyramid)
        };
        let drawn = [0, 0, 3, 2, 0, 0, 1, 2, 0, 0, 0, 0, 127, 254, 0, 1, 1, 1];
        assert_eq!(sketch(Vec::new()), [&drawn[..], &[0]].concat());
        let edges = vec![[0, 1]];
        assert_eq!(sketch(vec![level(edges)]), [&drawn[..], &[1, 2, 0, 0, 1, 0]].concat());
        // Edges that are not the contracted ones are told.
        assert_eq!(sketch(vec![level(Vec::new())]), [&drawn[..], &[1, 2, 0, 0, 1, 1]].concat());
    }

    #[test]
    fn molecules_have_atoms_and_lines() {
        // Propyne, C–C≡C, in one line.
        let text =
            |labels: &[&str]| Some(labels.iter().map(|&label| Scalar::from(label)).collect());
        let (node_labels, edge_labels) = (text(&["CH3", "C", "CH"]), text(&["single", "triple"]));
        let record = GraphRecord { node_labels, edge_labels, ..path(3) };
        let scheme = Scheme::of(std::slice::from_ref(&record));
        assert!(matches!(&scheme.colors, NodeColors::Elements(known) if known.atoms.len() == 3));
        let (graph, pyramid) = made(&record, &Params::default());
        let bytes = scheme.sketch(&record, &graph, &Pyramid { levels: Vec::new(), ..pyramid });
        // Twelve bytes of places; then three carbons, two edges, three atoms, and their lines.
        assert_eq!(bytes[..5], [0, 0, 3, 2, 1]);
        assert_eq!(bytes[17..], [0, 0, 0, 0, 1, 1, 1, 2, 0, 1, 0, 4, 0]);
        // One that is too large is drawn coarsened, without atoms.
        let all = |label: &str, count| Some(vec![Scalar::from(label); count]);
        let (node_labels, edge_labels) = (all("CH2", 5000), all("single", 4999));
        let long = GraphRecord { node_labels, edge_labels, ..path(5000) };
        let scheme = Scheme::of(std::slice::from_ref(&long));
        let (graph, pyramid) = made(&long, &Params::default());
        let [base, cut, nodes, _] = start(&scheme.sketch(&long, &graph, &pyramid));
        assert!(base > 0 && cut == 0 && nodes <= MOST_NODES as u64, "{base} {cut} {nodes}");
    }

    #[test]
    fn large_graphs_are_drawn_coarsened_and_no_graph_is_too_large() {
        let scheme = Scheme { coordinates: None, colors: NodeColors::Degree };
        let long = path(5000);
        let (graph, pyramid) = made(&long, &Params::default());
        let [base, cut, nodes, edges] = start(&scheme.sketch(&long, &graph, &pyramid));
        assert!(base > 0 && cut == 0 && nodes <= MOST_NODES as u64, "{base} {cut} {nodes}");
        assert_eq!(edges, nodes - 1);
        // Where the pyramid ends too early, it is coarsened further.
        let low = Pyramid { levels: Vec::new(), ..pyramid };
        let [base, cut, nodes, _] = start(&scheme.sketch(&long, &graph, &low));
        assert!(base > 0 && cut == 0 && nodes <= MOST_NODES as u64, "{base} {cut} {nodes}");
        // Nothing to contract: only some nodes are drawn.
        let dust = GraphRecord { num_nodes: 5000, ..GraphRecord::default() };
        let (graph, pyramid) = made(&dust, &Params::default());
        let found = start(&scheme.sketch(&dust, &graph, &pyramid));
        assert_eq!(found, [0, 1, MOST_NODES as u64, 0]);
        let none = GraphRecord::default();
        let (graph, pyramid) = made(&none, &Params::default());
        assert_eq!(scheme.sketch(&none, &graph, &pyramid), [0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn only_kron_has_edges_that_are_not_contracted() {
        let side = 7;
        let node = |row: u32, column: u32| row * side + column;
        let right = (0..side).flat_map(|r| (1..side).map(move |c| [node(r, c - 1), node(r, c)]));
        let down = (1..side).flat_map(|r| (0..side).map(move |c| [node(r - 1, c), node(r, c)]));
        let edges = right.chain(down).collect();
        let grid = GraphRecord { num_nodes: side * side, edges, ..GraphRecord::default() };
        for method in CoarsenMethod::values() {
            let (graph, pyramid) = made(&grid, &Params::default().method(method));
            let level = &pyramid.levels[0];
            let own: Vec<[u32; 2]> = level.graph.edges().map(|(u, v, _)| [u, v]).collect();
            let same = own == contracted(&graph, &level.assignment);
            assert_eq!(same, method.contracts(), "{method}");
        }
    }

    #[test]
    fn schemes_prefer_labels_then_attributes_then_degrees() {
        let labels = Some(["C", "C", "O"].map(Scalar::from).to_vec());
        let labelled = GraphRecord { node_labels: labels, ..path(3) };
        let expected = NodeColors::Labels(["C", "O"].map(Scalar::from).to_vec());
        assert_eq!(Scheme::of(&[labelled]).colors, expected);
        let features = Some(Features { dim: 1, values: vec![-1.0, 0.0, 3.0] });
        let numbered = GraphRecord { features, ..path(3) };
        let expected = NodeColors::Attribute { column: 0, from: -1.0, to: 3.0 };
        assert_eq!(Scheme::of(&[numbered]).colors, expected);
        let constant = Some(Features { dim: 1, values: vec![2.0; 3] });
        let constant = GraphRecord { features: constant, ..path(3) };
        assert_eq!(Scheme::of(&[constant]).colors, NodeColors::Degree);
    }

    #[test]
    fn the_largest_numbers_are_drawn() {
        let values = vec![-1e308, 1e308, 1e308, -1e308, 0.0, 0.0];
        let record = GraphRecord { features: Some(Features { dim: 2, values }), ..path(3) };
        let scheme = Scheme {
            coordinates: Some(Coordinates { x: 0, y: 1, upwards: true }),
            colors: NodeColors::Attribute { column: 0, from: -1e308, to: 1e308 },
        };
        let (graph, pyramid) = made(&record, &Params::default());
        let bytes = scheme.sketch(&record, &graph, &pyramid);
        let x: Vec<u8> = [0u16, 4095, 2048].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(bytes[5..11], x);
    }
}
