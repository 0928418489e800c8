//! What is done number by number, or row by row.

use hg2v_math::Real;

use super::{Array, Tape, Var};

impl<R: Real> Tape<R> {
    /// `Y = A + B`.
    pub fn add(&mut self, a: Var, b: Var) -> Var {
        self.add_scaled(a, R::ONE, b)
    }

    /// `Y = A + s·B`. `dA = dY`, `dB = s·dY`.
    pub fn add_scaled(&mut self, a: Var, scale: R, b: Var) -> Var {
        let mut y = self.value(a).clone();
        y.same_shape(self.value(b));
        R::axpy(scale, &self.value(b).values, &mut y.values);
        self.push(y, &[a, b], move |_, dy, to| {
            to.add_scaled(b, scale, &dy);
            to.give(a, dy);
        })
    }

    /// `Y = A + s·B` for a single number `s` on the tape. As
    /// [`add_scaled`](Tape::add_scaled), and `ds = Σ B ⊙ dY`.
    pub fn add_times(&mut self, a: Var, s: Var, b: Var) -> Var {
        let mut y = self.value(a).clone();
        y.same_shape(self.value(b));
        R::axpy(self.value(s).values[0], &self.value(b).values, &mut y.values);
        self.push(y, &[a, s, b], move |back, dy, to| {
            to.add_scaled(b, back[s].values[0], &dy);
            to.add(s, |ds| ds.values[0] += dot(&back[b].values, &dy.values));
            to.give(a, dy);
        })
    }

    /// `Y = s·X + c`. `dX = s·dY`.
    pub fn affine(&mut self, x: Var, scale: R, shift: R) -> Var {
        let y = self.value(x).map(|x| scale * x + shift);
        self.push(y, &[x], move |_, dy, to| to.add_scaled(x, scale, &dy))
    }

    /// `Y = A ⊙ B`. `dA = B ⊙ dY`, `dB = A ⊙ dY`.
    pub fn times(&mut self, a: Var, b: Var) -> Var {
        let mut y = self.value(a).clone();
        y.same_shape(self.value(b));
        y.values.iter_mut().zip(&self.value(b).values).for_each(|(y, b)| *y *= *b);
        self.push(y, &[a, b], move |back, dy, to| {
            for (one, other) in [(a, b), (b, a)] {
                to.add(one, |d| {
                    let more = back[other].values.iter().zip(&dy.values);
                    d.values.iter_mut().zip(more).for_each(|(d, (x, dy))| *d += *x * *dy);
                });
            }
        })
    }

    /// `Y = max(0, X)`. `dX = dY` where `X > 0`.
    pub fn relu(&mut self, x: Var) -> Var {
        // A NaN is not hidden: it fails the comparison.
        let y = self.value(x).map(|x| if x < R::ZERO { R::ZERO } else { x });
        self.push(y, &[x], move |back, mut dy, to| {
            // A product rather than a choice, which the processor would have to guess.
            for (dy, y) in dy.values.iter_mut().zip(&back.y.values) {
                *dy *= if *y > R::ZERO { R::ONE } else { R::ZERO };
            }
            to.give(x, dy);
        })
    }

    /// `Y = √max(X, least)`. `dX = dY / (2·Y)` where `X > least`, 0 elsewhere.
    pub fn sqrt(&mut self, x: Var, least: R) -> Var {
        let y = self.value(x).map(|x| if x < least { least } else { x }.sqrt());
        self.push(y, &[x], move |back, dy, to| {
            to.add(x, |dx| {
                let inputs = back[x].values.iter().zip(&back.y.values);
                for ((dx, (x, y)), dy) in dx.values.iter_mut().zip(inputs).zip(&dy.values) {
                    if *x > least {
                        *dx += *dy / (*y + *y);
                    }
                }
            });
        })
    }

    /// `Y = 1 / max(X, least)`. `dX = −Y² ⊙ dY` where `X > least`, 0 elsewhere.
    pub fn reciprocal(&mut self, x: Var, least: R) -> Var {
        let y = self.value(x).map(|x| R::ONE / if x < least { least } else { x });
        self.push(y, &[x], move |back, dy, to| {
            to.add(x, |dx| {
                let inputs = back[x].values.iter().zip(&back.y.values);
                for ((dx, (x, y)), dy) in dx.values.iter_mut().zip(inputs).zip(&dy.values) {
                    if *x > least {
                        *dx -= *y * *y * *dy;
                    }
                }
            });
        })
    }

