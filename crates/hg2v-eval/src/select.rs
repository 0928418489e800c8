//! C and kernel chosen by cross-validation inside the training part.
//!
//! What [`grid_search`] computes is what scikit-learn's
//! `GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=folds)` does,
//! score for score; but inner products are computed once a fold, kernel values
//! once a fold and γ, and all C share them.

use std::borrow::Cow;

use hg2v_math::parallel::try_map;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, positive, same_length};
use crate::gemm::inner_products;
use crate::matrix::Matrix;
use crate::metrics::{accuracy, mean};
use crate::scale::{parts, signed_log};
use crate::split::{Split, stratified_folds};
use crate::svm::kernel::{Fitted, Gamma, Gram, Kernel};
use crate::svm::ovo::{Groups, Machines, cross_kernel};

/// Bytes of kernel values to hold at a time, where one fold and one kernel do
/// not need more.
const MEMORY: usize = 1 << 30;

/// The settings to choose from: every C with every kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// Prices of errors.
    pub c: Vec<f64>,
    /// Kernels.
    pub kernels: Vec<Kernel>,
}

impl Grid {
    /// Every C with every γ of the radial kernel.
    pub fn rbf(c: &[f64], gammas: &[Gamma]) -> Grid {
        Grid { c: c.to_vec(), kernels: gammas.iter().map(|&gamma| Kernel::Rbf(gamma)).collect() }
    }
}

/// C from 10⁻³ to 10³ and γ from 10⁻⁴ to 1, both in decades, and γ = `scale`.
///
/// On standardised columns `scale` is one over their number, the right order of
/// magnitude for 10 to 10 000 columns that vary independently; the decades are
/// there for columns that do not.
impl Default for Grid {
    fn default() -> Grid {
        let gammas = [1e-4, 1e-3, 1e-2, 1e-1, 1.0].map(Gamma::Value);
        let gammas: Vec<Gamma> = [Gamma::Scale].into_iter().chain(gammas).collect();
        Grid::rbf(&[1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3], &gammas)
    }
}

/// Everything between vectors and an accuracy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Protocol {
    /// The settings to choose from.
    pub grid: Grid,
    /// Folds of the cross-validation that chooses.
    pub folds: usize,
    /// The seed of those folds.
    pub seed: u64,
    /// Whether `sign(e)·log(1 + |e|)` of each entry is taken first.
    pub signed_log: bool,
    /// Whether columns are standardised, anew for each training part.
    pub standardize: bool,
    /// Tolerance of the support vector machines.
    pub tolerance: f64,
}

/// Five folds, columns standardised, the default grid, LIBSVM's tolerance.
impl Default for Protocol {
    fn default() -> Protocol {
        Protocol {
            grid: Grid::default(),
            folds: 5,
            seed: 0,
            signed_log: false,
            standardize: true,
            tolerance: 1e-3,
        }
    }
}

/// Which kernel a setting has.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chosen {
    /// A kernel of vectors.
    Vectors(Kernel),
    /// One of the kernels computed elsewhere, by its place in the list.
    Precomputed(usize),
}

/// One setting of a grid, and how well it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The price of errors.
    pub c: f64,
    /// The kernel.
    pub kernel: Chosen,
    /// The accuracy on each fold.
    pub accuracies: Vec<f64>,
    /// Their mean.
    pub mean: f64,
}

/// All settings of a grid, and which is best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// C by C, for each all kernels: scikit-learn's order.
    pub settings: Vec<Setting>,
    /// The first of those with the largest mean.
    pub best: usize,
    /// How many two-class machines ran out of steps before their tolerance.
    pub unconverged: usize,
}

impl Selection {
    /// The setting that was chosen.
    pub fn chosen(&self) -> &Setting {
        &self.settings[self.best]
    }
}

/// What one outer split gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How the setting was chosen.
    pub selection: Selection,
    /// The class given to each row of the test part.
    pub predictions: Vec<u32>,
    /// The share of them that is right.
    pub accuracy: f64,
}

/// Scores every setting of the protocol's grid on every fold.
///
/// Scaling is fitted on each fold's training part; `folds` name rows of `x`.
/// The protocol's own folds and seed are not used.
///
/// # Errors
/// Unequal lengths, an empty grid, parameters that are not above 0, folds that
/// name rows that do not exist or whose training part has fewer than two classes.
pub fn grid_search(
    x: &Matrix,
    labels: &[u32],
    folds: &[Split],
    protocol: &Protocol,
) -> Result<Selection> {
    let x = with_signed_log(x, protocol);
    let source = Source::vectors(&x, protocol);
    search(&source, labels, folds, &protocol.grid.c, protocol.tolerance, MEMORY)
}

