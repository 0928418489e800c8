//! Exact optimal transport between two weighted sets of points.
//!
//! ```text
//! 𝒲 = min_π Σ_ij π(i,j)·c(i,j)    with Σ_j π(i,j) = p(i), Σ_i π(i,j) = q(j), π ≥ 0
//!   = max_uv Σ_i p(i)·u(i) + Σ_j q(j)·v(j)    with u(i) + v(j) ≤ c(i,j)
//! ```
//!
//! Both sides are found at once, so that every [`Plan`] proves itself:
//! [`Plan::gap`] is the difference between the two, and zero up to rounding.
//!
//! The method is the network simplex. Masses are whole numbers
//! throughout: what is sent is exact, nothing is left over by rounding, and degenerate
//! problems need no care.

use super::simplex::{Solver, factor};
use crate::error::{Error, Result};

/// Masses given as real numbers are rounded to this many parts of their sum, or to as
/// many as the solver can count.
const PARTS: u64 = 1 << 52;
const MOST_COUNTED: u64 = 1 << 62;

/// Sums of masses may differ by this share of the larger, which is rounding.
const ROUNDING: f64 = 1e-9;

/// An optimal plan and its proof.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// `𝒲`, for masses scaled to a sum of 1.
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
/// both sides, are kept exactly; others to 2⁻⁵² of their sum (with thousands of rows, 2⁻⁴⁸).
///
/// # Examples
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
/// A pivot takes `O(n + m)`, and a few pivots a row and column are needed.
pub fn transport(costs: &[f64], rows: &[f64], columns: &[f64]) -> Result<Plan> {
    check_costs(costs, rows.len(), columns.len())?;
    let (row_sum, column_sum) = (total(rows)?, total(columns)?);
    if (row_sum - column_sum).abs() > ROUNDING * row_sum.max(column_sum) {
        let requirement = format!("the columns' is {column_sum}: scale one to the other");
        return Err(Error::argument("the sum of the rows' masses", row_sum, requirement));
    }
    let (supply, demand) = match (all_equal(rows), all_equal(columns)) {
        (Some(n), Some(m)) => (parts_of(rows, m), parts_of(columns, n)),
        _ => {
            let parts = PARTS.min(MOST_COUNTED / factor(rows.len()).next_power_of_two());
            (rounded(rows, row_sum, parts), rounded(columns, column_sum, parts))
        }
    };
    Ok(planned(costs, &supply, &demand))
}

/// The plan for masses of which some may be 0: rows and columns without mass are left
/// out, and get the best potentials that the others allow.
fn planned(costs: &[f64], supply: &[u64], demand: &[u64]) -> Plan {
    let m = demand.len();
    let some = |masses: &[u64]| (0..masses.len()).filter(|&i| masses[i] > 0).collect::<Vec<_>>();
    let (rows, columns) = (some(supply), some(demand));
    let kept: Vec<f64> =
        rows.iter().flat_map(|&i| columns.iter().map(move |&j| costs[i * m + j])).collect();
    let masses = |nodes: &[usize], masses: &[u64]| nodes.iter().map(|&i| masses[i]).collect();
    let (p, q): (Vec<u64>, Vec<u64>) = (masses(&rows, supply), masses(&columns, demand));
    let mut solver = Solver::default();
    let cost = solver.solve(&kept, &p, &q);
    let parts = q.iter().sum::<u64>() as f64;
    let flows = solver.flows().filter(|(_, _, mass)| *mass > 0);
    let named = |(i, j, mass)| (rows[i] as u32, columns[j] as u32, mass as f64 / parts);
    let mut flows: Vec<(u32, u32, f64)> = flows.map(named).collect();
    flows.sort_unstable_by_key(|&(row, column, _)| (row, column));

    let (u, v) = solver.potentials();
    let mut row_potentials = vec![f64::INFINITY; supply.len()];
    let mut column_potentials = vec![f64::INFINITY; m];
    rows.iter().zip(u).for_each(|(&row, &u)| row_potentials[row] = u);
    columns.iter().zip(v).for_each(|(&column, &v)| column_potentials[column] = v);
    for column in (0..m).filter(|&column| demand[column] == 0) {
        let slack = |&row: &usize| costs[row * m + column] - row_potentials[row];
        column_potentials[column] = rows.iter().map(slack).fold(f64::INFINITY, f64::min);
    }
    for row in (0..supply.len()).filter(|&row| supply[row] == 0) {
        let slack = |column: usize| costs[row * m + column] - column_potentials[column];
        row_potentials[row] = (0..m).map(slack).fold(f64::INFINITY, f64::min);
    }
    let worth = |masses: &[u64], potentials: &[f64]| -> f64 {
        masses.iter().zip(potentials).map(|(&mass, value)| mass as f64 * value).sum()
    };
    let gap = cost - (worth(&p, u) + worth(&q, v)) / parts;
    Plan { cost, flows, row_potentials, column_potentials, gap }
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
        return Err(Error::argument("the number of costs", costs.len(), requirement));
    }
    match costs.iter().position(|cost| !cost.is_finite()) {
        None => Ok(()),
        Some(at) => {
            let requirement = format!("it stands in row {}, column {}: ", at / m, at % m);
            Err(Error::argument("a cost", costs[at], requirement + "costs must be finite"))
        }
    }
}

fn total(masses: &[f64]) -> Result<f64> {
    if let Some(bad) = masses.iter().find(|mass| !(mass.is_finite() && **mass >= 0.0)) {
        return Err(Error::argument("a mass", bad, "it must be finite and at least 0"));
    }
    let sum: f64 = masses.iter().sum();
    match sum > 0.0 && sum.is_finite() {
        true => Ok(sum),
        false => Err(Error::argument("the sum of masses", sum, "it must be finite and above 0")),
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

/// Masses in `parts` of their sum; the largest takes what rounding leaves.
fn rounded(masses: &[f64], sum: f64, parts: u64) -> Vec<u64> {
    let mut counts: Vec<u64> =
        masses.iter().map(|mass| (mass / sum * parts as f64).round() as u64).collect();
    let largest = (0..counts.len()).max_by_key(|&i| (counts[i], std::cmp::Reverse(i)));
    if let Some(largest) = largest {
        let others = counts.iter().sum::<u64>() - counts[largest];
        counts[largest] = parts - others;
    }
    counts
}
