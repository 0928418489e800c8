//! The usual random graphs: Erdős–Rényi, stochastic block, Barabási–Albert,
//! Watts–Strogatz and random geometric. Each takes time linear in nodes + edges.

use std::collections::HashSet;

use hg2v_math::rng::ChaCha8Rng;
use rand::RngExt;

use super::{Model, at_least, plain, probability, room_for_edges};
use crate::error::{Error, Result};
use crate::graph::{Features, GraphRecord, Scalar};

/// G(n, p): each pair is joined with probability p, independently
/// (Gilbert 1959; Erdős & Rényi 1959).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ErdosRenyi {
    /// n.
    pub nodes: u32,
    /// p.
    pub probability: f64,
}

hg2v_math::setters!(ErdosRenyi { nodes: u32, probability: f64 });

impl Default for ErdosRenyi {
    /// Half a thousand nodes of five neighbours.
    fn default() -> ErdosRenyi {
        ErdosRenyi { nodes: 500, probability: 0.01 }
    }
}

impl Model for ErdosRenyi {
    fn name(&self) -> &'static str {
        "erdos-renyi"
    }

    fn check(&self) -> Result<()> {
        at_least("nodes", self.nodes, 1)?;
        probability("probability", self.probability)?;
        let edges = f64::from(self.nodes).powi(2) / 2.0 * self.probability;
        room_for_edges("probability", self.probability, edges)
    }

    fn num_nodes(&self) -> u64 {
        u64::from(self.nodes)
    }

    fn graph(&self, _index: u64, rng: &mut ChaCha8Rng) -> GraphRecord {
        let mut edges = Vec::new();
        join_within(0, self.nodes, self.probability, rng, &mut edges);
        plain(self.nodes, edges)
    }
}

/// The stochastic block model (Holland, Laskey & Leinhardt 1983): nodes come in
/// blocks, a pair is joined with one probability within a block and another
/// between two. A node's label is its block, from 0; blocks are numbered one
/// after the other.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StochasticBlock {
    /// Nodes of each block.
    pub sizes: Vec<u32>,
    /// Probability of an edge within a block.
    pub p_in: f64,
    /// Probability of an edge between two blocks.
    pub p_out: f64,
}

hg2v_math::setters!(StochasticBlock { sizes: Vec<u32>, p_in: f64, p_out: f64 });

impl Default for StochasticBlock {
    /// Two blocks, ten times as dense within as between.
    fn default() -> StochasticBlock {
        StochasticBlock { sizes: vec![250, 250], p_in: 0.05, p_out: 0.005 }
    }
}

impl Model for StochasticBlock {
    fn name(&self) -> &'static str {
        "stochastic-block"
    }

    fn check(&self) -> Result<()> {
        let nodes = self.num_nodes();
        if nodes == 0 || nodes > u64::from(u32::MAX) {
            return Err(Error::parameter(
                "sizes",
                format!("{nodes} nodes in all"),
                "it must be from 1 to 2^32 − 1",
            ));
        }
        probability("p_in", self.p_in)?;
        probability("p_out", self.p_out)?;
        let half_square = |n: f64| n * n / 2.0;
        let within: f64 = self.sizes.iter().map(|&n| half_square(f64::from(n))).sum();
        let between = half_square(nodes as f64) - within;
        let edges = within * self.p_in + between * self.p_out;
        room_for_edges("p_in", self.p_in, edges)
    }

    fn num_nodes(&self) -> u64 {
        self.sizes.iter().map(|&size| u64::from(size)).sum()
    }

    fn graph(&self, _index: u64, rng: &mut ChaCha8Rng) -> GraphRecord {
        let mut edges = Vec::new();
        let mut labels = Vec::new();
        let mut first = 0;
        for (block, &size) in self.sizes.iter().enumerate() {
            join_within(first, size, self.p_in, rng, &mut edges);
            let mut other = first + size;
            for &other_size in &self.sizes[block + 1..] {
                let pairs = u64::from(size) * u64::from(other_size);
                for pair in Chosen::new(pairs, self.p_out, rng) {
                    let (u, v) = (pair / u64::from(other_size), pair % u64::from(other_size));
                    edges.push([first + u as u32, other + v as u32]);
                }
                other += other_size;
            }
            labels.extend((0..size).map(|_| Scalar::Int(block as i64)));
            first += size;
        }
        GraphRecord { node_labels: Some(labels), ..plain(first, edges) }
    }
}

