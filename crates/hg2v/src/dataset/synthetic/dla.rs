//! Diffusion-limited aggregation (Witten & Sander 1981).
//!
//! A cluster starts as one particle at the origin. Particles come one by one
//! from far away, wander, and when one touches the cluster it sticks with
//! probability p, else it wanders on. Each particle is a node, its bond to the
//! particle it stuck to an edge, so the graph is a tree; the features are x, y.
//!
//! **The walk** is a sequence of Gaussian steps of standard deviation σ along
//! each axis. Two discs of radius r touch when their centres are within 2r.
//!
//! **Soft particles** (the default) are those of the sets the paper's authors
//! ship: contact is looked for where a step ends, so a particle may overlap the
//! one it sticks to (it bonds to the nearest), and one that does not stick walks
//! on through the cluster. **Hard particles** are the textbook's: contact is
//! where the step first meets a disc, a bond is exactly 2r long, nothing
//! overlaps, and one that does not stick is turned back to where its step began.
//!
//! **What the shipped sets are.** In DLA.zip and DLA2.zip (1002 trees of 100
//! nodes each) the root is the origin, nodes come in order of arrival, no bond is
//! longer than 2r and many are much shorter: soft particles. Label 1 is p = 1,
//! label 2 is p = 0.05. With r = 1, σ = 2 this model gives the same clusters as
//! DLA.zip, with r = 2, σ = 2 those of DLA2.zip, whose walkers were kept within 40
//! of the origin, which flattens its largest clusters:
//!
//! | set, class | radius of gyration | quartiles of bond length | leaves |
//! |---|---|---|---|
//! | DLA, p = 1 | 8.49, here 8.51 | 0.86 1.33 1.70, here 0.86 1.32 1.70 | 34.4 %, here 34.5 % |
//! | DLA, p = 0.05 | 5.30, here 5.21 | 0.58 0.96 1.47, here 0.57 0.95 1.45 | 43.1 %, here 43.5 % |
//! | DLA2, p = 1 | 20.9, here 22.0 | 2.52 3.19 3.65, here 2.54 3.21 3.66 | 26.9 %, here 26.6 % |
//! | DLA2, p = 0.05 | 12.0, here 12.1 | 1.28 2.11 3.08, here 1.28 2.12 3.09 | 41.5 %, here 41.5 % |
//!
//! **Speed.** Nothing is decided far from the cluster, so the walk jumps there.
//! Inside an empty circle Brownian motion leaves through a uniformly distributed
//! point: one draw replaces the walk across it. How large a circle is empty is
//! read from a pyramid of grids, where a cell is marked once a particle lies in it
//! or in one of its eight neighbours: in an unmarked cell the cluster is at least
//! a cell's side away. Outside the cluster's bounding circle the point where the
//! walk returns to it has a known law (the exterior Poisson kernel), so a walker
//! is never lost and never followed there.

use std::f64::consts::TAU;

use hg2v_math::rng::ChaCha8Rng;
use rand::RngExt;

use super::{Model, at_least};
use crate::error::{Error, Result};
use crate::graph::{Features, GraphRecord, Scalar};

/// How clusters grow.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Dla {
    /// Particles of a cluster.
    pub nodes: u32,
    /// The probability of sticking on contact, one a class: graph i is of class
    /// `i mod classes`, and its label is that class counted from 1.
    pub stickiness: Vec<f64>,
    /// The radius r of a particle.
    pub radius: f64,
    /// The standard deviation σ of a step along each axis.
    pub step: f64,
    /// Hard particles instead of soft ones.
    pub hard: bool,
}

hg2v_math::setters!(Dla { nodes: u32, stickiness: Vec<f64>, radius: f64, step: f64, hard: bool });

impl Default for Dla {
    /// The paper's set: clusters of 500, p = 1 and p = 0.05, with the r and σ of
    /// the DLA set its authors ship.
    fn default() -> Dla {
        Dla { nodes: 500, stickiness: vec![1.0, 0.05], radius: 1.0, step: 2.0, hard: false }
    }
}

