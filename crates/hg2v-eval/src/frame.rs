//! What choosing a setting is, whatever the machine: kernel values of every fold, and a score of
//! every setting on each, within a bound on memory.

use std::borrow::Cow;

use hg2v_math::parallel::try_map;

use crate::error::{Error, Result, positive, same_length};
use crate::gemm::inner_products;
use crate::matrix::Matrix;
use crate::scale::{parts, signed_log};
use crate::select::Chosen;
use crate::split::Split;
use crate::svm::kernel::{Fitted, Kernel};
use crate::svm::ovo::cross_kernel;

/// Bytes of kernel values to hold at a time, where one fold and one kernel do
/// not need more.
pub(crate) const MEMORY: usize = 1 << 30;

/// Where kernel values come from.
pub(crate) enum Source<'a> {
    Vectors { x: &'a Matrix, kernels: &'a [Kernel], standardize: bool },
    Precomputed(&'a [Matrix]),
}

impl Source<'_> {
    pub(crate) fn rows(&self) -> usize {
        match self {
            Source::Vectors { x, .. } => x.rows(),
            Source::Precomputed(kernels) => kernels.first().map_or(0, Matrix::rows),
        }
    }

    pub(crate) fn kernels(&self) -> usize {
        match self {
            Source::Vectors { kernels, .. } => kernels.len(),
            Source::Precomputed(kernels) => kernels.len(),
        }
    }

    pub(crate) fn kernel(&self, at: usize) -> Chosen {
        match self {
            Source::Vectors { kernels, .. } => Chosen::Vectors(kernels[at]),
            Source::Precomputed(_) => Chosen::Precomputed(at),
        }
    }

    /// Whether there is a value of each of `rows` rows, and `prices` (C or α, as they are
    /// `called`) to choose from.
    pub(crate) fn check(&self, rows: usize, called: &'static str, prices: &[f64]) -> Result<()> {
        if self.kernels() == 0 {
            return Err(Error::Empty { what: "the grid's list of kernels" });
        }
        if prices.is_empty() {
            return Err(Error::Empty { what: "the grid's list of prices" });
        }
        prices.iter().try_for_each(|&price| positive(called, price))?;
        match self {
            Source::Vectors { x, .. } => {
                x.has_columns()?;
                same_length("labels", x.rows(), rows)
            }
            Source::Precomputed(kernels) => kernels.iter().try_for_each(|kernel| {
                same_length("rows of a kernel", rows, kernel.rows())?;
                same_length("columns of a kernel", rows, kernel.columns())
            }),
        }
    }
}

/// What all kernels of one split are made of.
pub(crate) enum Values<'a> {
    /// Inner products among training rows and of test rows with them.
    Vectors {
        kernels: Vec<Fitted>,
        products: Vec<f64>,
        squares: Vec<f64>,
        cross: Vec<f64>,
        test_squares: Vec<f64>,
    },
    /// Kernels among all rows, and which are trained and tested on.
    Precomputed { kernels: &'a [Matrix], train: Vec<usize>, test: &'a [usize] },
}

impl<'a> Values<'a> {
    /// Those of the rows to train on, in this order, and the rows to test on.
    pub(crate) fn new(
        source: &Source<'a>,
        train: Vec<usize>,
        test: &'a [usize],
    ) -> Result<Values<'a>> {
        Ok(match *source {
            Source::Precomputed(kernels) => Values::Precomputed { kernels, train, test },
            Source::Vectors { x, kernels, standardize } => {
                let (train, test) = parts(x, &train, test, standardize)?;
                let fit = |kernel: &Kernel| kernel.fit(&train);
                Values::Vectors {
                    kernels: kernels.iter().map(fit).collect::<Result<_>>()?,
                    products: inner_products(train.values(), train.values(), x.columns()),
                    squares: train.squared_norms(),
                    cross: inner_products(test.values(), train.values(), x.columns()),
                    test_squares: test.squared_norms(),
                }
            }
        })
    }

    /// Kernel values of test rows with training rows.
    pub(crate) fn cross(&self, kernel: usize) -> Vec<f64> {
        match self {
            Values::Vectors { kernels, squares, cross, test_squares, .. } => {
                cross_kernel(kernels[kernel], cross.clone(), test_squares, squares)
            }
            Values::Precomputed { kernels, train, test } => {
                let value = |i: usize, j: usize| kernels[kernel].row(i.max(j))[i.min(j)];
                test.iter().flat_map(|&i| train.iter().map(move |&j| value(i, j))).collect()
            }
        }
    }

    /// Kernel values among training rows, in double precision.
    pub(crate) fn square(&self, kernel: usize) -> Vec<f64> {
        match self {
            Values::Vectors { kernels, products, .. } => {
                let n = products.len().isqrt();
                // Not `squares`, whose last bits are others: a row is at no distance from itself.
                let squares: Vec<f64> = (0..n).map(|i| products[i * n + i]).collect();
                cross_kernel(kernels[kernel], products.clone(), &squares, &squares)
            }
            Values::Precomputed { kernels, train, .. } => {
                let value = |i: usize, j: usize| kernels[kernel].row(i.max(j))[i.min(j)];
                train.iter().flat_map(|&i| train.iter().map(move |&j| value(i, j))).collect()
            }
        }
    }
}