/// Joins each pair of `first..first + size` with probability `p`.
fn join_within(first: u32, size: u32, p: f64, rng: &mut ChaCha8Rng, edges: &mut Vec<[u32; 2]>) {
    // Pairs are counted row by row: (1,0), (2,0), (2,1), (3,0), …; row v starts
    // at v(v−1)/2.
    let pairs = u64::from(size) * u64::from(size.saturating_sub(1)) / 2;
    let (mut row, mut row_start) = (1u64, 0u64);
    for pair in Chosen::new(pairs, p, rng) {
        while pair - row_start >= row {
            row_start += row;
            row += 1;
        }
        edges.push([first + (pair - row_start) as u32, first + row as u32]);
    }
}

/// The numbers of `0..count` that a coin of probability p chooses, ascending, in
/// time proportional to how many are chosen: the gap before the next one is
/// geometric, ⌊ln(1−u) / ln(1−p)⌋ (Batagelj & Brandes 2005).
struct Chosen<'a> {
    next: u64,
    count: u64,
    /// ln(1−p): 0 chooses none, −∞ all.
    log_miss: f64,
    rng: &'a mut ChaCha8Rng,
}

impl Chosen<'_> {
    fn new(count: u64, p: f64, rng: &mut ChaCha8Rng) -> Chosen<'_> {
        Chosen { next: 0, count, log_miss: (-p).ln_1p(), rng }
    }
}

impl Iterator for Chosen<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.log_miss == 0.0 {
            return None;
        }
        let u: f64 = self.rng.random();
        // The cast saturates, so a gap beyond every u64 ends the iteration.
        let gap = ((-u).ln_1p() / self.log_miss) as u64;
        let chosen = self.next.saturating_add(gap);
        if chosen >= self.count {
            self.next = self.count;
            return None;
        }
        self.next = chosen + 1;
        Some(chosen)
    }
}

/// Preferential attachment (Barabási & Albert 1999): a star of m + 1 nodes, then
/// each new node is joined to m distinct nodes drawn in proportion to their
/// degree. Exactly m(n − m) edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BarabasiAlbert {
    /// n.
    pub nodes: u32,
    /// m.
    pub attach: u32,
}

hg2v_math::setters!(BarabasiAlbert { nodes: u32, attach: u32 });

impl Default for BarabasiAlbert {
    /// Two edges for each of half a thousand nodes.
    fn default() -> BarabasiAlbert {
        BarabasiAlbert { nodes: 500, attach: 2 }
    }
}

impl Model for BarabasiAlbert {
    fn name(&self) -> &'static str {
        "barabasi-albert"
    }

    fn check(&self) -> Result<()> {
        at_least("attach", self.attach, 1)?;
        if self.nodes <= self.attach {
            return Err(Error::parameter(
                "nodes",
                self.nodes,
                format!("it must be more than {}, the edges of a new node", self.attach),
            ));
        }
        let edges = f64::from(self.nodes) * f64::from(self.attach);
        room_for_edges("attach", self.attach, edges)
    }

    fn num_nodes(&self) -> u64 {
        u64::from(self.nodes)
    }

    fn graph(&self, _index: u64, rng: &mut ChaCha8Rng) -> GraphRecord {
        let (n, m) = (self.nodes, self.attach);
        let mut edges: Vec<[u32; 2]> = Vec::with_capacity(m as usize * (n - m) as usize);
        edges.extend((1..=m).map(|leaf| [0, leaf]));
        // Which node last chose each one: a choice is new when it differs.
        let mut chosen_by = vec![0; n as usize];
        for node in m + 1..n {
            let ends_before = 2 * edges.len();
            let mut found = 0;
            while found < m {
                // The ends of all edges list each node as often as its degree.
                let end = rng.random_range(0..ends_before);
                let target = edges[end / 2][end % 2];
                if chosen_by[target as usize] != node {
                    chosen_by[target as usize] = node;
                    edges.push([target, node]);
                    found += 1;
                }
            }
        }
        plain(n, edges)
    }
}

/// A small world (Watts & Strogatz 1998): a ring where each node is joined to
/// its k nearest (k/2 on each side), then each edge's far end is moved, with
/// probability p, to a node chosen uniformly among those its near end is not
/// joined to. Exactly n·k/2 edges.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct WattsStrogatz {
    /// n.
    pub nodes: u32,
    /// k; even, below n.
    pub neighbors: u32,
    /// p.
    pub probability: f64,
}

hg2v_math::setters!(WattsStrogatz { nodes: u32, neighbors: u32, probability: f64 });