impl Model for Dla {
    fn name(&self) -> &'static str {
        "dla"
    }

    fn check(&self) -> Result<()> {
        at_least("nodes", self.nodes, 1)?;
        if self.stickiness.is_empty() {
            return Err(Error::parameter("stick", "empty", "it must list a probability"));
        }
        for &p in &self.stickiness {
            // A particle would wander for ever at 0, and for an age near it.
            if !(1e-4..=1.0).contains(&p) {
                return Err(Error::parameter("stick", p, "it must be from 0.0001 to 1"));
            }
        }
        for (name, value) in [("radius", self.radius), ("step", self.step)] {
            if !(1e-6..=1e6).contains(&value) {
                return Err(Error::parameter(name, value, "it must be from 1e-6 to 1e6"));
            }
        }
        let ratio = self.step / self.radius;
        if !(0.01..=100.0).contains(&ratio) {
            return Err(Error::parameter(
                "step",
                self.step,
                format!("it must be from 1/100 to 100 times the radius, {}", self.radius),
            ));
        }
        Ok(())
    }

    fn num_nodes(&self) -> u64 {
        u64::from(self.nodes)
    }

    fn graph(&self, index: u64, rng: &mut ChaCha8Rng) -> GraphRecord {
        let class = (index % self.stickiness.len() as u64) as usize;
        let mut cluster = Cluster::new(2.0 * self.radius, self.step);
        let mut edges = Vec::new();
        while cluster.particles.len() < self.nodes as usize {
            let (position, bond) = self.walk(&cluster, self.stickiness[class], rng);
            edges.push([bond, cluster.particles.len() as u32]);
            cluster.add(position);
        }
        GraphRecord {
            label: Some(Scalar::Int(class as i64 + 1)),
            num_nodes: self.nodes,
            edges,
            features: Some(Features { dim: 2, values: cluster.particles.concat() }),
            ..GraphRecord::default()
        }
    }
}

type Point = [f64; 2];

impl Dla {
    /// Sends one particle in; where it sticks, and to which particle.
    fn walk(&self, cluster: &Cluster, stickiness: f64, rng: &mut ChaCha8Rng) -> (Point, u32) {
        let mut at = on_circle([0.0, 0.0], cluster.launch_radius, rng);
        loop {
            if square(at) > cluster.launch_radius * cluster.launch_radius {
                at = return_to_circle(at, cluster.launch_radius, rng);
            }
            let jump = cluster.empty_radius(at);
            if jump > 0.0 {
                at = on_circle(at, jump, rng);
                continue;
            }
            let end = add(at, gaussian(self.step, rng));
            // The coin is thrown whether or not there is contact, which changes
            // no law and spares soft particles most of the looking.
            let sticky = rng.random::<f64>() < stickiness;
            if self.hard {
                match cluster.first_hit(at, end) {
                    Some(contact) if sticky => return contact,
                    Some(_) => {}
                    None => at = end,
                }
            } else {
                at = end;
                if sticky && let Some(bond) = cluster.nearest_within_reach(at) {
                    return (at, bond);
                }
            }
        }
    }
}

/// The particles so far, and how to find them.
struct Cluster {
    particles: Vec<Point>,
    /// Particles touch within this distance, 2r.
    reach: f64,
    step: f64,
    /// The farthest a particle is from the origin.
    radius: f64,
    /// Where particles come from: a circle around the whole cluster.
    launch_radius: f64,
    grid: Grid,
}

impl Cluster {
    /// One particle at the origin.
    fn new(reach: f64, step: f64) -> Cluster {
        let mut cluster = Cluster {
            particles: Vec::new(),
            reach,
            step,
            radius: 0.0,
            launch_radius: 0.0,
            grid: Grid::new(reach.max(step), 16.0 * (reach + step)),
        };
        cluster.add([0.0, 0.0]);
        cluster
    }

    fn add(&mut self, position: Point) {
        self.particles.push(position);
        self.radius = self.radius.max(square(position).sqrt());
        // Far enough that a step from there seldom reaches the cluster.
        self.launch_radius = self.radius + self.reach + 4.0 * self.step;
        if self.launch_radius > self.grid.half_width {
            self.grid = Grid::new(self.grid.cell, 2.0 * self.launch_radius);
            for (id, &particle) in self.particles.iter().enumerate() {
                self.grid.insert(id as u32, particle);
            }
        } else {
            let id = self.particles.len() as u32 - 1;
            self.grid.insert(id, position);
        }
    }

    /// The radius of a circle around `at`, in the launch circle, that a walker
    /// can cross without touching; 0 when it is better to step.
    fn empty_radius(&self, at: Point) -> f64 {
        let empty = self.grid.empty_distance(at) - self.reach;
        // A jump shorter than a step or two gains nothing.
        if empty < 2.0 * self.step { 0.0 } else { empty }
    }

    /// The particle nearest to `at`, if it touches.
    fn nearest_within_reach(&self, at: Point) -> Option<u32> {
        if !self.grid.may_be_near(at) {
            return None;
        }
        let mut nearest = None;
        let mut least = self.reach * self.reach;
        self.grid.around(at, at, |id| {
            let distance = square(subtract(self.particles[id as usize], at));
            if distance <= least {
                least = distance;
                nearest = Some(id);
            }
        });
        nearest
    }

