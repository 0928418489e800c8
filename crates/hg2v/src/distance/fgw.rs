//! The fused Gromov–Wasserstein distance between graphs with attributes.
//!
//! One coupling `π` of the nodes of both graphs is to keep edges and attributes alike:
//!
//! ```text
//! E(π) = s·Σ π(u,v)·π(u',v')·ℓ(A₁(u,u'), A₂(v,v')) + f·Σ π(u,v)·m(Z₁(u), Z₂(v))
//! ```
//!
//! minimised over `π ≥ 0` with uniform marginals.
//!
//! | | ℓ(a, b) | m(x, y) | s | f |
//! |---|---|---|---|---|
//! | [`Params::paper`], the metric of the paper's continuity lemma | \|a − b\| | ‖x − y‖ | 1 | 2 |
//! | [`Params::square`], FGW of Vayer et al. 2019 | (a − b)² | ‖x − y‖² | α | 1 − α |
//!
//! In the paper's form each of its two attribute terms sums to `Σ π·m`, because the
//! marginals of `π` sum to 1: hence `f = 2`.
//!
//! **How.** Both losses split, for weights `a, b ≥ 0`, into `ℓ(a, b) = h(a) + h(b) −
//! 2·g(a, b)` with `g(a, 0) = 0`: `h(a) = a, g = min(a, b)` or `h(a) = a², g = a·b`.
//! Under fixed marginals the first two are constant, so that
//!
//! ```text
//! E(π) = s·(const − 2·⟨X(π), π⟩) + f·⟨M, π⟩    with X(π)(u,v) = Σ_(u'~u, v'~v) g(A₁(u,u'), A₂(v,v'))·π(u',v')
//! ```
//!
//! sums over edges only. `E` is a quadratic function along any segment, for either
//! loss, so conditional gradients (Frank and Wolfe 1956) can take the exactly best
//! step towards the plan that [`transport`](super::transport) finds for the gradient.
//! `E` is not convex: what is found is stationary and an upper bound. [`fgw`] starts
//! from several plans and keeps the best.

use super::ground::Turned;
use super::transport::{Plan, uniform};
use crate::error::{Error, Result};
use crate::graph::{Features, Graph};

/// What is compared, and how long is searched.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Params {
    /// How edges and attributes are compared.
    pub discrepancy: Discrepancy,
    /// `s`, the weight of the structure.
    pub structure: f64,
    /// `f`, the weight of the attributes.
    pub attributes: f64,
    /// The most steps from one start.
    pub most_steps: usize,
    /// The search ends where a step can gain no more than this share of `E`.
    pub tolerance: f64,
}

hg2v_math::setters!(Params {
    discrepancy: Discrepancy,
    structure: f64,
    attributes: f64,
    most_steps: usize,
    tolerance: f64,
});

/// How edge weights and attributes are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Discrepancy {
    /// `|a − b|` and `‖x − y‖`.
    Absolute,
    /// `(a − b)²` and `‖x − y‖²`.
    Square,
}

impl Discrepancy {
    /// `h(a)`.
    fn alone(self, a: f64) -> f64 {
        match self {
            Discrepancy::Absolute => a,
            Discrepancy::Square => a * a,
        }
    }

    /// `g(a, b)`.
    fn shared(self, a: f64, b: f64) -> f64 {
        match self {
            Discrepancy::Absolute => a.min(b),
            Discrepancy::Square => a * b,
        }
    }
}

impl Params {
    /// The paper's distance.
    pub fn paper() -> Params {
        Params {
            discrepancy: Discrepancy::Absolute,
            structure: 1.0,
            attributes: 2.0,
            most_steps: 1000,
            tolerance: 1e-10,
        }
    }

    /// Vayer et al.'s, with `α` of structure and `1 − α` of attributes.
    pub fn square(alpha: f64) -> Params {
        Params {
            discrepancy: Discrepancy::Square,
            structure: alpha,
            attributes: 1.0 - alpha,
            ..Params::paper()
        }
    }

    /// Checks each field.
    ///
    /// # Errors
    /// One for the first field outside its domain.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [("structure", self.structure), ("attributes", self.attributes)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Error::argument(name, value, "it must be finite and at least 0"));
            }
        }
        Ok(())
    }
}

/// A graph with a row of attributes for each node; rows may be empty.
#[derive(Debug, Clone, Copy)]
pub struct Attributed<'a> {
    /// `A`.
    pub graph: &'a Graph,
    /// `Z`.
    pub attributes: &'a Features,
}

/// A coupling that cannot be improved along any straight line.
#[derive(Debug, Clone, PartialEq)]
pub struct Coupling {
    /// `E(π)`.
    pub distance: f64,
    /// `π`, row after row.
    pub plan: Vec<f64>,
    /// How many steps it took.
    pub steps: usize,
    /// What one more step could gain at most, to first order.
    pub gap: f64,
}