impl Default for WattsStrogatz {
    /// Six neighbours, and a tenth of the edges moved.
    fn default() -> WattsStrogatz {
        WattsStrogatz { nodes: 500, neighbors: 6, probability: 0.1 }
    }
}

impl Model for WattsStrogatz {
    fn name(&self) -> &'static str {
        "watts-strogatz"
    }

    fn check(&self) -> Result<()> {
        probability("probability", self.probability)?;
        let k = self.neighbors;
        if k < 2 || k % 2 == 1 || k >= self.nodes {
            return Err(Error::parameter(
                "neighbors",
                k,
                format!(
                    "it must be even, at least 2, and below {}, the number of nodes",
                    self.nodes
                ),
            ));
        }
        let edges = f64::from(self.nodes) * f64::from(k) / 2.0;
        room_for_edges("neighbors", k, edges)
    }

    fn num_nodes(&self) -> u64 {
        u64::from(self.nodes)
    }

    fn graph(&self, _index: u64, rng: &mut ChaCha8Rng) -> GraphRecord {
        let n = self.nodes;
        let pair = |u: u32, v: u32| [u.min(v), u.max(v)];
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for hop in 1..=self.neighbors / 2 {
            edges.extend((0..n).map(|u| {
                let v = (u64::from(u) + u64::from(hop)) % u64::from(n);
                [u, v as u32]
            }));
        }
        let mut joined: HashSet<[u32; 2]> = edges.iter().map(|&[u, v]| pair(u, v)).collect();
        let mut degrees = vec![self.neighbors; n as usize];
        for edge in &mut edges {
            let [u, v] = *edge;
            // A node joined to all others has nowhere to move an edge to.
            if !rng.random_bool(self.probability) || degrees[u as usize] == n - 1 {
                continue;
            }
            let moved = loop {
                let w = rng.random_range(0..n);
                if w != u && joined.insert(pair(u, w)) {
                    break w;
                }
            };
            joined.remove(&pair(u, v));
            degrees[v as usize] -= 1;
            degrees[moved as usize] += 1;
            *edge = [u, moved];
        }
        plain(n, edges)
    }
}

/// Points drawn uniformly from the unit square, joined where their distance is
/// at most r (Gilbert 1961). Features are the coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RandomGeometric {
    /// How many points.
    pub nodes: u32,
    /// r.
    pub radius: f64,
}

hg2v_math::setters!(RandomGeometric { nodes: u32, radius: f64 });

impl Default for RandomGeometric {
    /// Half a thousand points of some five neighbours.
    fn default() -> RandomGeometric {
        RandomGeometric { nodes: 500, radius: 0.06 }
    }
}

impl Model for RandomGeometric {
    fn name(&self) -> &'static str {
        "random-geometric"
    }

    fn check(&self) -> Result<()> {
        at_least("nodes", self.nodes, 1)?;
        if !(self.radius.is_finite() && self.radius >= 0.0) {
            return Err(Error::parameter("radius", self.radius, "it must be a number from 0 up"));
        }
        let share = (std::f64::consts::PI * self.radius * self.radius).min(1.0);
        let edges = f64::from(self.nodes).powi(2) / 2.0 * share;
        room_for_edges("radius", self.radius, edges)
    }

    fn num_nodes(&self) -> u64 {
        u64::from(self.nodes)
    }

    fn graph(&self, _index: u64, rng: &mut ChaCha8Rng) -> GraphRecord {
        let values: Vec<f64> = (0..2 * u64::from(self.nodes)).map(|_| rng.random()).collect();
        let points: Vec<[f64; 2]> = values.chunks_exact(2).map(|xy| [xy[0], xy[1]]).collect();
        GraphRecord {
            edges: close_pairs(&points, self.radius),
            features: Some(Features { dim: 2, values }),
            ..plain(self.nodes, Vec::new())
        }
    }
}