    /// Where a disc moving straight from `start` to `end` first touches a
    /// particle, and which one: the least t of |start + t·d − q| = reach.
    fn first_hit(&self, start: Point, end: Point) -> Option<(Point, u32)> {
        let d = subtract(end, start);
        let length = square(d);
        let mut first = None;
        let mut least = 1.0;
        self.grid.around(start, end, |id| {
            let to = subtract(self.particles[id as usize], start);
            let toward = dot(d, to);
            let discriminant = toward * toward - length * (square(to) - self.reach * self.reach);
            if toward > 0.0 && discriminant > 0.0 {
                let t = (toward - discriminant.sqrt()) / length;
                if t <= least {
                    least = t.max(0.0);
                    first = Some(id);
                }
            }
        });
        let bond = first?;
        // Exactly at contact, whatever rounding did to t.
        let touched = self.particles[bond as usize];
        let away = subtract(add(start, scale(d, least)), touched);
        let position = add(touched, scale(away, self.reach / square(away).sqrt()));
        Some((position, bond))
    }
}

/// Cells over the square `[−half_width, half_width]²`: lists of particles on the
/// finest level, marks on the coarser ones.
struct Grid {
    half_width: f64,
    /// The side of a finest cell.
    cell: f64,
    side: usize,
    /// The last particle of each finest cell, and for each particle the one before.
    last: Vec<u32>,
    before: Vec<u32>,
    /// Level l has cells of side `cell · 2^l`; a cell is marked when a particle
    /// is in it or beside it.
    marks: Vec<Level>,
}

struct Level {
    side: usize,
    near: Vec<bool>,
}

const NOBODY: u32 = u32::MAX;

impl Grid {
    /// An empty grid over at least `half_width`.
    fn new(cell: f64, half_width: f64) -> Grid {
        // A power of two, so that every level halves the last one exactly.
        let side = ((2.0 * half_width / cell).ceil() as usize).next_power_of_two();
        let levels = side.trailing_zeros() as usize;
        Grid {
            half_width: side as f64 * cell / 2.0,
            cell,
            side,
            last: vec![NOBODY; side * side],
            before: Vec::new(),
            marks: (0..levels)
                .map(|level| Level {
                    side: side >> level,
                    near: vec![false; (side >> level) * (side >> level)],
                })
                .collect(),
        }
    }

    /// Column and row of the finest cell of `at`, which the nearest inner one
    /// stands for where `at` is outside.
    fn cell_of(&self, at: Point) -> [usize; 2] {
        at.map(|x| (((x + self.half_width) / self.cell) as usize).min(self.side - 1))
    }

    fn insert(&mut self, id: u32, at: Point) {
        let [column, row] = self.cell_of(at);
        self.before.push(std::mem::replace(&mut self.last[row * self.side + column], id));
        for (level, marks) in self.marks.iter_mut().enumerate() {
            for r in beside(row >> level, marks.side) {
                for c in beside(column >> level, marks.side) {
                    marks.near[r * marks.side + c] = true;
                }
            }
        }
    }

    /// Whether a particle may be within a cell's side of `at`.
    fn may_be_near(&self, at: Point) -> bool {
        let [column, row] = self.cell_of(at);
        self.marks[0].near[row * self.side + column]
    }

    /// A distance from `at` within which there is surely no particle; 0 where
    /// one may be near.
    fn empty_distance(&self, at: Point) -> f64 {
        let [column, row] = self.cell_of(at);
        let marked = |(level, marks): (usize, &Level)| {
            marks.near[(row >> level) * marks.side + (column >> level)]
        };
        // A cell unmarked at one level lies in cells that may be marked above.
        match self.marks.iter().enumerate().take_while(|&l| !marked(l)).count() {
            0 => 0.0,
            unmarked => self.cell * (1u64 << (unmarked - 1)) as f64,
        }
    }

    /// Calls `found` for every particle within a cell's side of the segment from
    /// `start` to `end` (and some farther ones).
    fn around(&self, start: Point, end: Point, mut found: impl FnMut(u32)) {
        let (a, b) = (self.cell_of(start), self.cell_of(end));
        let span = |axis: usize| {
            let (low, high) = (a[axis].min(b[axis]), a[axis].max(b[axis]));
            low.saturating_sub(1)..=(high + 1).min(self.side - 1)
        };
        for row in span(1) {
            for column in span(0) {
                let mut id = self.last[row * self.side + column];
                while id != NOBODY {
                    found(id);
                    id = self.before[id as usize];
                }
            }
        }
    }
}