/// The smallest `E` found from these starts: all nodes spread over all; the best plan
/// for attributes alone; the best for attributes and strengths of nodes; and nodes in
/// their order, where there are equally many.
///
/// # Examples
/// ```
/// use hg2v::distance::fgw::{Attributed, Params, fgw};
/// use hg2v::graph::{Features, Graph, GraphRecord, WeightPolicy};
/// // A path of three nodes against a triangle: one edge in nine pairs, said twice.
/// let graph = |edges: Vec<[u32; 2]>| {
///     let record = GraphRecord { num_nodes: 3, edges, ..GraphRecord::default() };
///     Graph::from_record(&record, WeightPolicy::Use).unwrap().0
/// };
/// let (path, triangle) = (graph(vec![[0, 1], [1, 2]]), graph(vec![[0, 1], [1, 2], [0, 2]]));
/// let none = Features::default();
/// let [a, b] = [&path, &triangle].map(|graph| Attributed { graph, attributes: &none });
/// let found = fgw(a, b, &Params::paper())?;
/// assert!((found.distance - 2.0 / 9.0).abs() < 1e-12);
/// # Ok::<(), hg2v::Error>(())
/// ```
///
/// # Errors
/// A graph without nodes; attributes that are not a row of equal length for each node;
/// weights of the parts that are negative.
///
/// # Complexity
/// A step takes a transport problem and `O(n·m + Σ deg(u)·deg(v))` over the pairs that
/// its plan joins.
pub fn fgw(a: Attributed<'_>, b: Attributed<'_>, params: &Params) -> Result<Coupling> {
    let problem = Problem::new(a, b, params)?;
    let (n, m) = (problem.n, problem.m);
    let mut starts = vec![problem.spread()];
    if problem.attributes.iter().any(|&cost| cost > 0.0) {
        starts.push(dense(&uniform(&problem.attributes, n, m)?, n, m));
    }
    starts.push(dense(&uniform(&problem.with_strengths(a.graph, b.graph), n, m)?, n, m));
    if n == m {
        let same = |at: usize| if at / m == at % m { 1.0 / n as f64 } else { 0.0 };
        starts.push((0..n * m).map(same).collect());
    }
    let mut best: Option<Coupling> = None;
    for start in starts {
        let found = problem.descend(start, params)?;
        if best.as_ref().is_none_or(|best| found.distance < best.distance) {
            best = Some(found);
        }
    }
    best.ok_or_else(|| no_nodes("either graph"))
}

/// As [`fgw`], from one start: `start` (row after row), or all nodes spread over all.
///
/// # Errors
/// As [`fgw`]; a start of another shape.
///
/// # Complexity
/// As [`fgw`], whose starts are up to four.
pub fn descend(
    a: Attributed<'_>,
    b: Attributed<'_>,
    params: &Params,
    start: Option<Vec<f64>>,
) -> Result<Coupling> {
    let problem = Problem::new(a, b, params)?;
    let start = start.unwrap_or_else(|| problem.spread());
    if start.len() != problem.n * problem.m {
        let requirement = format!("there must be {} × {}", problem.n, problem.m);
        return Err(Error::argument("the size of the start", start.len(), requirement));
    }
    problem.descend(start, params)
}

/// What does not change on the way.
struct Problem<'a> {
    graphs: [&'a Graph; 2],
    params: &'a Params,
    n: usize,
    m: usize,
    /// `M`, row after row.
    attributes: Vec<f64>,
    /// `Σ_u' h(A₁(u,u'))/n` of each row, and likewise of each column.
    alone: [Vec<f64>; 2],
}