/// As [`grid_search`], over kernels among all rows that were computed elsewhere;
/// of each the lower triangle counts.
///
/// # Errors
/// A kernel that is not square or not as large as there are labels, and see
/// [`grid_search`].
pub fn grid_search_precomputed(
    kernels: &[Matrix],
    labels: &[u32],
    folds: &[Split],
    c: &[f64],
    tolerance: f64,
) -> Result<Selection> {
    search(&Source::Precomputed(kernels), labels, folds, c, tolerance, MEMORY)
}

/// Chooses a setting on the training part of `split`, trains with it on all of
/// that part, and tests on the other.
///
/// # Errors
/// See [`grid_search`].
pub fn evaluate(x: &Matrix, labels: &[u32], split: &Split, protocol: &Protocol) -> Result<Outcome> {
    let x = with_signed_log(x, protocol);
    let source = Source::vectors(&x, protocol);
    let Protocol { folds, seed, tolerance, .. } = *protocol;
    run(&source, labels, split, folds, seed, &protocol.grid.c, tolerance)
}

/// As [`evaluate`], over kernels among all rows that were computed elsewhere; of
/// the protocol only folds, seed, C and tolerance count.
///
/// # Errors
/// See [`grid_search_precomputed`].
pub fn evaluate_precomputed(
    kernels: &[Matrix],
    labels: &[u32],
    split: &Split,
    protocol: &Protocol,
) -> Result<Outcome> {
    let Protocol { folds, seed, tolerance, .. } = *protocol;
    let source = Source::Precomputed(kernels);
    run(&source, labels, split, folds, seed, &protocol.grid.c, tolerance)
}

/// The folds that [`evaluate`] chooses a setting on: of the training part of
/// `split`, in rows of the whole.
///
/// # Errors
/// As [`Split::check`] and [`stratified_folds`].
pub fn inner_folds(labels: &[u32], split: &Split, folds: usize, seed: u64) -> Result<Vec<Split>> {
    split.check(labels.len())?;
    let train_labels: Vec<u32> = split.train.iter().map(|&row| labels[row]).collect();
    let outer_rows = |rows: &[usize]| rows.iter().map(|&row| split.train[row]).collect();
    let outer =
        |fold: Split| Split { train: outer_rows(&fold.train), test: outer_rows(&fold.test) };
    Ok(stratified_folds(&train_labels, folds, seed, 0)?.into_iter().map(outer).collect())
}

/// Selection on the training part, then one training and one test.
fn run(
    source: &Source<'_>,
    labels: &[u32],
    split: &Split,
    folds: usize,
    seed: u64,
    cs: &[f64],
    tolerance: f64,
) -> Result<Outcome> {
    same_length("labels", source.rows(), labels.len())?;
    let inner = inner_folds(labels, split, folds, seed)?;
    let selection = search(source, labels, &inner, cs, tolerance, MEMORY)?;
    let part = Part::new(source, labels, split, || "the training part".into())?;
    let kernel = selection.best % source.kernels();
    let machines =
        Machines::train(&part.gram(kernel)?, &part.groups, selection.chosen().c, tolerance);
    let predictions = machines.predict(&part.groups, &part.cross(kernel));
    let truth: Vec<u32> = split.test.iter().map(|&row| labels[row]).collect();
    let accuracy = accuracy(&truth, &predictions)?;
    Ok(Outcome { selection, predictions, accuracy })
}

