//! Other judges than the machine with a radial kernel, under the same discipline:
//! one setting each, chosen on the same folds inside the training part, columns
//! standardised on the part that is trained on.
//!
//! Of numbers the linear judge is a ridge regression, and the nearest say their mean. Of kernels
//! the nearest alone are judges; which kernel of several is chosen with k.

use std::time::Instant;

use hg2v_math::parallel::try_map;
use serde::{Deserialize, Serialize};

use crate::error::{Result, same_length};
use crate::frame::{Source, with_signed_log};
use crate::goal::{Task, Truth};
use crate::knn::{self, Distance};
use crate::logistic::{Logistic, LogisticParams};
use crate::matrix::Matrix;
use crate::metrics::{Errors, accuracy, errors, mean};
use crate::regress::{self, first_of_smallest};
use crate::scale::parts;
use crate::select::{self, Grid, Protocol, first_of_largest, inner_folds};
use crate::split::Split;
use crate::svm::kernel::Kernel;

/// Prices of errors of the linear classifiers. The squared length of a
/// standardised row is about its number of columns, so these reach further up
/// than they seem to: above them every margin is hard.
const LINEAR_C: [f64; 6] = [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1];

/// Numbers of neighbours.
const NEIGHBORS: [usize; 7] = [1, 3, 5, 7, 9, 15, 25];

/// scikit-learn's tolerance of a logistic regression: enough to tell classes apart.
const LOGISTIC_TOLERANCE: f64 = 1e-4;

/// A judge beside the machine with a radial kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Classifier {
    /// A C-SVM with a linear kernel; C from 10⁻⁴ to 10, in decades.
    LinearSvm,
    /// A logistic regression; the same C.
    Logistic,
    /// The vote of the k nearest by Euclidean distance; k of 1, 3, 5, 7, 9, 15, 25.
    NearestNeighbors,
}

hg2v::vocabulary! { Classifier, "also":
    LinearSvm => "linear" (before "linear-svm"), "a C-SVM with a linear kernel";
    Logistic => "logistic", "logistic regression";
    NearestNeighbors => "knn" (before "nearest-neighbors"), "the vote of the k nearest";
}

impl Classifier {
    /// Its name, as tables print it, where classes or numbers are judged.
    pub fn title(self, task: Task) -> &'static str {
        match (self, task) {
            (Classifier::LinearSvm, Task::Numbers) => "ridge",
            (Classifier::LinearSvm, _) => "linear SVM",
            (Classifier::Logistic, _) => "logistic regression",
            (Classifier::NearestNeighbors, _) => "nearest neighbours",
        }
    }
}

/// The name of the machine that judges where nothing else is asked for.
pub fn main_title(task: Task) -> &'static str {
    match task {
        Task::Numbers => "kernel ridge",
        Task::Auto | Task::Classes => "C-SVM, radial",
    }
}

/// What a classifier gave on one split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassifierSplit {
    /// Which.
    pub classifier: Classifier,
    /// The accuracy of the chosen setting in cross-validation on the training part; of numbers
    /// the root mean square error.
    pub validation: f64,
    /// The same on the test part.
    pub test: f64,
    /// Of numbers, all errors on the test part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Errors>,
    /// The setting that was chosen: C, α or k.
    pub chosen: f64,
    /// Of kernels, which of them, by its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<usize>,
    /// Seconds it took.
    pub seconds: f64,
}

