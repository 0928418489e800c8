//! Numbers brought to a common scale: of a column, a row, a block.

use hg2v_math::Real;

use super::{Array, Tape, Var};

/// Added to variances (PyTorch's).
const BATCH_NORM: f64 = 1e-5;

/// Added to the roots of degrees (PyTorch Geometric's).
const DEGREE: f64 = 1e-15;

/// Rows of a partial sum, which keeps `f32` exact enough over many rows.
const ROWS: usize = 64;

/// The mean and the variance of each column.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments<R> {
    /// `μ`.
    pub mean: Vec<R>,
    /// `σ²`.
    pub variance: Vec<R>,
}

impl<R: Real> Moments<R> {
    /// Over the rows of `x`, the variance divided by how many there are.
    pub fn of(x: &Array<R>) -> Moments<R> {
        let share = R::from_f64(1.0 / x.rows.max(1) as f64);
        let mean = column_sums(x, |row, sums| R::axpy(share, row, sums));
        let variance = column_sums(x, |row, sums| {
            for ((sum, &x), &mean) in sums.iter_mut().zip(row).zip(&mean) {
                *sum += share * (x - mean) * (x - mean);
            }
        });
        Moments { mean, variance }
    }
}

/// The sum over rows of what `add` adds for each.
fn column_sums<R: Real>(x: &Array<R>, add: impl Fn(&[R], &mut [R])) -> Vec<R> {
    let mut total = vec![R::ZERO; x.columns];
    let mut part = vec![R::ZERO; x.columns];
    for first in (0..x.rows).step_by(ROWS) {
        part.fill(R::ZERO);
        (first..(first + ROWS).min(x.rows)).for_each(|u| add(x.row(u), &mut part));
        R::axpy(R::ONE, &part, &mut total);
    }
    total
}

impl<R: Real> Tape<R> {
    /// Batch normalisation (Ioffe & Szegedy 2015): `Y = γ ⊙ X̂ + β` with
    /// `X̂ = (X − μ) / √(σ² + ε)`.
    ///
    /// Where `moments` are given (a network at work) they are constants and
    /// `dX = γ/√(σ² + ε) ⊙ dY`. Otherwise (one in training) they are those of the rows
    /// of `X`, which are returned, and with `⟨·⟩` the mean over rows
    ///
    /// ```text
    /// dX = γ/√(σ² + ε) ⊙ (dY − ⟨dY⟩ − X̂ ⊙ ⟨dY ⊙ X̂⟩)
    /// ```
    ///
    /// Either way `dγ = Σ_u dY(u) ⊙ X̂(u)` and `dβ = Σ_u dY(u)`.
    pub fn batch_norm(
        &mut self,
        x: Var,
        gamma: Var,
        beta: Var,
        moments: Option<&Moments<R>>,
    ) -> (Var, Moments<R>) {
        let from = self.value(x);
        let of_rows = moments.is_none();
        let moments = moments.cloned().unwrap_or_else(|| Moments::of(from));
        let root = |&v: &R| R::ONE / (v + R::from_f64(BATCH_NORM)).sqrt();
        let rate: Vec<R> = moments.variance.iter().map(root).collect();
        let scale: Vec<R> =
            rate.iter().zip(&self.value(gamma).values).map(|(&r, &g)| r * g).collect();
        let shift: Vec<R> = (0..from.columns)
            .map(|j| self.value(beta).values[j] - scale[j] * moments.mean[j])
            .collect();
        let mut y = Array::zeros(from.rows, from.columns);
        for u in 0..from.rows {
            let line = scale.iter().zip(&shift);
            for ((y, &x), (&scale, &shift)) in y.row_mut(u).iter_mut().zip(from.row(u)).zip(line) {
                *y = scale * x + shift;
            }
        }
        let mean = moments.mean.clone();
        let var = self.push(y, &[x, gamma, beta], move |back, mut dy, to| {
            let x_rows = &back[x];
            let columns = x_rows.columns;
            // Σ dY and Σ dY ⊙ X̂, side by side.
            let mut sums = vec![R::ZERO; 2 * columns];
            let mut part = vec![R::ZERO; 2 * columns];
            for first in (0..dy.rows).step_by(ROWS) {
                part.fill(R::ZERO);
                let (plain, with_x) = part.split_at_mut(columns);
                for u in first..(first + ROWS).min(dy.rows) {
                    R::axpy(R::ONE, dy.row(u), plain);
                    let row = x_rows.row(u).iter().zip(&mean).zip(dy.row(u));
                    with_x.iter_mut().zip(row).for_each(|(s, ((&x, &m), &dy))| *s += (x - m) * dy);
                }
                R::axpy(R::ONE, &part, &mut sums);
            }
            let (sum_dy, sum_dy_x) = sums.split_at_mut(columns);
            sum_dy_x.iter_mut().zip(&rate).for_each(|(sum, &rate)| *sum *= rate);
            to.add(beta, |db| R::axpy(R::ONE, sum_dy, &mut db.values));
            to.add(gamma, |dg| R::axpy(R::ONE, sum_dy_x, &mut dg.values));
            let share = match of_rows {
                true => R::from_f64(1.0 / dy.rows.max(1) as f64),
                false => R::ZERO,
            };
            // dX = s·dY − (s·⟨dY⟩ − t·μ) − t·X, with t = s·⟨dY ⊙ X̂⟩/√(σ² + ε).
            let by_x: Vec<R> =
                (0..columns).map(|j| scale[j] * share * sum_dy_x[j] * rate[j]).collect();
            let fixed: Vec<R> =
                (0..columns).map(|j| scale[j] * share * sum_dy[j] - by_x[j] * mean[j]).collect();
            for u in 0..dy.rows {
                let line = scale.iter().zip(&fixed).zip(&by_x);
                let row = dy.row_mut(u).iter_mut().zip(x_rows.row(u)).zip(line);
                for ((dy, &x), ((&scale, &fixed), &by_x)) in row {
                    *dy = scale * *dy - fixed - by_x * x;
                }
            }
            to.give(x, dy);
        });
        (var, moments)
    }

