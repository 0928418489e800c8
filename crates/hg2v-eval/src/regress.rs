//! α and kernel chosen by cross-validation inside the training part: numbers, as [`select`] does
//! classes.
//!
//! What [`grid_search`] computes is what scikit-learn's `GridSearchCV(make_pipeline(StandardScaler(),
//! KernelRidge(kernel="rbf")), grid, cv=folds, scoring="neg_root_mean_squared_error")` does, with
//! the mean of the numbers that are learnt from taken off; [`ridge`] is the same of `Ridge`.

use hg2v_math::parallel::try_map;
use serde::{Deserialize, Serialize};

use crate::classifiers::neighbors;
use crate::error::{Result, positive, same_length};
use crate::frame::{self, MEMORY, Source, Values, check_folds, with_signed_log};
use crate::knn::{self, Distance};
use crate::matrix::Matrix;
use crate::metrics::{Errors, errors, mean};
use crate::ridge::{Ridge, duals};
use crate::scale::parts;
use crate::select::{self, Chosen};
use crate::split::{Split, plain_folds};
use crate::svm::kernel::{Gamma, Kernel};

/// Bytes of a kernel value: the kernel and its factor are in double precision.
const BYTES: usize = 16;

/// The settings to choose from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grid {
    /// Prices of large weights, of kernel ridge.
    pub alpha: Vec<f64>,
    /// Its kernels.
    pub kernels: Vec<Kernel>,
    /// Prices of large weights, of ridge.
    pub ridge: Vec<f64>,
}

hg2v_math::setters!(Grid { alpha: Vec<f64>, kernels: Vec<Kernel>, ridge: Vec<f64> });

/// α of kernel ridge from 10⁻³ to 10 and γ from 10⁻⁴ to 10⁻¹, both in decades, and γ = `scale`; α
/// of ridge from 10⁻² to 10⁵: of standardised columns `XᵀX` is of the size of the number of rows.
impl Default for Grid {
    fn default() -> Grid {
        let gammas = [1e-4, 1e-3, 1e-2, 1e-1].map(Gamma::Value);
        let gammas = [Gamma::Scale].into_iter().chain(gammas);
        Grid {
            alpha: vec![1e-3, 1e-2, 1e-1, 1.0, 1e1],
            kernels: gammas.map(Kernel::Rbf).collect(),
            ridge: vec![1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4, 1e5],
        }
    }
}

/// Everything between vectors and an error.
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
}

hg2v_math::setters!(Protocol {
    grid: Grid,
    folds: usize,
    seed: u64,
    signed_log: bool,
    standardize: bool
});

impl Default for Protocol {
    fn default() -> Protocol {
        Protocol::like(&select::Protocol::default())
    }
}

impl Protocol {
    /// The folds, seed and scaling of a protocol for classes.
    pub fn like(classes: &select::Protocol) -> Protocol {
        let select::Protocol { folds, seed, signed_log, standardize, .. } = *classes;
        Protocol { grid: Grid::default(), folds, seed, signed_log, standardize }
    }
}

/// One setting of a grid, and how far off it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The price of large weights.
    pub alpha: f64,
    /// The kernel.
    pub kernel: Chosen,
    /// The root mean square error on each fold.
    pub rmses: Vec<f64>,
    /// Their mean.
    pub mean: f64,
}

/// All settings of a grid, and which is best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// α by α, for each all kernels: scikit-learn's order.
    pub settings: Vec<Setting>,
    /// The first of those with the smallest mean.
    pub best: usize,
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
    /// The number given to each row of the test part.
    pub predictions: Vec<f64>,
    /// How far off they are.
    pub errors: Errors,
}

/// Scores every α and kernel of the protocol's grid on every fold; `folds` name rows of `x`.
/// Scaling, γ = `scale` and the mean are of each fold's training part.
///
/// # Errors
/// Unequal lengths, an empty grid, parameters that are not above 0, folds that name rows that do
/// not exist.
///
/// # Complexity
/// With `n` rows of `c` columns, `F` folds, `γ` kernels and `A` prices: time O(F·n²·c + F·γ·A·n³),
/// a factor of the kernel for each price; memory O(n²) for each fold that is worked on.
pub fn grid_search(
    x: &Matrix,
    numbers: &[f64],
    folds: &[Split],
    protocol: &Protocol,
) -> Result<Selection> {
    let x = with_signed_log(x, protocol.signed_log);
    search(&of_vectors(&x, protocol), numbers, folds, &protocol.grid.alpha)
}