/// What `score` makes of each kernel on each fold, `scores[fold][kernel]`, as many at a time as
/// fit into `memory`: a kernel takes `bytes` for a training row with a training row.
pub(crate) fn each_fold<P: Send + Sync, S: Send>(
    folds: &[Split],
    kernels: usize,
    bytes: usize,
    memory: usize,
    prepare: impl Fn(usize) -> Result<P> + Send + Sync,
    score: impl Fn(&P, usize, usize) -> Result<S> + Send + Sync,
) -> Result<Vec<Vec<S>>> {
    let (folds_at_once, kernels_at_once) = at_once(folds, kernels, bytes, memory);
    let mut scores: Vec<Vec<S>> = folds.iter().map(|_| Vec::with_capacity(kernels)).collect();
    for first in (0..folds.len()).step_by(folds_at_once) {
        let some = first..(first + folds_at_once).min(folds.len());
        let prepared: Vec<P> = try_map(some.clone(), &prepare)?;
        for first_kernel in (0..kernels).step_by(kernels_at_once) {
            let some_kernels = first_kernel..(first_kernel + kernels_at_once).min(kernels);
            let tasks: Vec<(usize, usize)> = some
                .clone()
                .flat_map(|fold| some_kernels.clone().map(move |kernel| (fold, kernel)))
                .collect();
            let made: Vec<S> =
                try_map(&tasks, |&(fold, kernel)| score(&prepared[fold - first], fold, kernel))?;
            for ((fold, _), made) in tasks.into_iter().zip(made) {
                scores[fold].push(made);
            }
        }
    }
    Ok(scores)
}

/// How many folds and kernels to work on at a time within `memory` bytes.
pub(crate) fn at_once(
    folds: &[Split],
    kernels: usize,
    bytes: usize,
    memory: usize,
) -> (usize, usize) {
    let train = folds.iter().map(|fold| fold.train.len()).max().unwrap_or(0);
    let test = folds.iter().map(|fold| fold.test.len()).max().unwrap_or(0);
    let products = 8 * train * (train + test);
    let values = (bytes * train * train + 8 * train * test).max(1);
    let all_at_once = memory / (products + kernels * values);
    if all_at_once >= 1 {
        (all_at_once.min(folds.len()).max(1), kernels)
    } else {
        (1, (memory.saturating_sub(products) / values).clamp(1, kernels))
    }
}

/// The folds of `split`'s training part, in rows of the whole, from folds of its places.
pub(crate) fn inside(split: &Split, folds: Vec<Split>) -> Vec<Split> {
    let outer_rows = |rows: &[usize]| rows.iter().map(|&row| split.train[row]).collect();
    let outer =
        |fold: Split| Split { train: outer_rows(&fold.train), test: outer_rows(&fold.test) };
    folds.into_iter().map(outer).collect()
}

/// Folds that name rows there are; at least one.
pub(crate) fn check_folds(folds: &[Split], rows: usize) -> Result<()> {
    if folds.is_empty() {
        return Err(Error::Empty { what: "the list of folds" });
    }
    folds.iter().try_for_each(|fold| fold.check(rows))
}

pub(crate) fn with_signed_log(x: &Matrix, taken: bool) -> Cow<'_, Matrix> {
    let mut x = Cow::Borrowed(x);
    if taken {
        signed_log(x.to_mut());
    }
    x
}
