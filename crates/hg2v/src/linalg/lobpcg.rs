//! LOBPCG: locally optimal block preconditioned conjugate gradients (Knyazev 2001).
//!
//! Each step minimises the Rayleigh quotient over three blocks at once: the
//! current vectors, their preconditioned residuals, and the last step's direction.

use std::ops::Range;

use hg2v_math::linalg::block::{Block, each_row, each_row_of_two, of_chunks};
use hg2v_math::linalg::dense::symmetric_eigen;
use hg2v_math::linalg::vector::start_value;

use super::Operator;
use super::multilevel::Hierarchy;
use super::spectrum::MOST_PAIRS;

/// The residual, relative to its eigenvalue, at which a pair is good enough to
/// guide a coarsening.
pub(crate) const TOLERANCE: f64 = 2e-2;

/// The spectrum of a large social network begins with a band too dense to tell
/// its eigenvectors apart, nor is there need to: there, values that stand still
/// (changing by less than `STANDSTILL` a step) with residuals below this are
/// good enough. Every value is then within three tenths of an eigenvalue, and in
/// the mean within the square of that.
pub(crate) const BAND_TOLERANCE: f64 = 3e-1;
const STANDSTILL: f64 = 1e-2;

/// Steps on the finest level before giving up, and on the levels below it.
const STEPS: usize = 60;
const COARSE_STEPS: usize = 12;

/// What [`smallest`] found.
pub(crate) struct Found {
    /// The smallest non-zero eigenvalues, ascending.
    pub values: Vec<f64>,
    /// Their vectors, one after the other.
    pub vectors: Vec<f64>,
    /// Whether every residual is below [`TOLERANCE`], or [`BAND_TOLERANCE`] where
    /// the values stand still.
    pub converged: bool,
}

/// The `wanted` smallest non-zero eigenpairs of `operator`, `wanted` at most [`MOST_PAIRS`].
///
/// The coarsest operator of the hierarchy is solved densely; its vectors are
/// carried up level by level, refined on each.
pub(crate) fn smallest(operator: &Operator, wanted: usize) -> Found {
    // Two vectors more than wanted: the last ones of a block converge slowly.
    match wanted + 2 {
        ..=8 => nested::<8>(operator, wanted),
        9..=16 => nested::<16>(operator, wanted),
        _ => nested::<{ MOST_PAIRS + 2 }>(operator, wanted),
    }
}

fn nested<const P: usize>(operator: &Operator, wanted: usize) -> Found {
    let hierarchy = Hierarchy::new(operator);
    let coarsest = hierarchy.depth() - 1;
    let mut level = coarsest;
    let mut x: Block<P> = (0..hierarchy.operator(coarsest).len() as u64)
        .map(|row| std::array::from_fn(|column| start_value(row * P as u64 + column as u64)))
        .collect();
    loop {
        let current = hierarchy.operator(level);
        let steps = if level == 0 { STEPS } else { COARSE_STEPS };
        let mut room = hierarchy.room(level);
        let precondition =
            |r: &[[f64; P]], z: &mut [[f64; P]]| hierarchy.cycle(level, r, z, &mut room);
        let (values, refined, converged) = refine(current, x, wanted, steps, precondition);
        if level == 0 {
            let vectors = (0..wanted).flat_map(|c| refined.iter().map(move |row| row[c])).collect();
            return Found { values: values[..wanted].to_vec(), vectors, converged };
        }
        x = hierarchy.prolong(level, &refined);
        level -= 1;
    }
}

/// LOBPCG steps from `x` until the first `wanted` residuals are small.
///
/// `x` are the vectors, `w` their preconditioned residuals, `p` the last step;
/// `ax`, `aw`, `ap` are their images under the operator. All are written over in
/// place.
fn refine<const P: usize>(
    operator: &Operator,
    mut x: Block<P>,
    wanted: usize,
    steps: usize,
    mut precondition: impl FnMut(&[[f64; P]], &mut [[f64; P]]),
) -> (Vec<f64>, Block<P>, bool) {
    let n = operator.len();
    let [mut ax, mut w, mut aw, mut p, mut ap] = std::array::from_fn(|_| vec![[0.0; P]; n]);
    project_out_null(operator, &mut x);
    operator.apply_block(&x, &mut ax);
    // The first Rayleigh–Ritz step orthonormalises the start.
    let start = rayleigh_ritz([&x], [&ax]);
    transform(&mut x, &start.coefficients);
    transform(&mut ax, &start.coefficients);
    let mut values = start.values;
    let mut moving = true;
    for step in 0..=steps {
        let residual = &mut aw;
        residuals(&x, &ax, &values, residual);
        let tolerance = if moving { TOLERANCE } else { BAND_TOLERANCE };
        let norms = column_norms(residual);
        let converged = norms[..wanted].iter().zip(&values).all(|(r, v)| *r <= tolerance * v);
        if converged || step == steps {
            return (values, x, converged);
        }
        precondition(residual, &mut w);
        project_out_null(operator, &mut w);
        normalize_columns(&mut w);
        operator.apply_block(&w, &mut aw);
        let best = if step == 0 {
            rayleigh_ritz([&x, &w], [&ax, &aw])
        } else {
            rayleigh_ritz([&x, &w, &p], [&ax, &aw, &ap])
        };
        advance(&mut x, &w, &mut p, &best.coefficients);
        advance(&mut ax, &aw, &mut ap, &best.coefficients);
        // The null vector is what a step enlarges most: from a rounding error it
        // would take over within a few dozen steps. (Its image is 0, so the
        // images stay as they are.)
        project_out_null(operator, &mut x);
        project_out_null(operator, &mut p);
        let change = |(new, old): (&f64, &f64)| (old - new) > STANDSTILL * new;
        moving = best.values[..wanted].iter().zip(&values).any(change);
        values = best.values;
    }
    (values, x, false)
}

