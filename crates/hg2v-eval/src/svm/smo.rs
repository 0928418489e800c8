//! Sequential minimal optimisation: a support vector machine for two classes.
//!
//! Fan, Chen and Lin, *Working set selection using second order information for
//! training support vector machines*, JMLR 6 (2005), as LIBSVM does it.
//!
//! | letter | meaning |
//! |---|---|
//! | K | kernel values, n × n |
//! | y | +1 for the first class, −1 for the second |
//! | α | the dual variables, 0 ≤ α ≤ C |
//! | β | y·α: what a row adds to the decision; bounded by 0 and y·C |
//! | F | K·β − y, which is y times the gradient of the dual |
//!
//! In these letters both classes follow one rule, so that the loops over rows do
//! not branch on y.

use std::borrow::Cow;

use super::kernel::{Gram, LANES};
use crate::error::{Error, Result, positive};

/// What curvature counts as when it is not positive.
const TAU: f64 = 1e-12;

/// Rows whose best is found together.
const BLOCK: usize = 8 * LANES;

/// Shrinking pays where the rows that are left are at most this share.
const WORTH_SHRINKING: f64 = 0.8;

/// What keeps a row out of a maximum, and what does not.
const OUT: f64 = f64::NEG_INFINITY;
const IN: f64 = 0.0;

/// A machine for two classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// `β = y·α` of each row; the decision on x is `Σ β_i·K(x_i, x) − ρ`.
    pub beta: Vec<f64>,
    /// The threshold ρ.
    pub rho: f64,
    /// Steps taken.
    pub iterations: u64,
    /// Whether the tolerance was reached before the steps ran out, which are
    /// LIBSVM's: ten million, or a hundred a row where that is more.
    pub converged: bool,
    /// The largest α that ever was. No step met C where this is below it, so a
    /// larger C, or a smaller one still above this, gives the same steps and bits.
    pub peak: f64,
}

/// Solves the dual
///
/// ```text
/// min ½ Σ_ij α_i α_j y_i y_j K_ij − Σ_i α_i,   0 ≤ α_i ≤ C,   Σ_i y_i α_i = 0
/// ```
///
/// where the first `positives` rows have y = +1 and the others −1.
///
/// In each step, i is the row that most wants to rise, the largest `−F_i` among
/// `β_i < upper`; and j the one among `β_j > lower` with which that gains most,
/// the largest `b²/a` with `b = F_j − F_i > 0` and `a = K_ii + K_jj − 2·K_ij`.
/// Both are moved along `β_i + λ, β_j − λ`, `λ = b/a` cut to their bounds. It ends
/// when `max_i(−F_i) + max_j(F_j) < tolerance`. Ties take the last row, as LIBSVM.
///
/// Rows that stand firmly at a bound are left out for a while (shrinking); no
/// solution is returned before all rows have been checked.
///
/// # Errors
/// `c` or `tolerance` not above 0; a class without rows.
///
/// # Complexity
/// `O(n)` a step; the steps grow with n and C.
pub fn solve(gram: &Gram, positives: usize, c: f64, tolerance: f64) -> Result<Solution> {
    positive("C", c)?;
    positive("tolerance", tolerance)?;
    if positives == 0 || positives >= gram.len() {
        return Err(Error::Empty { what: "one of the two classes" });
    }
    Ok(solve_checked(gram, positives, c, tolerance))
}

/// [`solve`], when its arguments are known to be in order.
pub(crate) fn solve_checked(gram: &Gram, positives: usize, c: f64, tolerance: f64) -> Solution {
    let n = gram.len();
    let most = 10_000_000.max(100 * n as u64);
    let period = n.min(1000);
    let mut solver = Solver::new(gram, positives, c);
    let mut until_shrinking = period + 1;
    let mut was_unshrunk = false;
    let mut iterations = 0;
    let converged = loop {
        until_shrinking -= 1;
        if until_shrinking == 0 {
            until_shrinking = period;
            // Near the end once more with all rows: a row left out too early shows.
            if !was_unshrunk && solver.violation() <= 10.0 * tolerance {
                was_unshrunk = true;
                solver.unshrink();
            }
            solver.shrink();
        }
        let pair = match solver.working_set(tolerance) {
            Some(pair) => pair,
            None if solver.is_shrunk() => {
                solver.unshrink();
                match solver.working_set(tolerance) {
                    Some(pair) => {
                        until_shrinking = 1;
                        pair
                    }
                    None => break true,
                }
            }
            None => break true,
        };
        if iterations == most {
            solver.unshrink();
            break false;
        }
        iterations += 1;
        solver.step(pair);
    };
    let (rho, peak) = (solver.rho(), solver.peak);
    Solution { beta: solver.into_beta(), rho, iterations, converged, peak }
}

