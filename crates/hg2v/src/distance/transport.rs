//! Exact optimal transport between two weighted sets of points.
//!
//! ```text
//! W = min_π Σ_ij π(i,j)·c(i,j)    with Σ_j π(i,j) = p(i), Σ_i π(i,j) = q(j), π ≥ 0
//!   = max_uv Σ_i p(i)·u(i) + Σ_j q(j)·v(j)    with u(i) + v(j) ≤ c(i,j)
//! ```
//!
//! Both sides are found at once, so that every [`Plan`] proves itself:
//! [`Plan::gap`] is the difference between the two, and zero up to rounding.
//!
//! The method is that of Jonker and Volgenant (1987) for assignments, with masses:
//! the potentials `u, v` are first lowered onto the costs, mass goes where an arc has
//! become tight, and each row that has some left sends it along shortest paths of
//! reduced costs `c − u − v ≥ 0`. Masses are whole numbers throughout: what is sent is
//! exact, nothing is left over by rounding, and degenerate problems need no care.
//! Ties go to the smaller index, so a problem has one answer on every machine.

use crate::error::{Error, Result};

/// Masses given as real numbers are rounded to this many parts of their sum.
const PARTS: u64 = 1 << 52;

/// Sums of masses may differ by this share of the larger, which is rounding.
const ROUNDING: f64 = 1e-9;

/// No node.
const NONE: u32 = u32::MAX;

/// An optimal plan and its proof.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// `W`, for masses scaled to a sum of 1.
    pub cost: f64,
    /// Where mass goes, as `(row, column, mass)`, by row and column.
    pub flows: Vec<(u32, u32, f64)>,
    /// `u`.
    pub row_potentials: Vec<f64>,
    /// `v`.
    pub column_potentials: Vec<f64>,
    /// The value of the plan less that of the potentials.
    pub gap: f64,
}

/// The optimal plan between `rows` and `columns` of mass, for `costs` row after row.
///
/// Masses need not sum to 1, only to the same; sums that differ by rounding are
/// scaled. Rows and columns without mass are allowed. Masses that are all equal, on
/// either side, are kept exactly; others to 2⁻⁵² of their sum.
///
/// ```
/// use hg2v::distance::transport::transport;
/// // Two heaps of sand, three holes.
/// let plan = transport(&[0.0, 1.0, 4.0, 1.0, 0.0, 1.0], &[0.5, 0.5], &[0.5, 0.25, 0.25])?;
/// assert_eq!(plan.cost, 0.25);
/// assert_eq!(plan.flows, [(0, 0, 0.5), (1, 1, 0.25), (1, 2, 0.25)]);
/// # Ok::<(), hg2v::Error>(())
/// ```
///
/// # Errors
/// Costs that are not finite, or not `rows × columns`; masses that are negative, not
/// finite, all zero, or of another sum.
///
/// # Complexity
/// A shortest path takes `O(n·m)` at most and stops at the nearest column with room;
/// about `n + m` are needed.
pub fn transport(costs: &[f64], rows: &[f64], columns: &[f64]) -> Result<Plan> {
    check_costs(costs, rows.len(), columns.len())?;
    let (row_sum, column_sum) = (total(rows)?, total(columns)?);
    if (row_sum - column_sum).abs() > ROUNDING * row_sum.max(column_sum) {
        let requirement = format!("the columns' is {column_sum}: scale one to the other");
        return Err(Error::parameter("the sum of the rows' masses", row_sum, requirement));
    }
    let (supply, demand) = match (all_equal(rows), all_equal(columns)) {
        (Some(n), Some(m)) => (parts_of(rows, m), parts_of(columns, n)),
        _ => (rounded(rows, row_sum), rounded(columns, column_sum)),
    };
    let mut solver = Solver::default();
    solver.solve(costs, &supply, &demand);
    Ok(solver.plan(costs, &supply, &demand))
}

/// The optimal plan between `n` rows and `m` columns of equal masses.
///
/// # Errors
/// As [`transport`].
pub fn uniform(costs: &[f64], n: usize, m: usize) -> Result<Plan> {
    transport(costs, &vec![1.0 / n as f64; n], &vec![1.0 / m as f64; m])
}

fn check_costs(costs: &[f64], n: usize, m: usize) -> Result<()> {
    if costs.len() != n.saturating_mul(m) {
        let requirement = format!("there must be {n} × {m}");
        return Err(Error::parameter("the number of costs", costs.len(), requirement));
    }
    match costs.iter().position(|cost| !cost.is_finite()) {
        None => Ok(()),
        Some(at) => {
            let requirement = format!("it stands in row {}, column {}: ", at / m, at % m);
            Err(Error::parameter("a cost", costs[at], requirement + "costs must be finite"))
        }
    }
}