/// The best approximations within the span of some blocks.
struct Ritz<const P: usize> {
    values: Vec<f64>,
    /// For each column of each block, in order: its part in each of the `P` results.
    coefficients: Vec<[f64; P]>,
}

/// Rayleigh–Ritz on the span of `B` blocks `S`, given `A·S`: eigenpairs of
/// `SᵀAS` relative to `SᵀS`, directions that the blocks share left out.
fn rayleigh_ritz<const P: usize, const B: usize>(
    blocks: [&Block<P>; B],
    images: [&Block<P>; B],
) -> Ritz<P> {
    let (gram, energy) = gram_matrices(blocks, images);
    let (values, coefficients) = best_in_span(&gram, &energy, B * P, P);
    Ritz { values, coefficients: coefficients.as_chunks().0.to_vec() }
}

/// The `p` lowest eigenvalues of the matrix `energy` of `m` columns relative to `gram`, and
/// their vectors: column `c` of row `i` is the part that column `i` has in vector `c`.
fn best_in_span(gram: &[f64], energy: &[f64], m: usize, p: usize) -> (Vec<f64>, Vec<f64>) {
    // Columns scaled to unit length, so that a short direction is not mistaken
    // for a dependent one.
    let scale: Vec<f64> = (0..m)
        .map(|i| if gram[i * m + i] > 0.0 { 1.0 / gram[i * m + i].sqrt() } else { 0.0 })
        .collect();
    let mut scaled: Vec<f64> =
        (0..m * m).map(|at| gram[at] * scale[at / m] * scale[at % m]).collect();
    let empty = || (vec![0.0; p], vec![0.0; m * p]);
    let Some((sizes, directions)) = symmetric_eigen(&mut scaled, m, m) else {
        return empty();
    };
    // An orthonormal basis of the span: T = scale·V·size^(-1/2).
    let mut basis: Vec<f64> = Vec::with_capacity(m * m);
    let largest = sizes.last().copied().unwrap_or(0.0);
    for (size, direction) in sizes.iter().zip(directions.chunks_exact(m)) {
        if *size > 1e-11 * largest {
            basis.extend(direction.iter().zip(&scale).map(|(v, s)| v * s / size.sqrt()));
        }
    }
    let rank = basis.len() / m;
    let mut reduced = vec![0.0; rank * rank];
    for (i, left) in basis.chunks_exact(m).enumerate() {
        let image: Vec<f64> = (0..m)
            .map(|row| energy[row * m..(row + 1) * m].iter().zip(left).map(|(e, v)| e * v).sum())
            .collect();
        for (j, right) in basis.chunks_exact(m).enumerate() {
            reduced[i * rank + j] = right.iter().zip(&image).map(|(a, b)| a * b).sum();
        }
    }
    for i in 0..rank {
        for j in 0..i {
            let mean = 0.5 * (reduced[i * rank + j] + reduced[j * rank + i]);
            reduced[i * rank + j] = mean;
            reduced[j * rank + i] = mean;
        }
    }
    let Some((mut values, vectors)) = symmetric_eigen(&mut reduced, rank, p) else {
        return empty();
    };
    values.resize(p.max(values.len()), f64::INFINITY);
    values.truncate(p);
    let mut coefficients = vec![0.0; m * p];
    for (column, vector) in vectors.chunks_exact(rank.max(1)).enumerate() {
        for (part, basis) in vector.iter().zip(basis.chunks_exact(m)) {
            for (slots, b) in coefficients.chunks_exact_mut(p).zip(basis) {
                slots[column] += part * b;
            }
        }
    }
    (values, coefficients)
}