fn search(
    source: &Source<'_>,
    labels: &[u32],
    folds: &[Split],
    cs: &[f64],
    tolerance: f64,
    memory: usize,
) -> Result<Selection> {
    source.check(labels, cs, tolerance)?;
    if folds.is_empty() {
        return Err(Error::Empty { what: "the list of folds" });
    }
    for fold in folds {
        fold.check(labels.len())?;
    }
    let kernels = source.kernels();
    let (folds_at_once, kernels_at_once) = at_once(folds, kernels, memory);
    // accuracies[fold][kernel][c]
    let mut accuracies: Vec<Vec<Vec<f64>>> = vec![Vec::with_capacity(kernels); folds.len()];
    let mut unconverged = 0;
    for first in (0..folds.len()).step_by(folds_at_once) {
        let some = first..(first + folds_at_once).min(folds.len());
        let prepare = |fold: usize| {
            Part::new(source, labels, &folds[fold], || format!("the training part of fold {fold}"))
        };
        let parts: Vec<Part<'_>> = try_map(some.clone(), prepare)?;
        for first_kernel in (0..kernels).step_by(kernels_at_once) {
            let some_kernels = first_kernel..(first_kernel + kernels_at_once).min(kernels);
            let tasks: Vec<(usize, usize)> = some
                .clone()
                .flat_map(|fold| some_kernels.clone().map(move |kernel| (fold, kernel)))
                .collect();
            let scores: Vec<(Vec<f64>, usize)> = try_map(&tasks, |&(fold, kernel)| {
                parts[fold - first].score(kernel, labels, &folds[fold].test, cs, tolerance)
            })?;
            for ((fold, _), (scores, failed)) in tasks.into_iter().zip(scores) {
                accuracies[fold].push(scores);
                unconverged += failed;
            }
        }
    }
    let settings: Vec<Setting> = (0..cs.len() * kernels)
        .map(|at| {
            let (c, kernel) = (at / kernels, at % kernels);
            let accuracies: Vec<f64> = accuracies.iter().map(|fold| fold[kernel][c]).collect();
            let mean = mean(&accuracies);
            Setting { c: cs[c], kernel: source.kernel(kernel), accuracies, mean }
        })
        .collect();
    let best = first_of_largest(settings.iter().map(|setting| setting.mean));
    Ok(Selection { settings, best, unconverged })
}

/// The place of the largest value, the first of equal ones.
pub(crate) fn first_of_largest(mut values: impl Iterator<Item = f64> + Clone) -> usize {
    let most = values.clone().fold(0.0, f64::max);
    values.position(|value| value == most).unwrap_or(0)
}

/// How many folds and kernels to work on at a time within `memory` bytes.
fn at_once(folds: &[Split], kernels: usize, memory: usize) -> (usize, usize) {
    let train = folds.iter().map(|fold| fold.train.len()).max().unwrap_or(0);
    let test = folds.iter().map(|fold| fold.test.len()).max().unwrap_or(0);
    let products = 8 * train * (train + test);
    let values = (4 * train * train + 8 * train * test).max(1);
    let all_at_once = memory / (products + kernels * values);
    if all_at_once >= 1 {
        (all_at_once.min(folds.len()).max(1), kernels)
    } else {
        (1, (memory.saturating_sub(products) / values).clamp(1, kernels))
    }
}

/// Where kernel values come from.
enum Source<'a> {
    Vectors { x: &'a Matrix, kernels: &'a [Kernel], standardize: bool },
    Precomputed(&'a [Matrix]),
}

impl<'a> Source<'a> {
    fn vectors(x: &'a Matrix, protocol: &'a Protocol) -> Source<'a> {
        let Protocol { grid, standardize, .. } = protocol;
        Source::Vectors { x, kernels: &grid.kernels, standardize: *standardize }
    }

    fn rows(&self) -> usize {
        match self {
            Source::Vectors { x, .. } => x.rows(),
            Source::Precomputed(kernels) => kernels.first().map_or(0, Matrix::rows),
        }
    }

    fn kernels(&self) -> usize {
        match self {
            Source::Vectors { kernels, .. } => kernels.len(),
            Source::Precomputed(kernels) => kernels.len(),
        }
    }

    fn kernel(&self, at: usize) -> Chosen {
        match self {
            Source::Vectors { kernels, .. } => Chosen::Vectors(kernels[at]),
            Source::Precomputed(_) => Chosen::Precomputed(at),
        }
    }

    fn check(&self, labels: &[u32], cs: &[f64], tolerance: f64) -> Result<()> {
        if self.kernels() == 0 {
            return Err(Error::Empty { what: "the grid's list of kernels" });
        }
        if cs.is_empty() {
            return Err(Error::Empty { what: "the grid's list of C" });
        }
        cs.iter().try_for_each(|&c| positive("C", c))?;
        positive("tolerance", tolerance)?;
        match self {
            Source::Vectors { x, .. } => {
                x.has_columns()?;
                same_length("labels", x.rows(), labels.len())
            }
            Source::Precomputed(kernels) => kernels.iter().try_for_each(|kernel| {
                same_length("rows of a kernel", labels.len(), kernel.rows())?;
                same_length("columns of a kernel", labels.len(), kernel.columns())
            }),
        }
    }
}