/// A cell's position and those beside it, in a row of `side` cells.
fn beside(position: usize, side: usize) -> std::ops::RangeInclusive<usize> {
    position.saturating_sub(1)..=(position + 1).min(side - 1)
}

/// A point of the circle around `center`, uniformly.
fn on_circle(center: Point, radius: f64, rng: &mut ChaCha8Rng) -> Point {
    let (sin, cos) = (TAU * rng.random::<f64>()).sin_cos();
    add(center, [radius * cos, radius * sin])
}

/// Where Brownian motion from `at`, outside the circle of `radius` around the
/// origin, first meets it. The exterior Poisson kernel is a wrapped Cauchy law
/// around the direction of `at`: with D = |at|, the angle from it is
/// 2·atan( (D−R)/(D+R) · tan(π(u − ½)) ), u uniform.
fn return_to_circle(at: Point, radius: f64, rng: &mut ChaCha8Rng) -> Point {
    let distance = square(at).sqrt();
    let spread = (distance - radius) / (distance + radius);
    let angle = 2.0 * (spread * (TAU / 2.0 * (rng.random::<f64>() - 0.5)).tan()).atan();
    let (sin, cos) = angle.sin_cos();
    let [x, y] = scale(at, radius / distance);
    [x * cos - y * sin, x * sin + y * cos]
}

/// Two independent normal numbers (Marsaglia's polar method).
fn gaussian(deviation: f64, rng: &mut ChaCha8Rng) -> Point {
    loop {
        let p = [(); 2].map(|()| 2.0 * rng.random::<f64>() - 1.0);
        let s = square(p);
        if s > 0.0 && s < 1.0 {
            return scale(p, deviation * (-2.0 * s.ln() / s).sqrt());
        }
    }
}

fn add(a: Point, b: Point) -> Point {
    [a[0] + b[0], a[1] + b[1]]
}