fn total(masses: &[f64]) -> Result<f64> {
    if let Some(bad) = masses.iter().find(|mass| !(mass.is_finite() && **mass >= 0.0)) {
        return Err(Error::parameter("a mass", bad, "it must be finite and at least 0"));
    }
    let sum: f64 = masses.iter().sum();
    match sum > 0.0 && sum.is_finite() {
        true => Ok(sum),
        false => Err(Error::parameter("the sum of masses", sum, "it must be finite and above 0")),
    }
}

/// How many masses are not zero, where those are all equal.
fn all_equal(masses: &[f64]) -> Option<u64> {
    let mut some = masses.iter().filter(|mass| **mass > 0.0);
    let first = some.next()?;
    let mut count = 1;
    for mass in some {
        if mass != first {
            return None;
        }
        count += 1;
    }
    Some(count)
}

/// `parts` for each mass that is not zero.
fn parts_of(masses: &[f64], parts: u64) -> Vec<u64> {
    masses.iter().map(|&mass| if mass > 0.0 { parts } else { 0 }).collect()
}

/// Masses in [`PARTS`] of their sum; the largest takes what rounding leaves.
fn rounded(masses: &[f64], sum: f64) -> Vec<u64> {
    let mut parts: Vec<u64> =
        masses.iter().map(|mass| (mass / sum * PARTS as f64).round() as u64).collect();
    let largest = (0..parts.len()).max_by_key(|&i| (parts[i], std::cmp::Reverse(i)));
    if let Some(largest) = largest {
        let others = parts.iter().sum::<u64>() - parts[largest];
        parts[largest] = PARTS - others;
    }
    parts
}

/// Solves problem after problem in the same memory.
///
/// For callers with many problems, who know that their costs are finite and their
/// masses whole numbers of equal sums; [`transport`] is for everyone else.
#[derive(Debug, Clone, Default)]
pub struct Solver {
    /// `u` and `v`.
    row_potentials: Vec<f64>,
    column_potentials: Vec<f64>,
    /// What rows still have, and columns still take.
    supply: Vec<u64>,
    room: Vec<u64>,
    /// The rows that send to each column, and how much.
    senders: Vec<Vec<(u32, u64)>>,
    /// Of the search in hand: the distance of each column, the row before it, and
    /// whether it is settled; for each row the column before it.
    distance: Vec<f64>,
    before: Vec<u32>,
    settled: Vec<bool>,
    reached_from: Vec<u32>,
    /// Settled columns and reached rows, in order, with their distances.
    columns: Vec<(u32, f64)>,
    rows: Vec<(u32, f64)>,
}

impl Solver {
    /// The cost of an optimal plan, for masses scaled to a sum of 1. `costs` are
    /// `supply.len() × demand.len()` finite numbers, and both masses have the same
    /// sum, above 0.
    pub fn solve(&mut self, costs: &[f64], supply: &[u64], demand: &[u64]) -> f64 {
        let (n, m) = (supply.len(), demand.len());
        debug_assert_eq!(costs.len(), n * m);
        debug_assert_eq!(supply.iter().sum::<u64>(), demand.iter().sum::<u64>());
        self.reset(supply, demand);
        self.reduce(costs);
        for row in 0..n {
            while self.supply[row] > 0 {
                let Some(end) = self.search(costs, row) else { break };
                self.send(row, end);
            }
        }
        self.value(costs) / demand.iter().sum::<u64>() as f64
    }

    fn reset(&mut self, supply: &[u64], demand: &[u64]) {
        let (n, m) = (supply.len(), demand.len());
        self.supply.clear();
        self.supply.extend_from_slice(supply);
        self.room.clear();
        self.room.extend_from_slice(demand);
        self.senders.iter_mut().for_each(Vec::clear);
        if self.senders.len() < m {
            self.senders.resize(m, Vec::new());
        }
        self.row_potentials.clear();
        self.row_potentials.resize(n, 0.0);
        self.column_potentials.clear();
        self.column_potentials.resize(m, f64::INFINITY);
        self.distance.resize(m, 0.0);
        self.before.resize(m, NONE);
        self.settled.resize(m, false);
        self.reached_from.resize(n, NONE);
    }

    /// Potentials that touch the costs, and mass along the arcs that became tight.
    fn reduce(&mut self, costs: &[f64]) {
        let m = self.room.len();
        for row in costs.chunks_exact(m) {
            for (v, cost) in self.column_potentials.iter_mut().zip(row) {
                *v = v.min(*cost);
            }
        }
        for (row, costs) in costs.chunks_exact(m).enumerate() {
            let mut least = (f64::INFINITY, 0);
            for (column, (cost, v)) in costs.iter().zip(&self.column_potentials).enumerate() {
                let reduced = cost - v;
                // Of equally good columns, one that has room.
                if reduced < least.0
                    || (reduced == least.0 && self.room[least.1] == 0 && self.room[column] > 0)
                {
                    least = (reduced, column);
                }
            }
            let (potential, column) = least;
            self.row_potentials[row] = potential;
            let mass = self.supply[row].min(self.room[column]);
            if mass > 0 {
                self.supply[row] -= mass;
                self.room[column] -= mass;
                self.senders[column].push((row as u32, mass));
            }
        }
    }