/// `SᵀS` and `SᵀAS` for the blocks side by side: sums over chunks of rows, added
/// in the order of the chunks.
fn gram_matrices<const P: usize, const B: usize>(
    blocks: [&Block<P>; B],
    images: [&Block<P>; B],
) -> (Vec<f64>, Vec<f64>) {
    let n = blocks[0].len();
    let m = B * P;
    let partial = |rows: Range<usize>| {
        let mut sums = vec![0.0; 2 * m * m];
        let (gram, energy) = sums.split_at_mut(m * m);
        for (left, a) in blocks.iter().enumerate() {
            for right in 0..=left {
                for i in rows.clone() {
                    let (u, v, av) = (&a[i], &blocks[right][i], &images[right][i]);
                    for p in 0..P {
                        let at = (left * P + p) * m + right * P;
                        let row = &mut gram[at..at + P];
                        for q in 0..P {
                            row[q] += u[p] * v[q];
                        }
                        let row = &mut energy[at..at + P];
                        for q in 0..P {
                            row[q] += u[p] * av[q];
                        }
                    }
                }
            }
        }
        sums
    };
    let mut total = vec![0.0; 2 * m * m];
    for sums in of_chunks(n, partial) {
        total.iter_mut().zip(&sums).for_each(|(total, sum)| *total += sum);
    }
    let (gram, energy) = total.split_at_mut(m * m);
    for matrix in [&mut *gram, &mut *energy] {
        for i in 0..m {
            for j in 0..i {
                matrix[j * m + i] = matrix[i * m + j];
            }
        }
    }
    (gram.to_vec(), energy.to_vec())
}

/// `X ← X·C`.
fn transform<const P: usize>(x: &mut Block<P>, coefficients: &[[f64; P]]) {
    each_row(x, |_, x| *x = times(x, coefficients));
}

/// One step: `P ← W·C_w + P·C_p`, then `X ← X·C_x + P`, where the coefficients
/// are those of `x`, of `w` and, after the first step, of `p`.
fn advance<const P: usize>(
    x: &mut Block<P>,
    w: &Block<P>,
    p: &mut Block<P>,
    coefficients: &[[f64; P]],
) {
    let (of_x, rest) = coefficients.split_at(P);
    let (of_w, of_p) = rest.split_at(P);
    each_row_of_two(x, p, |row, x, p| {
        let (kept, turned, again) = (times(x, of_x), times(&w[row], of_w), times(p, of_p));
        for c in 0..P {
            p[c] = turned[c] + again[c];
            x[c] = kept[c] + p[c];
        }
    });
}

/// A row times a matrix; a matrix without rows is zero.
fn times<const P: usize>(row: &[f64; P], coefficients: &[[f64; P]]) -> [f64; P] {
    let mut out = [0.0; P];
    for (value, part) in row.iter().zip(coefficients) {
        for c in 0..P {
            out[c] += value * part[c];
        }
    }
    out
}

/// `R = A·X − X·Θ`.
fn residuals<const P: usize>(x: &Block<P>, ax: &Block<P>, values: &[f64], r: &mut Block<P>) {
    each_row(r, |row, r| {
        let (x, ax) = (&x[row], &ax[row]);
        for c in 0..P {
            r[c] = if values[c].is_finite() { ax[c] - values[c] * x[c] } else { 0.0 };
        }
    });
}

/// Sums over the rows, column by column, in the order of the chunks.
fn column_sums<const P: usize>(n: usize, term: impl Fn(usize) -> [f64; P] + Sync) -> [f64; P] {
    let partial = |rows: Range<usize>| {
        let mut sum = [0.0; P];
        for row in rows {
            let term = term(row);
            for c in 0..P {
                sum[c] += term[c];
            }
        }
        sum
    };
    of_chunks(n, partial)
        .into_iter()
        .fold([0.0; P], |total, sum| std::array::from_fn(|c| total[c] + sum[c]))
}

fn column_norms<const P: usize>(r: &Block<P>) -> [f64; P] {
    column_sums(r.len(), |row| r[row].map(|v| v * v)).map(f64::sqrt)
}

fn normalize_columns<const P: usize>(x: &mut Block<P>) {
    let norms = column_norms(x);
    each_row(x, |_, row| {
        for c in 0..P {
            row[c] = if norms[c] > 0.0 { row[c] / norms[c] } else { 0.0 };
        }
    });
}

fn project_out_null<const P: usize>(operator: &Operator, x: &mut Block<P>) {
    let null = &operator.null;
    let along = column_sums(x.len(), |row| x[row].map(|v| v * null[row]));
    each_row(x, |i, row| {
        for c in 0..P {
            row[c] -= along[c] * null[i];
        }
    });
}