/// The pairs `[u, v]`, `u < v` ascending, of points of the unit square at most
/// `radius` apart, through a grid of cells no smaller than the radius.
fn close_pairs(points: &[[f64; 2]], radius: f64) -> Vec<[u32; 2]> {
    // No more cells than points: smaller ones would cost more than they save.
    let most = (points.len() as f64).sqrt().max(1.0);
    let side = (1.0 / radius).min(most).max(1.0) as usize;
    let cell_of = |x: f64| ((x * side as f64) as usize).min(side - 1);
    let cell = |p: &[f64; 2]| cell_of(p[1]) * side + cell_of(p[0]);
    // Counting sort: the points of cell c are members[starts[c]..starts[c + 1]].
    let mut starts = vec![0usize; side * side + 1];
    for point in points {
        starts[cell(point) + 1] += 1;
    }
    for c in 0..side * side {
        starts[c + 1] += starts[c];
    }
    let mut next = starts.clone();
    let mut members = vec![0u32; points.len()];
    for (node, point) in points.iter().enumerate() {
        let slot = &mut next[cell(point)];
        members[*slot] = node as u32;
        *slot += 1;
    }
    let mut edges = Vec::new();
    for (u, point) in points.iter().enumerate() {
        let first_of_u = edges.len();
        let (column, row) = (cell_of(point[0]), cell_of(point[1]));
        for r in row.saturating_sub(1)..=(row + 1).min(side - 1) {
            // Neighbouring cells of a row are neighbours in `members` too.
            let from = r * side + column.saturating_sub(1);
            let to = r * side + (column + 1).min(side - 1);
            for &v in &members[starts[from]..starts[to + 1]] {
                let [dx, dy] = [0, 1].map(|axis| points[v as usize][axis] - point[axis]);
                if v as usize > u && dx * dx + dy * dy <= radius * radius {
                    edges.push([u as u32, v]);
                }
            }
        }
        edges[first_of_u..].sort_unstable();
    }
    edges
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use hg2v_math::rng;

    fn graph(model: &dyn Model, seed: u64) -> GraphRecord {
        model.check().unwrap();
        let record = model.graph(0, &mut rng::stream(seed, model.name(), 0, 0));
        assert_eq!(u64::from(record.num_nodes), model.num_nodes());
        let distinct: BTreeSet<_> = record
            .edges
            .iter()
            .map(|&[u, v]| {
                assert!(u != v && u.max(v) < record.num_nodes);
                [u.min(v), u.max(v)]
            })
            .collect();
        assert_eq!(distinct.len(), record.edges.len(), "an edge came twice");
        record
    }

    fn degrees(record: &GraphRecord) -> Vec<u32> {
        let mut degrees = vec![0; record.num_nodes as usize];
        for &node in record.edges.iter().flatten() {
            degrees[node as usize] += 1;
        }
        degrees
    }

    /// Within five standard deviations of a binomial count.
    fn binomial(found: usize, trials: f64, p: f64) {
        let sigma = (trials * p * (1.0 - p)).sqrt();
        let off = (found as f64 - trials * p).abs();
        assert!(off <= 5.0 * sigma, "{found} is {off:.0} from {}, σ {sigma:.0}", trials * p);
    }

    #[test]
    fn erdos_renyi_edges_are_binomial() {
        let n = 2000.0;
        for p in [0.0005, 0.01, 0.3] {
            let model = ErdosRenyi { nodes: 2000, probability: p };
            let record = graph(&model, 1);
            binomial(record.edges.len(), n * (n - 1.0) / 2.0, p);
            // The variance of the degrees is that of a binomial too.
            let degrees = degrees(&record);
            let mean = degrees.iter().sum::<u32>() as f64 / n;
            let variance = degrees.iter().map(|&d| (f64::from(d) - mean).powi(2)).sum::<f64>() / n;
            let expected = (n - 1.0) * p * (1.0 - p);
            assert!((variance / expected - 1.0).abs() < 5.0 * (2.0 / n).sqrt() + 0.1);
        }
        let with = |p| graph(&ErdosRenyi { nodes: 50, probability: p }, 1).edges.len();
        assert_eq!((with(0.0), with(1.0)), (0, 50 * 49 / 2));
        // Too rare to happen, and no overflow on the way.
        assert_eq!(with(1e-300), 0);
    }

    #[test]
    fn every_pair_is_as_likely() {
        // Of 4000 graphs of 5 nodes at p = 0.4 each pair expects 1600, σ = 31.
        let mut times = std::collections::BTreeMap::new();
        for seed in 0..4000 {
            for edge in graph(&ErdosRenyi { nodes: 5, probability: 0.4 }, seed).edges {
                *times.entry(edge).or_insert(0usize) += 1;
            }
        }
        assert_eq!(times.len(), 10);
        times.values().for_each(|&found| binomial(found, 4000.0, 0.4));
    }

    #[test]
    fn blocks_have_their_densities() {
        let model = StochasticBlock { sizes: vec![300, 500, 200], p_in: 0.1, p_out: 0.01 };
        let record = graph(&model, 2);
        let labels = record.node_labels.as_ref().unwrap();
        assert_eq!(labels[299], Scalar::Int(0));
        assert_eq!(labels[300], Scalar::Int(1));
        assert_eq!(labels[999], Scalar::Int(2));
        let same = |e: &&[u32; 2]| labels[e[0] as usize] == labels[e[1] as usize];
        let within = record.edges.iter().filter(same).count();
        let pairs_within = [300.0, 500.0, 200.0].map(|n: f64| n * (n - 1.0) / 2.0);
        let pairs_within: f64 = pairs_within.iter().sum();
        binomial(within, pairs_within, 0.1);
        let pairs_between = 1000.0 * 999.0 / 2.0 - pairs_within;
        binomial(record.edges.len() - within, pairs_between, 0.01);
    }

    #[test]
    fn barabasi_albert_counts_and_hubs() {
        for m in [1, 2, 5] {
            let model = BarabasiAlbert { nodes: 3000, attach: m };
            let record = graph(&model, 3);
            assert_eq!(record.edges.len() as u32, m * (3000 - m));
            let degrees = degrees(&record);
            // The star's leaves may keep degree 1; every later node has m or more.
            assert!(degrees[m as usize + 1..].iter().all(|&d| d >= m));
        }
        // P(degree = m) = 2 / (m + 2) in the limit (Bollobás et al. 2001): with
        // m = 2, half of the nodes. σ of a share of 20 000 is 0.0035.
        let record = graph(&BarabasiAlbert { nodes: 20_000, attach: 2 }, 4);
        let degrees = degrees(&record);
        let share = degrees.iter().filter(|&&d| d == 2).count() as f64 / 20_000.0;
        assert!((share - 0.5).abs() < 0.02, "{share}");
        // Hubs grow as √n, far beyond what G(n, p) of that density has (about 15).
        assert!(degrees.iter().max() > Some(&100));
    }

    #[test]
    fn watts_strogatz_moves_the_share_it_should() {
        let ring = |p| WattsStrogatz { nodes: 1000, neighbors: 6, probability: p };
        let before = graph(&ring(0.0), 5);
        assert!(degrees(&before).iter().all(|&d| d == 6));
        let edges: BTreeSet<_> = before.edges.iter().copied().collect();
        for p in [0.1, 0.5] {
            let after = graph(&ring(p), 5);
            assert_eq!(after.edges.len(), 3000);
            let moved = after.edges.iter().filter(|e| !edges.contains(*e)).count();
            binomial(moved, 3000.0, p);
        }
        // Every near end keeps its k/2 edges, whatever moves.
        let near_ends = graph(&ring(1.0), 5).edges.iter().filter(|e| e[0] == 17).count();
        assert_eq!(near_ends, 3);
        // A complete graph has nowhere to move an edge to.
        let full = WattsStrogatz { nodes: 7, neighbors: 6, probability: 1.0 };
        assert_eq!(graph(&full, 5).edges.len(), 21);
    }

    #[test]
    fn random_geometric_equals_the_definition() {
        for radius in [0.0, 0.03, 0.2, 0.9, 2.0] {
            let record = graph(&RandomGeometric { nodes: 400, radius }, 6);
            let x = record.features.as_ref().unwrap();
            let mut naive = Vec::new();
            for u in 0..400 {
                for v in u + 1..400 {
                    let d = [0, 1].map(|axis| x.row(u)[axis] - x.row(v)[axis]);
                    if d[0] * d[0] + d[1] * d[1] <= radius * radius {
                        naive.push([u as u32, v as u32]);
                    }
                }
            }
            assert_eq!(record.edges, naive, "radius {radius}");
        }
    }

    #[test]
    fn parameters_outside_their_domain_are_refused() {
        let refused: [&dyn Model; 9] = [
            &ErdosRenyi { nodes: 0, probability: 0.5 },
            &ErdosRenyi { nodes: 5, probability: f64::NAN },
            &ErdosRenyi { nodes: u32::MAX, probability: 0.5 },
            &StochasticBlock { sizes: vec![], p_in: 0.5, p_out: 0.1 },
            &StochasticBlock { sizes: vec![u32::MAX; 9], p_in: 0.0, p_out: 0.0 },
            &BarabasiAlbert { nodes: 5, attach: 5 },
            &WattsStrogatz { nodes: 10, neighbors: 3, probability: 0.1 },
            &WattsStrogatz { nodes: 10, neighbors: 10, probability: 0.1 },
            &RandomGeometric { nodes: 10, radius: -1.0 },
        ];
        for model in refused {
            assert!(model.check().is_err(), "{}", model.name());
        }
    }
}