/// A row that wants to rise and one that should fall for it.
#[derive(Clone, Copy)]
struct Pair {
    i: usize,
    j: usize,
    /// `F_j − F_i`
    b: f64,
}

struct Solver<'a> {
    whole: &'a Gram,
    positives: usize,
    c: f64,
    /// β of all rows; of active ones it is kept in `active`.
    beta: Vec<f64>,
    active: Active<'a>,
    /// The largest |β| that ever was.
    peak: f64,
}

/// The rows that are not left out, in their old order.
///
/// All lists are padded to the stride of the matrix; padding is in no maximum.
struct Active<'a> {
    gram: Cow<'a, Gram>,
    /// Which rows of the whole they are.
    rows: Vec<u32>,
    /// F.
    f: Vec<f64>,
    beta: Vec<f64>,
    /// The bounds of β.
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// `IN` where β can rise, else `OUT`.
    can_rise: Vec<f64>,
    /// `IN` where β can fall, else `OUT`.
    can_fall: Vec<f64>,
    /// `K_ii`.
    diagonal: Vec<f64>,
    /// The largest `−F` among rows that can rise, and the last row that has it.
    riser: (f64, usize),
}

impl<'a> Solver<'a> {
    fn new(gram: &'a Gram, positives: usize, c: f64) -> Solver<'a> {
        let n = gram.len();
        let f = (0..n).map(|row| if row < positives { -1.0 } else { 1.0 }).collect();
        let rows: Vec<u32> = (0..n as u32).collect();
        let beta = vec![0.0; n];
        let active = Active::new(Cow::Borrowed(gram), rows, f, beta.clone(), positives, c);
        Solver { whole: gram, positives, c, beta, active, peak: 0.0 }
    }

    fn is_shrunk(&self) -> bool {
        self.active.rows.len() < self.whole.len()
    }

    /// `max_i(−F_i) + max_j(F_j)` over active rows that can rise and fall.
    fn violation(&self) -> f64 {
        self.active.riser.0 + self.active.faller()
    }

    /// The next two rows, unless the violation is below `tolerance`.
    fn working_set(&self, tolerance: f64) -> Option<Pair> {
        let active = &self.active;
        let (rise, i) = active.riser;
        if rise == OUT {
            return None;
        }
        let row = active.gram.padded_row(i);
        let diagonal = active.diagonal[i];
        let mut violation = [OUT; LANES];
        let mut best: Option<Pair> = None;
        let mut most = 0.0;
        // A division takes as long as all the rest: only lanes that may be better
        // than the best so far, b² ≥ most·a but for rounding, are divided.
        let mut bar = 0.0;
        let chunks = active.f.as_chunks::<LANES>().0.iter();
        let chunks = chunks.zip(active.can_fall.as_chunks::<LANES>().0);
        let kernel = row.as_chunks::<LANES>().0.iter();
        let kernel = kernel.zip(active.diagonal.as_chunks::<LANES>().0);
        for (chunk, ((f, can_fall), (k, d))) in chunks.zip(kernel).enumerate() {
            let (f, can_fall, k, d) = (*f, *can_fall, *k, *d);
            // b is −∞ where β cannot fall; only b > 0 gains.
            let b: [f64; LANES] = std::array::from_fn(|lane| rise + f[lane] + can_fall[lane]);
            let mut a = [0.0; LANES];
            let mut may_be_better = [false; LANES];
            for lane in 0..LANES {
                violation[lane] = larger(violation[lane], b[lane]);
                a[lane] = diagonal + d[lane] - 2.0 * f64::from(k[lane]);
                a[lane] = if a[lane] > 0.0 { a[lane] } else { TAU };
                let b = larger(0.0, b[lane]);
                may_be_better[lane] = b * b >= bar * a[lane];
            }
            if may_be_better.into_iter().fold(false, |any, this| any | this) {
                for lane in 0..LANES {
                    let gain = b[lane] * b[lane] / a[lane];
                    if b[lane] > 0.0 && gain >= most {
                        best = Some(Pair { i, j: chunk * LANES + lane, b: b[lane] });
                        most = gain;
                        bar = gain * (1.0 - 4.0 * f64::EPSILON);
                    }
                }
            }
        }
        best.filter(|_| largest(violation) >= tolerance)
    }

    /// Moves the pair, and F and the next riser with it.
    fn step(&mut self, Pair { i, j, b }: Pair) {
        let active = &mut self.active;
        let (row_i, row_j) = (active.gram.padded_row(i), active.gram.padded_row(j));
        let a = active.diagonal[i] + active.diagonal[j] - 2.0 * f64::from(row_i[j]);
        let wanted = b / if a > 0.0 { a } else { TAU };
        let (room_i, room_j) = (active.upper[i] - active.beta[i], active.beta[j] - active.lower[j]);
        let (old_i, old_j) = (active.beta[i], active.beta[j]);
        // Who meets a bound stands on it exactly, not beside it by rounding.
        let lambda = wanted.min(room_i).min(room_j);
        active.beta[i] = if lambda == room_i { active.upper[i] } else { old_i + lambda };
        active.beta[j] = if lambda == room_j { active.lower[j] } else { old_j - lambda };
        for t in [i, j] {
            self.peak = self.peak.max(active.beta[t].abs());
            active.can_rise[t] = if active.beta[t] < active.upper[t] { IN } else { OUT };
            active.can_fall[t] = if active.beta[t] > active.lower[t] { IN } else { OUT };
        }
        let (delta_i, delta_j) = (active.beta[i] - old_i, active.beta[j] - old_j);
        let mut best = (OUT, 0);
        let blocks = active.f.chunks_mut(BLOCK).zip(active.can_rise.chunks(BLOCK));
        let blocks = blocks.zip(row_i.chunks(BLOCK).zip(row_j.chunks(BLOCK)));
        for (block, ((f, can_rise), (row_i, row_j))) in blocks.enumerate() {
            let mut rises = [OUT; LANES];
            let chunks = f.as_chunks_mut::<LANES>().0.iter_mut();
            let chunks = chunks.zip(can_rise.as_chunks::<LANES>().0);
            let kernel = row_i.as_chunks::<LANES>().0.iter().zip(row_j.as_chunks::<LANES>().0);
            for ((slot, can_rise), (k_i, k_j)) in chunks.zip(kernel) {
                // Copies: where nothing can overlap, the lanes become vectors.
                let (mut f, can_rise, k_i, k_j) = (*slot, *can_rise, *k_i, *k_j);
                for lane in 0..LANES {
                    f[lane] += f64::from(k_i[lane]) * delta_i + f64::from(k_j[lane]) * delta_j;
                }
                for lane in 0..LANES {
                    rises[lane] = larger(rises[lane], can_rise[lane] - f[lane]);
                }
                *slot = f;
            }
            let rise = largest(rises);
            if rise >= best.0 {
                best = (rise, block);
            }
        }
        active.riser = active.last_riser(best);
    }

    /// Leaves out rows at a bound which F presses against it, where that is
    /// enough of them.
    fn shrink(&mut self) {
        let active = &self.active;
        let (rise, fall) = (active.riser.0, active.faller());
        let stays = |&t: &usize| match (active.can_rise[t] == IN, active.can_fall[t] == IN) {
            (false, true) => -active.f[t] <= rise,
            (true, false) => active.f[t] <= fall,
            _ => true,
        };
        let stay: Vec<usize> = (0..active.rows.len()).filter(stays).collect();
        if stay.len() as f64 > WORTH_SHRINKING * active.rows.len() as f64 {
            return;
        }
        self.put_back();
        let active = &self.active;
        let places: Vec<u32> = stay.iter().map(|&t| t as u32).collect();
        let rows: Vec<u32> = stay.iter().map(|&t| active.rows[t]).collect();
        let f = stay.iter().map(|&t| active.f[t]).collect();
        let beta = stay.iter().map(|&t| active.beta[t]).collect();
        let positives = rows.partition_point(|&row| (row as usize) < self.positives);
        let gram = Cow::Owned(active.gram.of_indices(&places));
        self.active = Active::new(gram, rows, f, beta, positives, self.c);
    }

    /// Takes all rows back in, with F computed anew.
    fn unshrink(&mut self) {
        if !self.is_shrunk() {
            return;
        }
        self.put_back();
        let n = self.whole.len();
        let mut f: Vec<f64> =
            (0..n).map(|row| if row < self.positives { -1.0 } else { 1.0 }).collect();
        for (row, &beta) in self.beta.iter().enumerate() {
            if beta != 0.0 {
                for (f, &k) in f.iter_mut().zip(self.whole.row(row)) {
                    *f += f64::from(k) * beta;
                }
            }
        }
        let rows = (0..n as u32).collect();
        let (gram, beta) = (Cow::Borrowed(self.whole), self.beta.clone());
        self.active = Active::new(gram, rows, f, beta, self.positives, self.c);
    }

    /// Writes β of active rows to its place among all.
    fn put_back(&mut self) {
        for (&row, &beta) in self.active.rows.iter().zip(&self.active.beta) {
            self.beta[row as usize] = beta;
        }
    }

    /// ρ: the mean of F over rows between their bounds; without any, the middle
    /// of what the bounds allow.
    fn rho(&self) -> f64 {
        let active = &self.active;
        let (mut sum, mut free) = (0.0, 0);
        let (mut above, mut below) = (f64::INFINITY, f64::NEG_INFINITY);
        for t in 0..active.rows.len() {
            let f = active.f[t];
            match (active.can_rise[t] == IN, active.can_fall[t] == IN) {
                (true, true) => {
                    sum += f;
                    free += 1;
                }
                (true, false) => above = above.min(f),
                _ => below = below.max(f),
            }
        }
        if free > 0 { sum / f64::from(free) } else { (above + below) / 2.0 }
    }

    fn into_beta(mut self) -> Vec<f64> {
        self.put_back();
        self.beta
    }
}

impl<'a> Active<'a> {
    fn new(
        gram: Cow<'a, Gram>,
        rows: Vec<u32>,
        mut f: Vec<f64>,
        mut beta: Vec<f64>,
        positives: usize,
        c: f64,
    ) -> Active<'a> {
        let (n, stride) = (rows.len(), gram.stride());
        f.resize(stride, 0.0);
        beta.resize(stride, 0.0);
        let mut diagonal = gram.diagonal().to_vec();
        diagonal.resize(stride, 1.0);
        let mut upper = vec![0.0; stride];
        upper[..positives].fill(c);
        let mut lower = vec![0.0; stride];
        lower[positives..n].fill(-c);
        let free = |t: usize, free: bool| if t < n && free { IN } else { OUT };
        let can_rise: Vec<f64> = (0..stride).map(|t| free(t, beta[t] < upper[t])).collect();
        let can_fall = (0..stride).map(|t| free(t, beta[t] > lower[t])).collect();
        let mut best = (OUT, 0);
        for (block, (f, can_rise)) in f.chunks(BLOCK).zip(can_rise.chunks(BLOCK)).enumerate() {
            let rise = f.iter().zip(can_rise).fold(OUT, |best, (f, can)| larger(best, can - f));
            if rise >= best.0 {
                best = (rise, block);
            }
        }
        let riser = (OUT, 0);
        let mut active =
            Active { gram, rows, f, beta, lower, upper, can_rise, can_fall, diagonal, riser };
        active.riser = active.last_riser(best);
        active
    }

    /// The last row of a block whose rise is the block's largest.
    fn last_riser(&self, (rise, block): (f64, usize)) -> (f64, usize) {
        let start = block * BLOCK;
        let end = (start + BLOCK).min(self.f.len());
        let last = (start..end).rfind(|&t| self.can_rise[t] - self.f[t] == rise);
        (rise, last.unwrap_or(start))
    }

    /// The largest F among rows that can fall.
    fn faller(&self) -> f64 {
        self.f.iter().zip(&self.can_fall).fold(OUT, |best, (f, can)| larger(best, f + can))
    }
}

/// One instruction, which [`f64::max`] with its care for NaN is not.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

fn largest(lanes: [f64; LANES]) -> f64 {
    lanes.into_iter().fold(OUT, larger)
}