fn subtract(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

fn scale(a: Point, factor: f64) -> Point {
    [a[0] * factor, a[1] * factor]
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn square(a: Point) -> f64 {
    dot(a, a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hg2v_math::rng;

    fn cluster(model: &Dla, index: u64) -> (GraphRecord, Vec<Point>) {
        model.check().unwrap();
        let record = model.graph(index, &mut rng::stream(1, "dla", 0, index));
        let x = record.features.as_ref().unwrap();
        assert_eq!((x.dim, x.values.len()), (2, 2 * model.nodes as usize));
        let points = x.values.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
        (record, points)
    }

    fn distance(a: Point, b: Point) -> f64 {
        square(subtract(a, b)).sqrt()
    }

    /// Root mean square distance from the centre of mass.
    fn radius_of_gyration(points: &[Point]) -> f64 {
        let n = points.len() as f64;
        let center = scale(points.iter().fold([0.0; 2], |sum, &p| add(sum, p)), 1.0 / n);
        let spread: f64 = points.iter().map(|&p| square(subtract(p, center))).sum();
        (spread / n).sqrt()
    }

    fn mean_radius(model: &Dla, clusters: u64) -> f64 {
        let radii = (0..clusters).map(|index| radius_of_gyration(&cluster(model, index).1));
        radii.sum::<f64>() / clusters as f64
    }

    #[test]
    fn clusters_are_trees_grown_from_the_origin() {
        for hard in [false, true] {
            let model = Dla { nodes: 200, hard, ..Dla::default() };
            for index in 0..4 {
                let (record, points) = cluster(&model, index);
                assert_eq!(points[0], [0.0, 0.0]);
                assert_eq!(record.label, Some((index as i64 % 2 + 1).into()));
                // Each particle bonds to an earlier one: connected, n − 1 edges.
                assert_eq!(record.edges.len(), 199);
                for (child, edge) in (1..).zip(&record.edges) {
                    assert_eq!(edge[1], child);
                    assert!(edge[0] < child);
                }
            }
        }
        let lone = Dla { nodes: 1, ..Dla::default() };
        assert_eq!(cluster(&lone, 0).1, [[0.0, 0.0]]);
    }

    #[test]
    fn soft_particles_bond_to_the_nearest_within_reach() {
        let (record, points) = cluster(&Dla { nodes: 300, ..Dla::default() }, 0);
        for &[parent, child] in &record.edges {
            let bond = distance(points[parent as usize], points[child as usize]);
            assert!(bond <= 2.0);
            let earlier = &points[..child as usize];
            assert!(earlier.iter().all(|&p| distance(p, points[child as usize]) >= bond));
        }
    }

    #[test]
    fn hard_particles_touch_and_never_overlap() {
        for (radius, step) in [(1.0, 1.0), (0.5, 2.0), (3.0, 0.7)] {
            let model = Dla { nodes: 150, radius, step, hard: true, ..Dla::default() };
            for index in 0..2 {
                let (record, points) = cluster(&model, index);
                for &[parent, child] in &record.edges {
                    let bond = distance(points[parent as usize], points[child as usize]);
                    assert!((bond / (2.0 * radius) - 1.0).abs() < 1e-12);
                }
                for (i, &p) in points.iter().enumerate() {
                    let closest = points[..i].iter().map(|&q| distance(p, q));
                    assert!(closest.fold(f64::MAX, f64::min) > 2.0 * radius * (1.0 - 1e-9));
                }
            }
        }
    }

    #[test]
    fn less_sticky_clusters_are_denser() {
        for hard in [false, true] {
            let with = |p| Dla { nodes: 200, stickiness: vec![p], hard, ..Dla::default() };
            let (open, dense) = (mean_radius(&with(1.0), 10), mean_radius(&with(0.05), 10));
            // The mean of ten radii has a standard error of about 2 %.
            assert!(dense < 0.85 * open, "{dense} against {open}, hard: {hard}");
        }
    }

    #[test]
    fn the_fractal_dimension_is_that_of_the_plane() {
        // Radius of gyration ∝ n^(1/D), D = 1.71 for off-lattice clusters
        // (Tolman & Meakin 1989). From n = 400 to 6400, six clusters each, the
        // estimate scatters by about 0.04 over seeds; 0.12 is three times that.
        let of = |nodes| {
            let model =
                Dla { nodes, stickiness: vec![1.0], step: 1.0, hard: true, ..Dla::default() };
            mean_radius(&model, 6)
        };
        let dimension = 16f64.ln() / (of(6400) / of(400)).ln();
        assert!((dimension - 1.71).abs() < 0.12, "{dimension}");
    }

    #[test]
    fn jumping_gives_the_clusters_of_plain_walking() {
        // The specification: every step taken, contact with every particle
        // tried, and a walker beyond a far circle brought back to it.
        fn naive(model: &Dla, index: u64) -> Vec<Point> {
            let mut rng = rng::stream(2, "naive", 0, index);
            let mut points: Vec<Point> = vec![[0.0, 0.0]];
            while points.len() < model.nodes as usize {
                let far = 10.0 + points.iter().map(|&p| square(p).sqrt()).fold(0.0, f64::max);
                let mut at = on_circle([0.0; 2], far, &mut rng);
                loop {
                    at = add(at, gaussian(model.step, &mut rng));
                    if square(at) > 4.0 * far * far {
                        at = return_to_circle(at, 2.0 * far, &mut rng);
                    }
                    let touches = points.iter().any(|&p| distance(p, at) <= 2.0 * model.radius);
                    if touches && rng.random::<f64>() < model.stickiness[0] {
                        break;
                    }
                }
                points.push(at);
            }
            points
        }
        // 60 clusters of 60: the mean radius has a standard error near 1 %.
        for p in [1.0, 0.05] {
            let model = Dla { nodes: 60, stickiness: vec![p], ..Dla::default() };
            let slow = (0..60).map(|index| radius_of_gyration(&naive(&model, index)));
            let ratio = mean_radius(&model, 60) / (slow.sum::<f64>() / 60.0);
            assert!((ratio - 1.0).abs() < 0.05, "{ratio} at p = {p}");
        }
    }

    #[test]
    fn returning_walkers_follow_the_poisson_kernel() {
        // From (D, 0) the mean of cos θ on the circle of radius R is R/D.
        let mut rng = rng::stream(3, "poisson", 0, 0);
        let draws = 20_000;
        let cosines = (0..draws).map(|_| return_to_circle([3.0, 0.0], 2.0, &mut rng)[0] / 2.0);
        let mean = cosines.sum::<f64>() / f64::from(draws);
        assert!((mean - 2.0 / 3.0).abs() < 5.0 * 0.5 / f64::from(draws).sqrt(), "{mean}");
    }

    #[test]
    fn parameters_outside_their_domain_are_refused() {
        let good = Dla::default();
        let refused = [
            Dla { nodes: 0, ..good.clone() },
            Dla { stickiness: vec![], ..good.clone() },
            Dla { stickiness: vec![0.0], ..good.clone() },
            Dla { stickiness: vec![f64::NAN], ..good.clone() },
            Dla { radius: 0.0, ..good.clone() },
            Dla { step: f64::INFINITY, ..good.clone() },
            Dla { step: 1e-4, ..good },
        ];
        for model in refused {
            assert!(model.check().is_err(), "{model:?}");
        }
    }
}
