//! C and kernel chosen by cross-validation inside the training part.
//!
//! What [`grid_search`] computes is what scikit-learn's
//! `GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=folds)` does,
//! score for score; but inner products are computed once a fold, kernel values
//! once a fold and γ, and all C share them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Result, positive, same_length};
use crate::frame::{self, MEMORY, Source, Values, check_folds, with_signed_log};
use crate::matrix::Matrix;
use crate::metrics::{accuracy, mean};
use crate::split::{Split, stratified_folds};
use crate::svm::kernel::{Gamma, Gram, Kernel};
use crate::svm::ovo::{Groups, Machines};

/// Bytes of a kernel value, which machines keep in single precision.
const BYTES: usize = 4;

/// The settings to choose from: every C with every kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grid {
    /// Prices of errors.
    pub c: Vec<f64>,
    /// Kernels.
    pub kernels: Vec<Kernel>,
}

hg2v_math::setters!(Grid { c: Vec<f64>, kernels: Vec<Kernel> });

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
#[non_exhaustive]
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

hg2v_math::setters!(Protocol {
    grid: Grid,
    folds: usize,
    seed: u64,
    signed_log: bool,
    standardize: bool,
    tolerance: f64
});

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

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Chosen::Vectors(kernel) => kernel.fmt(f),
            Chosen::Precomputed(place) => write!(f, "number {place}"),
        }
    }
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
///
/// # Complexity
/// With `n` rows of `c` columns, `F` folds, `γ` kernels and `C` prices: O(F·n²·c) time for inner
/// products, O(F·γ·n²) for kernels, and a machine for each pair of classes, fold, kernel and price,
/// of O(n²) to O(n³) time each. Memory O(n²) for each fold that is worked on.
pub fn grid_search(
    x: &Matrix,
    labels: &[u32],
    folds: &[Split],
    protocol: &Protocol,
) -> Result<Selection> {
    let x = with_signed_log(x, protocol.signed_log);
    let source = of_vectors(&x, protocol);
    search(&source, labels, folds, &protocol.grid.c, protocol.tolerance, MEMORY)
}

/// As [`grid_search`], over kernels among all rows that were computed elsewhere;
/// of each the lower triangle counts.
///
/// # Errors
/// A kernel that is not square or not as large as there are labels, and see
/// [`grid_search`].
///
/// # Complexity
/// As [`grid_search`], without inner products.
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
///
/// # Complexity
/// That of [`grid_search`], and of one machine more for each pair of classes.
pub fn evaluate(x: &Matrix, labels: &[u32], split: &Split, protocol: &Protocol) -> Result<Outcome> {
    let x = with_signed_log(x, protocol.signed_log);
    let source = of_vectors(&x, protocol);
    let Protocol { folds, seed, tolerance, .. } = *protocol;
    run(&source, labels, split, folds, seed, &protocol.grid.c, tolerance)
}

/// As [`evaluate`], over kernels among all rows that were computed elsewhere; of
/// the protocol only folds, seed, C and tolerance count.
///
/// # Errors
/// See [`grid_search_precomputed`].
///
/// # Complexity
/// As [`evaluate`], without inner products.
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
    Ok(frame::inside(split, stratified_folds(&train_labels, folds, seed, 0)?))
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
    let predictions = machines.predict(&part.groups, &part.values.cross(kernel));
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
    source.check(labels.len(), "C", cs)?;
    positive("tolerance", tolerance)?;
    check_folds(folds, labels.len())?;
    let kernels = source.kernels();
    let prepare = |fold: usize| {
        Part::new(source, labels, &folds[fold], || format!("the training part of fold {fold}"))
    };
    // scores[fold][kernel]: accuracies, C by C, and machines that ran out of steps.
    let scores = frame::each_fold(folds, kernels, BYTES, memory, prepare, |part, fold, kernel| {
        part.score(kernel, labels, &folds[fold].test, cs, tolerance)
    })?;
    let unconverged = scores.iter().flatten().map(|(_, failed)| failed).sum();
    let settings: Vec<Setting> = (0..cs.len() * kernels)
        .map(|at| {
            let (c, kernel) = (at / kernels, at % kernels);
            let accuracies: Vec<f64> = scores.iter().map(|fold| fold[kernel].0[c]).collect();
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

/// Vectors, and the protocol's kernels of them.
fn of_vectors<'a>(x: &'a Matrix, protocol: &'a Protocol) -> Source<'a> {
    let Protocol { grid, standardize, .. } = protocol;
    Source::Vectors { x, kernels: &grid.kernels, standardize: *standardize }
}

/// One split, ready for every kernel.
struct Part<'a> {
    groups: Groups,
    values: Values<'a>,
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
        Ok(Part { groups, values: Values::new(source, train, &split.test)? })
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
        let cross = self.values.cross(kernel);
        let score = |machines: &Machines| accuracy(&truth, &machines.predict(&self.groups, &cross));
        let scores = trained.iter().map(score).collect::<Result<_>>()?;
        Ok((scores, trained.iter().map(Machines::unconverged).sum()))
    }
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
        let source = of_vectors(&x, &protocol);
        // 30 rows to train on and 10 to test on: 9600 bytes of products, 6000 a kernel.
        let search = |memory| search(&source, &labels, &folds, &[0.1, 5.0], 1e-3, memory).unwrap();
        let whole = search(MEMORY);
        for (memory, at) in [(MEMORY, (4, 6)), (100_000, (2, 6)), (22_000, (1, 2)), (1, (1, 1))] {
            assert_eq!(frame::at_once(&folds, 6, BYTES, memory), at);
            assert_eq!(search(memory), whole);
        }
    }
}