/// As [`evaluate`], of numbers.
///
/// # Errors
/// As [`regress::evaluate`]; a logistic regression, which knows classes alone.
pub fn evaluate_numbers(
    x: &Matrix,
    numbers: &[f64],
    split: &Split,
    protocol: &regress::Protocol,
    classifier: Classifier,
) -> Result<ClassifierSplit> {
    let started = Instant::now();
    let outcome = match classifier {
        Classifier::LinearSvm => regress::ridge(x, numbers, split, protocol)?,
        Classifier::NearestNeighbors => regress::nearest(x, numbers, split, protocol)?,
        Classifier::Logistic => {
            let requirement = "it tells classes apart, and these are numbers";
            return Err(hg2v::Error::parameter("also", classifier, requirement).into());
        }
    };
    Ok(ClassifierSplit {
        classifier,
        validation: outcome.validation,
        test: outcome.errors.rmse,
        errors: Some(outcome.errors),
        chosen: outcome.chosen,
        kernel: None,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Chooses a setting on the training part of `split`, trains with it on all of
/// that part, and tests on the other. Of the protocol all counts but the grid.
///
/// # Errors
/// As [`select::evaluate`].
pub fn evaluate(
    x: &Matrix,
    labels: &[u32],
    split: &Split,
    protocol: &Protocol,
    classifier: Classifier,
) -> Result<ClassifierSplit> {
    let started = Instant::now();
    let (validation, test, chosen) = match classifier {
        Classifier::LinearSvm => {
            let grid = Grid { c: LINEAR_C.to_vec(), kernels: vec![Kernel::Linear] };
            let protocol = Protocol { grid, ..protocol.clone() };
            let outcome = select::evaluate(x, labels, split, &protocol)?;
            let chosen = outcome.selection.chosen();
            (chosen.mean, outcome.accuracy, chosen.c)
        }
        _ => {
            same_length("labels", x.rows(), labels.len())?;
            let x = with_signed_log(x, protocol.signed_log);
            let folds = inner_folds(labels, split, protocol.folds, protocol.seed)?;
            let settings = settings(classifier, &folds);
            let score = |split: &Split, settings: &[f64]| {
                scores(&x, labels, split, protocol.standardize, classifier, settings)
            };
            // accuracies[fold][setting]
            let accuracies: Vec<Vec<f64>> = try_map(&folds, |fold| score(fold, &settings))?;
            let of = |at: usize| accuracies.iter().map(|fold| fold[at]).collect::<Vec<f64>>();
            let means: Vec<f64> = (0..settings.len()).map(|at| mean(&of(at))).collect();
            let best = first_of_largest(means.iter().copied());
            let chosen = settings[best];
            (means[best], score(split, &[chosen])?[0], chosen)
        }
    };
    Ok(ClassifierSplit {
        classifier,
        validation,
        test,
        errors: None,
        chosen,
        kernel: None,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// As [`evaluate`] and [`evaluate_numbers`], over kernels among all rows that were computed
/// elsewhere: see [`predict_each_by_kernel`](knn::predict_each_by_kernel). k and kernel are chosen
/// together, of equals the smallest k and its first kernel. Of the protocol folds and seed count.
///
/// # Errors
/// As [`select::evaluate_precomputed`]; a judge that is for vectors.
///
/// # Complexity
/// With `n` rows, `F` folds and `K` kernels O(F·K·n²) time.
pub fn evaluate_kernels(
    kernels: &[Matrix],
    truth: &Truth,
    split: &Split,
    protocol: &Protocol,
    classifier: Classifier,
) -> Result<ClassifierSplit> {
    if classifier != Classifier::NearestNeighbors {
        let requirement = "it is for vectors, and this is a kernel";
        return Err(hg2v::Error::parameter("also", classifier, requirement).into());
    }
    let started = Instant::now();
    let Protocol { folds, seed, .. } = *protocol;
    let (rows, folds) = match truth {
        Truth::Classes { labels, .. } => (labels.len(), inner_folds(labels, split, folds, seed)?),
        Truth::Numbers(numbers) => {
            (numbers.len(), regress::inner_folds(numbers.len(), split, folds, seed)?)
        }
    };
    let ks = neighbors(&folds);
    Source::Precomputed(kernels).check(rows, "k", &ks)?;
    // scores[fold][kernel][k]
    let score =
        |fold: &Split| kernels.iter().map(|kernel| near(kernel, truth, fold, &ks)).collect();
    let scores: Vec<Vec<Vec<Said>>> = try_map(&folds, score)?;
    let of = |at: usize| {
        let (k, kernel) = (at / kernels.len(), at % kernels.len());
        mean(&scores.iter().map(|fold| fold[kernel][k].0).collect::<Vec<f64>>())
    };
    let means: Vec<f64> = (0..ks.len() * kernels.len()).map(of).collect();
    let best = match truth {
        Truth::Classes { .. } => first_of_largest(means.iter().copied()),
        Truth::Numbers(_) => first_of_smallest(means.iter().copied()),
    };
    let (chosen, kernel) = (ks[best / kernels.len()], best % kernels.len());
    let (test, errors) = near(&kernels[kernel], truth, split, &[chosen])?[0];
    Ok(ClassifierSplit {
        classifier,
        validation: means[best],
        test,
        errors,
        chosen,
        kernel: Some(kernel),
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// An accuracy, or a root mean square error and all errors.
type Said = (f64, Option<Errors>);

/// How good each k is on the test part of `split`, by the distance of a kernel.
fn near(kernel: &Matrix, truth: &Truth, split: &Split, ks: &[f64]) -> Result<Vec<Said>> {
    let ks: Vec<usize> = ks.iter().map(|&k| k as usize).collect();
    match truth {
        Truth::Classes { labels, .. } => {
            let truth: Vec<u32> = split.test.iter().map(|&row| labels[row]).collect();
            let votes = knn::predict_each_by_kernel(kernel, labels, split, &ks)?;
            votes.iter().map(|said| Ok((accuracy(&truth, said)?, None))).collect()
        }
        Truth::Numbers(numbers) => {
            let truth: Vec<f64> = split.test.iter().map(|&row| numbers[row]).collect();
            let means = knn::predict_numbers_each_by_kernel(kernel, numbers, split, &ks)?;
            let missed = |said: &Vec<f64>| errors(&truth, said);
            means.iter().map(|said| missed(said).map(|all| (all.rmse, Some(all)))).collect()
        }
    }
}

/// The settings to choose from; no more neighbours than the smallest part has.
fn settings(classifier: Classifier, folds: &[Split]) -> Vec<f64> {
    match classifier {
        Classifier::NearestNeighbors => neighbors(folds),
        _ => LINEAR_C.to_vec(),
    }
}

/// Numbers of neighbours that every part has.
pub(crate) fn neighbors(folds: &[Split]) -> Vec<f64> {
    let least = folds.iter().map(|fold| fold.train.len()).min().unwrap_or(0);
    NEIGHBORS.iter().filter(|&&k| k <= least).map(|&k| k as f64).collect()
}

/// The accuracy on the test part with each setting.
fn scores(
    x: &Matrix,
    labels: &[u32],
    split: &Split,
    standardize: bool,
    classifier: Classifier,
    settings: &[f64],
) -> Result<Vec<f64>> {
    let of = |rows: &[usize]| rows.iter().map(|&row| labels[row]).collect::<Vec<u32>>();
    let (train_labels, truth) = (of(&split.train), of(&split.test));
    let (train, test) = parts(x, &split.train, &split.test, standardize)?;
    if classifier == Classifier::NearestNeighbors {
        let ks: Vec<usize> = settings.iter().map(|&k| k as usize).collect();
        let votes = knn::predict_each(&train, &train_labels, &test, &ks, Distance::Euclidean)?;
        return votes.iter().map(|predicted| accuracy(&truth, predicted)).collect();
    }
    let score = |&c: &f64| {
        let params =
            LogisticParams { c, tolerance: LOGISTIC_TOLERANCE, ..LogisticParams::default() };
        let machine = Logistic::fit(&train, &train_labels, &params)?;
        accuracy(&truth, &machine.predict(&test)?)
    };
    try_map(settings, score)
}