/// Chooses α and kernel on the training part of `split`, learns with them from all of that part,
/// and tests on the other.
///
/// # Errors
/// See [`grid_search`].
///
/// # Complexity
/// That of [`grid_search`], and of one factor more.
pub fn evaluate(
    x: &Matrix,
    numbers: &[f64],
    split: &Split,
    protocol: &Protocol,
) -> Result<Outcome> {
    let x = with_signed_log(x, protocol.signed_log);
    run(&of_vectors(&x, protocol), numbers, split, protocol)
}

/// As [`evaluate`], over kernels among all rows that were computed elsewhere. Prices are in units
/// of the mean of a kernel's diagonal.
///
/// # Errors
/// A kernel that is not square or not as large as there are numbers, and see [`grid_search`].
///
/// # Complexity
/// As [`evaluate`], without inner products.
pub fn evaluate_precomputed(
    kernels: &[Matrix],
    numbers: &[f64],
    split: &Split,
    protocol: &Protocol,
) -> Result<Outcome> {
    run(&Source::Precomputed(kernels), numbers, split, protocol)
}

/// The folds that settings are chosen on: of the training part of `split`, in rows of the whole.
///
/// # Errors
/// As [`Split::check`] and [`plain_folds`].
pub fn inner_folds(rows: usize, split: &Split, folds: usize, seed: u64) -> Result<Vec<Split>> {
    split.check(rows)?;
    Ok(frame::inside(split, plain_folds(split.train.len(), folds, seed, 0)?))
}

fn of_vectors<'a>(x: &'a Matrix, protocol: &'a Protocol) -> Source<'a> {
    Source::Vectors { x, kernels: &protocol.grid.kernels, standardize: protocol.standardize }
}

fn run(
    source: &Source<'_>,
    numbers: &[f64],
    split: &Split,
    protocol: &Protocol,
) -> Result<Outcome> {
    same_length("numbers", source.rows(), numbers.len())?;
    let inner = inner_folds(numbers.len(), split, protocol.folds, protocol.seed)?;
    let selection = search(source, numbers, &inner, &protocol.grid.alpha)?;
    let kernel = selection.best % source.kernels();
    let values = Values::new(source, split.train.clone(), &split.test)?;
    let mut said = predictions(&values, kernel, numbers, split, &[selection.chosen().alpha]);
    let predictions = said.swap_remove(0);
    let errors = errors(&of(numbers, &split.test), &predictions)?;
    Ok(Outcome { selection, predictions, errors })
}

fn search(
    source: &Source<'_>,
    numbers: &[f64],
    folds: &[Split],
    alphas: &[f64],
) -> Result<Selection> {
    source.check(numbers.len(), "alpha", alphas)?;
    check_folds(folds, numbers.len())?;
    let kernels = source.kernels();
    let prepare = |fold: usize| {
        let split: &Split = &folds[fold];
        Values::new(source, split.train.clone(), &split.test)
    };
    let score = |values: &Values<'_>, fold: usize, kernel: usize| -> Result<Vec<f64>> {
        let truth = of(numbers, &folds[fold].test);
        let said = predictions(values, kernel, numbers, &folds[fold], alphas);
        said.iter().map(|said| Ok(errors(&truth, said)?.rmse)).collect()
    };
    // scores[fold][kernel][α]
    let scores = frame::each_fold(folds, kernels, BYTES, MEMORY, prepare, score)?;
    let settings: Vec<Setting> = (0..alphas.len() * kernels)
        .map(|at| {
            let (alpha, kernel) = (at / kernels, at % kernels);
            let rmses: Vec<f64> = scores.iter().map(|fold| fold[kernel][alpha]).collect();
            let mean = mean(&rmses);
            Setting { alpha: alphas[alpha], kernel: source.kernel(kernel), rmses, mean }
        })
        .collect();
    let best = first_of_smallest(settings.iter().map(|setting| setting.mean));
    Ok(Selection { settings, best })
}