    /// `Y(u) = c(u)·X(u)`: each row times a number of its own, in the column `c`.
    /// `dX(u) = c(u)·dY(u)` and `dc(u) = X(u)·dY(u)`.
    pub fn scale_rows(&mut self, x: Var, c: Var) -> Var {
        let (from, scale) = (self.value(x), self.value(c));
        assert_eq!((scale.rows, scale.columns), (from.rows, 1), "a number for each row");
        let mut y = Array::zeros(from.rows, from.columns);
        for u in 0..from.rows {
            R::axpy(scale.values[u], from.row(u), y.row_mut(u));
        }
        self.push(y, &[x, c], move |back, dy, to| {
            to.add(x, |dx| {
                let rows = dy.each_row().zip(&back[c].values).enumerate();
                rows.for_each(|(u, (dy, c))| R::axpy(*c, dy, dx.row_mut(u)));
            });
            to.add(c, |dc| {
                let rows = back[x].each_row().zip(dy.each_row());
                dc.values.iter_mut().zip(rows).for_each(|(dc, (x, dy))| *dc += dot(x, dy));
            });
        })
    }

    /// `y(u) = A(u)·B(u)`, a column. `dA(u) = dy(u)·B(u)` and `dB(u) = dy(u)·A(u)`.
    pub fn row_dots(&mut self, a: Var, b: Var) -> Var {
        let (left, right) = (self.value(a), self.value(b));
        left.same_shape(right);
        let dots = left.each_row().zip(right.each_row()).map(|(a, b)| dot(a, b)).collect();
        let y = Array::new(left.rows, 1, dots);
        self.push(y, &[a, b], move |back, dy, to| {
            for (one, other) in [(a, b), (b, a)] {
                to.add(one, |d| {
                    let rows = back[other].each_row().zip(&dy.values).enumerate();
                    rows.for_each(|(u, (x, dy))| R::axpy(*dy, x, d.row_mut(u)));
                });
            }
        })
    }

    /// `y(u) = Σ_j X(u, j)`, a column. `dX(u, j) = dy(u)`.
    pub fn row_sums(&mut self, x: Var) -> Var {
        let from = self.value(x);
        let y = Array::new(
            from.rows,
            1,
            from.each_row().map(|row| row.iter().copied().sum()).collect(),
        );
        self.push(y, &[x], move |_, dy, to| {
            to.add(x, |dx| {
                for (u, dy) in dy.values.iter().enumerate() {
                    dx.row_mut(u).iter_mut().for_each(|dx| *dx += *dy);
                }
            });
        })
    }

    /// The sum of all numbers. `dX = dy` everywhere.
    pub fn sum(&mut self, x: Var) -> Var {
        let y = Array::scalar(self.value(x).values.iter().copied().sum());
        self.push(y, &[x], move |_, dy, to| {
            let dy = dy.values[0];
            to.add(x, |dx| dx.values.iter_mut().for_each(|dx| *dx += dy));
        })
    }

    /// The mean of all numbers; 0 of none.
    pub fn mean(&mut self, x: Var) -> Var {
        let share = R::from_f64(1.0 / self.value(x).values.len().max(1) as f64);
        let sum = self.sum(x);
        self.affine(sum, share, R::ZERO)
    }

    /// `Y = [X₁ | X₂ | …]`; each gets its columns of `dY`.
    pub fn beside(&mut self, parts: &[Var]) -> Var {
        let rows = parts.first().map_or(0, |&part| self.value(part).rows);
        let columns = parts.iter().map(|&part| self.value(part).columns).sum();
        let mut y = Array::zeros(rows, columns);
        let mut first = 0;
        for &part in parts {
            let x = self.value(part);
            assert_eq!(x.rows, rows, "as many rows beside each other");
            for (u, row) in x.each_row().enumerate() {
                y.row_mut(u)[first..first + x.columns].copy_from_slice(row);
            }
            first += x.columns;
        }
        let all = parts.to_vec();
        self.push(y, parts, move |back, dy, to| {
            let mut first = 0;
            for &part in &all {
                let columns = back[part].columns;
                to.add(part, |dx| {
                    for (u, dy) in dy.each_row().enumerate() {
                        R::axpy(R::ONE, &dy[first..first + columns], dx.row_mut(u));
                    }
                });
                first += columns;
            }
        })
    }
}

/// `Σ a·b`, from first to last.
fn dot<R: Real>(a: &[R], b: &[R]) -> R {
    a.iter().zip(b).map(|(&a, &b)| a * b).sum()
}