impl<'a> Problem<'a> {
    fn new(a: Attributed<'a>, b: Attributed<'a>, params: &'a Params) -> Result<Problem<'a>> {
        params.check()?;
        for (of, side) in [(a, "the first graph"), (b, "the second graph")] {
            let (n, rows) = (of.graph.num_nodes(), of.attributes);
            if n == 0 {
                return Err(no_nodes(side));
            }
            if rows.values.len() != n * rows.dim {
                let requirement = format!("there must be {} for each of {n} nodes", rows.dim);
                let found = rows.values.len();
                return Err(Error::argument("the number of attributes", found, requirement));
            }
        }
        if a.attributes.dim != b.attributes.dim {
            let requirement = format!("the other graph's nodes have {}", b.attributes.dim);
            return Err(Error::argument("attributes a node", a.attributes.dim, requirement));
        }
        let (n, m) = (a.graph.num_nodes(), b.graph.num_nodes());
        let mut attributes = vec![0.0; n * m];
        Turned::new(b.attributes, m).add_squares(a.attributes, &mut attributes);
        if params.discrepancy == Discrepancy::Absolute {
            attributes.iter_mut().for_each(|square| *square = square.sqrt());
        }
        let alone = [a.graph, b.graph].map(|graph| {
            let n = graph.num_nodes();
            let sum = |node| -> f64 {
                graph.weights(node).iter().map(|&w| params.discrepancy.alone(f64::from(w))).sum()
            };
            (0..n).map(|node| sum(node) / n as f64).collect()
        });
        Ok(Problem { graphs: [a.graph, b.graph], params, n, m, attributes, alone })
    }

    fn spread(&self) -> Vec<f64> {
        vec![1.0 / (self.n * self.m) as f64; self.n * self.m]
    }

    /// Costs of attributes, and of strengths as if they were one more.
    fn with_strengths(&self, a: &Graph, b: &Graph) -> Vec<f64> {
        let strengths = [a, b]
            .map(|graph| (0..graph.num_nodes()).map(|v| graph.strength(v)).collect::<Vec<_>>());
        let mut costs = self.attributes.clone();
        for (row, a) in costs.chunks_exact_mut(self.m).zip(&strengths[0]) {
            for (cost, b) in row.iter_mut().zip(&strengths[1]) {
                *cost = self.params.attributes * *cost + self.params.structure * (a - b).abs();
            }
        }
        costs
    }

    /// Adds `mass·X` of the one pair `(u, v)` to `x`.
    fn add_shared(&self, x: &mut [f64], u: usize, v: usize, mass: f64) {
        let [a, b] = self.graphs;
        for (&row, &w1) in a.neighbors(u).iter().zip(a.weights(u)) {
            let x = &mut x[row as usize * self.m..][..self.m];
            for (&column, &w2) in b.neighbors(v).iter().zip(b.weights(v)) {
                x[column as usize] +=
                    mass * self.params.discrepancy.shared(f64::from(w1), f64::from(w2));
            }
        }
    }

    fn shared(&self, plan: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.n * self.m];
        for (at, &mass) in plan.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            self.add_shared(&mut x, at / self.m, at % self.m, mass);
        }
        x
    }

    /// `E` and its gradient at `plan`, whose `X` is `x`.
    fn energy(&self, plan: &[f64], x: &[f64], gradient: &mut [f64]) -> f64 {
        let (s, f) = (self.params.structure, self.params.attributes);
        let mut energy = 0.0;
        for u in 0..self.n {
            for v in 0..self.m {
                let at = u * self.m + v;
                let loss = self.alone[0][u] + self.alone[1][v] - 2.0 * x[at];
                gradient[at] = 2.0 * s * loss + f * self.attributes[at];
                energy += plan[at] * (s * loss + f * self.attributes[at]);
            }
        }
        energy
    }

    fn descend(&self, mut plan: Vec<f64>, params: &Params) -> Result<Coupling> {
        let (n, m) = (self.n, self.m);
        let mut x = self.shared(&plan);
        let mut gradient = vec![0.0; n * m];
        let mut steps = 0;
        loop {
            let energy = self.energy(&plan, &x, &mut gradient);
            let target = uniform(&gradient, n, m)?;
            // ⟨∇E, π⟩ − ⟨∇E, σ⟩, what a whole step would gain if E were linear.
            let here: f64 = plan.iter().zip(&gradient).map(|(mass, g)| mass * g).sum();
            let gap = here - target.cost;
            if gap <= params.tolerance * energy.abs() || steps == params.most_steps {
                return Ok(Coupling { distance: energy.max(0.0), plan, steps, gap: gap.max(0.0) });
            }
            steps += 1;
            let mut x_target = vec![0.0; n * m];
            let mut difference: Vec<f64> = plan.iter().map(|mass| -mass).collect();
            for &(u, v, mass) in &target.flows {
                difference[u as usize * m + v as usize] += mass;
                self.add_shared(&mut x_target, u as usize, v as usize, mass);
            }
            // E(π + t·Δ) = E − t·gap + t²·a, with a = −2s·⟨X(Δ), Δ⟩.
            let along = x_target.iter().zip(&x).zip(&difference);
            let bend: f64 = along.map(|((to, from), change)| (to - from) * change).sum();
            let a = -2.0 * params.structure * bend;
            let step = if a > 0.0 { (gap / (2.0 * a)).min(1.0) } else { 1.0 };
            for at in 0..n * m {
                // A whole step lands on the target, not beside it.
                x[at] =
                    if step == 1.0 { x_target[at] } else { x[at] + step * (x_target[at] - x[at]) };
                plan[at] = (plan[at] + step * difference[at]).max(0.0);
            }
        }
    }
}

fn no_nodes(which: &'static str) -> Error {
    Error::argument(which, "without nodes", "a distribution over nodes needs at least one")
}

/// A plan with its zeros.
fn dense(plan: &Plan, n: usize, m: usize) -> Vec<f64> {
    let mut all = vec![0.0; n * m];
    for &(u, v, mass) in &plan.flows {
        all[u as usize * m + v as usize] = mass;
    }
    all
}