/// What kernel ridge with each α says of the test part.
fn predictions(
    values: &Values<'_>,
    kernel: usize,
    numbers: &[f64],
    split: &Split,
    alphas: &[f64],
) -> Vec<Vec<f64>> {
    let cross = values.cross(kernel);
    let duals = duals(&values.square(kernel), &of(numbers, &split.train), alphas);
    duals.iter().map(|dual| dual.predict(&cross)).collect()
}

/// What a machine with one setting gave on one outer split.
#[derive(Debug, Clone, PartialEq)]
pub struct OneSetting {
    /// The mean of the root mean square errors on the folds.
    pub validation: f64,
    /// The setting that was chosen: α, or k.
    pub chosen: f64,
    /// The number given to each row of the test part.
    pub predictions: Vec<f64>,
    /// How far off they are.
    pub errors: Errors,
}

/// As [`evaluate`], by ridge regression: α of [`Grid::ridge`].
///
/// # Errors
/// See [`grid_search`].
pub fn ridge(
    x: &Matrix,
    numbers: &[f64],
    split: &Split,
    protocol: &Protocol,
) -> Result<OneSetting> {
    let alphas = &protocol.grid.ridge;
    alphas.iter().try_for_each(|&alpha| positive("alpha", alpha))?;
    one_setting(
        x,
        numbers,
        split,
        protocol,
        |_| alphas.clone(),
        |train, y, test, alphas| {
            Ridge::path(train, y, alphas)?.iter().map(|model| model.predict(test)).collect()
        },
    )
}

/// As [`evaluate`], by the mean of the k nearest of Euclidean distance; k as for classes.
///
/// # Errors
/// See [`grid_search`].
pub fn nearest(
    x: &Matrix,
    numbers: &[f64],
    split: &Split,
    protocol: &Protocol,
) -> Result<OneSetting> {
    one_setting(x, numbers, split, protocol, neighbors, |train, y, test, ks| {
        let ks: Vec<usize> = ks.iter().map(|&k| k as usize).collect();
        knn::predict_numbers_each(train, y, test, &ks, Distance::Euclidean)
    })
}

/// Chooses among `settings` of the folds; `say` has the training rows, their numbers, the test rows
/// and settings, and says a number for each test row and setting.
fn one_setting(
    x: &Matrix,
    numbers: &[f64],
    split: &Split,
    protocol: &Protocol,
    settings: impl Fn(&[Split]) -> Vec<f64>,
    say: impl Fn(&Matrix, &[f64], &Matrix, &[f64]) -> Result<Vec<Vec<f64>>> + Send + Sync,
) -> Result<OneSetting> {
    same_length("numbers", x.rows(), numbers.len())?;
    let x = with_signed_log(x, protocol.signed_log);
    let folds = inner_folds(numbers.len(), split, protocol.folds, protocol.seed)?;
    let settings = settings(&folds);
    let say = |split: &Split, settings: &[f64]| {
        let (train, test) = parts(&x, &split.train, &split.test, protocol.standardize)?;
        say(&train, &of(numbers, &split.train), &test, settings)
    };
    // rmses[fold][setting]
    let score = |fold: &Split| -> Result<Vec<f64>> {
        let truth = of(numbers, &fold.test);
        say(fold, &settings)?.iter().map(|said| Ok(errors(&truth, said)?.rmse)).collect()
    };
    let rmses: Vec<Vec<f64>> = try_map(&folds, score)?;
    let of_setting = |at: usize| rmses.iter().map(|fold| fold[at]).collect::<Vec<f64>>();
    let means: Vec<f64> = (0..settings.len()).map(|at| mean(&of_setting(at))).collect();
    let best = first_of_smallest(means.iter().copied());
    let predictions = say(split, &settings[best..=best])?.swap_remove(0);
    let errors = errors(&of(numbers, &split.test), &predictions)?;
    Ok(OneSetting { validation: means[best], chosen: settings[best], predictions, errors })
}

/// The numbers of these rows.
fn of(numbers: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|&row| numbers[row]).collect()
}

/// The place of the smallest value, the first of equal ones.
pub(crate) fn first_of_smallest(mut values: impl Iterator<Item = f64> + Clone) -> usize {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    values.position(|value| value == least).unwrap_or(0)
}