/// One split, ready for every kernel.
struct Part<'a> {
    groups: Groups,
    values: Values<'a>,
}

enum Values<'a> {
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

impl<'a> Part<'a> {
    fn new(
        source: &Source<'a>,
        labels: &[u32],
        split: &'a Split,
        place: impl Fn() -> String,
    ) -> Result<Part<'a>> {
        let train_labels: Vec<u32> = split.train.iter().map(|&row| labels[row]).collect();
        let groups = Groups::of(&train_labels, place)?;
        let train: Vec<usize> = groups.order.iter().map(|&at| split.train[at]).collect();
        let values = match *source {
            Source::Precomputed(kernels) => {
                Values::Precomputed { kernels, train, test: &split.test }
            }
            Source::Vectors { x, kernels, standardize } => {
                let (train, test) = parts(x, &train, &split.test, standardize)?;
                let fit = |kernel: &Kernel| kernel.fit(&train);
                Values::Vectors {
                    kernels: kernels.iter().map(fit).collect::<Result<_>>()?,
                    products: inner_products(train.values(), train.values(), x.columns()),
                    squares: train.squared_norms(),
                    cross: inner_products(test.values(), train.values(), x.columns()),
                    test_squares: test.squared_norms(),
                }
            }
        };
        Ok(Part { groups, values })
    }

    /// Kernel values among training rows, class after class.
    fn gram(&self, kernel: usize) -> Result<Gram> {
        match &self.values {
            Values::Vectors { kernels, products, .. } => {
                Gram::new(kernels[kernel], products, self.groups.len())
            }
            Values::Precomputed { kernels, train, .. } => Gram::of_kernel(&kernels[kernel], train),
        }
    }

    /// Kernel values of test rows with training rows.
    fn cross(&self, kernel: usize) -> Vec<f64> {
        match &self.values {
            Values::Vectors { kernels, squares, cross, test_squares, .. } => {
                cross_kernel(kernels[kernel], cross.clone(), test_squares, squares)
            }
            Values::Precomputed { kernels, train, test } => {
                let value = |i: usize, j: usize| kernels[kernel].row(i.max(j))[i.min(j)];
                test.iter().flat_map(|&i| train.iter().map(move |&j| value(i, j))).collect()
            }
        }
    }

    /// The accuracy with one kernel and each C, and how many machines ran out of steps.
    fn score(
        &self,
        kernel: usize,
        labels: &[u32],
        test: &[usize],
        cs: &[f64],
        tolerance: f64,
    ) -> Result<(Vec<f64>, usize)> {
        let truth: Vec<u32> = test.iter().map(|&row| labels[row]).collect();
        let trained = Machines::train_all(&self.gram(kernel)?, &self.groups, cs, tolerance);
        let cross = self.cross(kernel);
        let score = |machines: &Machines| accuracy(&truth, &machines.predict(&self.groups, &cross));
        let scores = trained.iter().map(score).collect::<Result<_>>()?;
        Ok((scores, trained.iter().map(Machines::unconverged).sum()))
    }
}

pub(crate) fn with_signed_log<'a>(x: &'a Matrix, protocol: &Protocol) -> Cow<'a, Matrix> {
    let mut x = Cow::Borrowed(x);
    if protocol.signed_log {
        signed_log(x.to_mut());
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_memory_changes_nothing() {
        let labels: Vec<u32> = (0..40).map(|row| row * row % 3).collect();
        let values = (0..120).map(|at| (at as f64 * 0.7).sin() + f64::from(labels[at / 3]) / 3.0);
        let x = Matrix::new(40, 3, values.collect()).unwrap();
        let folds = stratified_folds(&labels, 4, 1, 0).unwrap();
        let protocol = Protocol::default();
        let source = Source::vectors(&x, &protocol);
        // 30 rows to train on and 10 to test on: 9600 bytes of products, 6000 a kernel.
        let search = |memory| search(&source, &labels, &folds, &[0.1, 5.0], 1e-3, memory).unwrap();
        let whole = search(MEMORY);
        for (memory, at) in [(MEMORY, (4, 6)), (100_000, (2, 6)), (22_000, (1, 2)), (1, (1, 1))] {
            assert_eq!(at_once(&folds, 6, memory), at);
            assert_eq!(search(memory), whole);
        }
    }
}