    /// `Y(u) = exp(X(u)) / Σ_j exp(X(u, j))`. `dX(u) = Y(u) ⊙ (dY(u) − Y(u)·dY(u))`.
    pub fn softmax(&mut self, x: Var) -> Var {
        let mut y = self.value(x).clone();
        for u in 0..y.rows {
            softmax_row(y.row_mut(u));
        }
        self.push(y, &[x], move |back, dy, to| {
            to.add(x, |dx| {
                for (u, (y, dy)) in back.y.each_row().zip(dy.each_row()).enumerate() {
                    let mean: R = y.iter().zip(dy).map(|(&y, &dy)| y * dy).sum();
                    let row = dx.row_mut(u).iter_mut().zip(y).zip(dy);
                    row.for_each(|((dx, &y), &dy)| *dx += y * (dy - mean));
                }
            });
        })
    }

    /// Square blocks of `k` rows, each as an adjacency matrix without loops and with
    /// its degrees divided out: `Y(i, j) = A(i, j) / (d(i)·d(j))` for `i ≠ j`, 0 on
    /// the diagonal, where `d(i) = √r(i) + 10⁻¹⁵` and `r(i) = Σ_{j ≠ i} A(i, j)`.
    ///
    /// With `s(i) = −Σ_j (dY(i, j)·Y(i, j) + dY(j, i)·Y(j, i)) / d(i)`, which is what
    /// `d(i)` gets, and `i ≠ j`,
    ///
    /// ```text
    /// dA(i, j) = dY(i, j) / (d(i)·d(j)) + s(i) / (2·√r(i))
    /// ```
    ///
    /// A cluster that no edge leaves has a row of zeros, and passes nothing back.
    pub fn normalized_blocks(&mut self, a: Var) -> Var {
        let from = self.value(a);
        let k = from.columns;
        let degree = |block: usize| -> Vec<[R; 2]> {
            let row = |i: usize| {
                let row = from.row(block * k + i);
                let sum: R = (0..k).filter(|&j| j != i).map(|j| row[j]).sum();
                let root = if sum < R::ZERO { R::ZERO } else { sum }.sqrt();
                [root + R::from_f64(DEGREE), root]
            };
            (0..k).map(row).collect()
        };
        let degrees: Vec<Vec<[R; 2]>> = (0..from.rows / k.max(1)).map(degree).collect();
        let mut y = Array::zeros(from.rows, k);
        for (block, d) in degrees.iter().enumerate() {
            for i in 0..k {
                let (row, to) = (from.row(block * k + i), y.row_mut(block * k + i));
                for j in (0..k).filter(|&j| j != i) {
                    to[j] = row[j] / d[i][0] / d[j][0];
                }
            }
        }
        self.push(y, &[a], move |back, dy, to| {
            to.add(a, |da| {
                for (block, d) in degrees.iter().enumerate() {
                    let mut s = vec![R::ZERO; k];
                    for i in 0..k {
                        let (y, dy) = (back.y.row(block * k + i), dy.row(block * k + i));
                        for j in 0..k {
                            let both = dy[j] * y[j];
                            s[i] -= both / d[i][0];
                            s[j] -= both / d[j][0];
                        }
                    }
                    for i in (0..k).filter(|&i| d[i][1] > R::ZERO) {
                        let by_degree = s[i] / (d[i][1] + d[i][1]);
                        let (dy, to) = (dy.row(block * k + i), da.row_mut(block * k + i));
                        for j in (0..k).filter(|&j| j != i && d[j][1] > R::ZERO) {
                            to[j] += dy[j] / d[i][0] / d[j][0] + by_degree;
                        }
                    }
                }
            });
        })
    }
}

/// One row of [`Tape::softmax`].
pub(super) fn softmax_row<R: Real>(row: &mut [R]) {
    let largest =
        row.iter().copied().fold(R::from_f64(f64::NEG_INFINITY), |a, b| if b > a { b } else { a });
    let share = R::from_f64(1.0 / R::exp_sum(row, largest));
    row.iter_mut().for_each(|value| *value *= share);
}