    /// The nearest column with room, by reduced costs from `start`; potentials are
    /// changed so that the path to it is tight.
    fn search(&mut self, costs: &[f64], start: usize) -> Option<usize> {
        let m = self.room.len();
        self.distance.fill(f64::INFINITY);
        self.settled.fill(false);
        self.reached_from.fill(NONE);
        self.columns.clear();
        self.rows.clear();
        self.rows.push((start as u32, 0.0));
        let mut next = 0;
        loop {
            // Rows that were reached look at every column that is not settled.
            while let Some(&(row, so_far)) = self.rows.get(next) {
                next += 1;
                let costs = &costs[row as usize * m..][..m];
                let offset = so_far - self.row_potentials[row as usize];
                let columns = self.distance.iter_mut().zip(&mut self.before);
                let columns = columns.zip(&self.settled).zip(&self.column_potentials);
                for ((((distance, before), settled), v), cost) in columns.zip(costs) {
                    // Rounding may make a tight arc negative by a little.
                    let through = (cost - v + offset).max(so_far);
                    if through < *distance && !settled {
                        *distance = through;
                        *before = row;
                    }
                }
            }
            let mut nearest = (f64::INFINITY, None);
            for column in 0..m {
                if !self.settled[column] && self.distance[column] < nearest.0 {
                    nearest = (self.distance[column], Some(column));
                }
            }
            let (far, column) = (nearest.0, nearest.1?);
            if self.room[column] > 0 {
                for &(column, distance) in &self.columns {
                    self.column_potentials[column as usize] -= far - distance;
                }
                for &(row, distance) in &self.rows {
                    self.row_potentials[row as usize] += far - distance;
                }
                return Some(column);
            }
            self.settled[column] = true;
            self.columns.push((column as u32, far));
            for &(row, _) in &self.senders[column] {
                if self.reached_from[row as usize] == NONE && row as usize != start {
                    self.reached_from[row as usize] = column as u32;
                    self.rows.push((row, far));
                }
            }
        }
    }

    /// Sends as much as the path from `start` to `end` lets through.
    fn send(&mut self, start: usize, end: usize) {
        let mut mass = self.supply[start].min(self.room[end]);
        let mut column = end;
        loop {
            let row = self.before[column] as usize;
            if row == start {
                break;
            }
            column = self.reached_from[row] as usize;
            mass = mass.min(self.sent(row, column));
        }
        self.supply[start] -= mass;
        self.room[end] -= mass;
        let mut column = end;
        loop {
            let row = self.before[column] as usize;
            match self.senders[column].iter_mut().find(|sender| sender.0 == row as u32) {
                Some(sender) => sender.1 += mass,
                None => self.senders[column].push((row as u32, mass)),
            }
            if row == start {
                return;
            }
            column = self.reached_from[row] as usize;
            let senders = &mut self.senders[column];
            if let Some(at) = senders.iter().position(|sender| sender.0 == row as u32) {
                senders[at].1 -= mass;
                if senders[at].1 == 0 {
                    senders.swap_remove(at);
                }
            }
        }
    }

    fn sent(&self, row: usize, column: usize) -> u64 {
        let sender = self.senders[column].iter().find(|sender| sender.0 == row as u32);
        sender.map_or(0, |sender| sender.1)
    }

    /// `Σ mass·cost`, in units of mass.
    fn value(&self, costs: &[f64]) -> f64 {
        let m = self.room.len();
        let mut sum = 0.0;
        for (column, senders) in self.senders[..m].iter().enumerate() {
            for &(row, mass) in senders {
                sum += mass as f64 * costs[row as usize * m + column];
            }
        }
        sum
    }

    /// What the last [`solve`](Solver::solve) of these very numbers found, whole.
    fn plan(&self, costs: &[f64], supply: &[u64], demand: &[u64]) -> Plan {
        let (n, m) = (supply.len(), demand.len());
        let parts = demand.iter().sum::<u64>() as f64;
        let mut flows: Vec<(u32, u32, f64)> = Vec::with_capacity(n + m);
        for (column, senders) in self.senders[..m].iter().enumerate() {
            let flow = |&(row, mass): &(u32, u64)| (row, column as u32, mass as f64 / parts);
            flows.extend(senders.iter().map(flow));
        }
        flows.sort_unstable_by_key(|&(row, column, _)| (row, column));
        let worth = |masses: &[u64], potentials: &[f64]| -> f64 {
            masses.iter().zip(potentials).map(|(&mass, value)| mass as f64 * value).sum()
        };
        let dual = worth(supply, &self.row_potentials) + worth(demand, &self.column_potentials);
        let cost = self.value(costs) / parts;
        Plan {
            cost,
            flows,
            row_potentials: self.row_potentials.clone(),
            column_potentials: self.column_potentials.clone(),
            gap: cost - dual / parts,
        }
    }
}
