//! The class most of the nearest neighbours have, or the mean of their numbers.

pub use hg2v_search::Metric as Distance;
use hg2v_search::exact;
use hg2v_search::{Neighbor, Space};

use crate::error::{Error, Result, same_length};
use crate::matrix::Matrix;

/// The class of each row of `test` by a vote of its `k` nearest rows of `train`.
///
/// Of rows equally far the earlier is nearer; of classes with equally many votes
/// the smallest wins, as in scikit-learn. Neighbours are [`exact`].
///
/// # Errors
/// Unequal lengths or widths, no training rows, `k` of 0 or more than there are
/// training rows.
///
/// # Complexity
/// `O(tests · trains · columns)` time, one matrix product a block of tests.
pub fn predict(
    train: &Matrix,
    labels: &[u32],
    test: &Matrix,
    k: usize,
    distance: Distance,
) -> Result<Vec<u32>> {
    let mut each = predict_each(train, labels, test, &[k], distance)?;
    Ok(each.pop().unwrap_or_default())
}

/// As [`predict`], for every k of `ks`; distances are computed once.
///
/// # Errors
/// As [`predict`].
pub fn predict_each(
    train: &Matrix,
    labels: &[u32],
    test: &Matrix,
    ks: &[usize],
    distance: Distance,
) -> Result<Vec<Vec<u32>>> {
    same_length("labels", train.rows(), labels.len())?;
    let near = nearest(train, test, ks, distance)?;
    let vote = |near: &Vec<Neighbor>, k: usize| {
        most_frequent(near[..k].iter().map(|neighbor| labels[neighbor.position]).collect())
    };
    Ok(ks.iter().map(|&k| near.iter().map(|near| vote(near, k)).collect()).collect())
}

/// The mean of the numbers of the k nearest rows, for every k of `ks`: scikit-learn's
/// `KNeighborsRegressor`.
///
/// # Errors
/// As [`predict`].
pub fn predict_numbers_each(
    train: &Matrix,
    numbers: &[f64],
    test: &Matrix,
    ks: &[usize],
    distance: Distance,
) -> Result<Vec<Vec<f64>>> {
    same_length("numbers", train.rows(), numbers.len())?;
    let near = nearest(train, test, ks, distance)?;
    let mean = |near: &Vec<Neighbor>, k: usize| {
        near[..k].iter().map(|neighbor| numbers[neighbor.position]).sum::<f64>() / k as f64
    };
    Ok(ks.iter().map(|&k| near.iter().map(|near| mean(near, k)).collect()).collect())
}

/// The nearest rows of `train` to each of `test`, as many as the largest of `ks`.
fn nearest(
    train: &Matrix,
    test: &Matrix,
    ks: &[usize],
    distance: Distance,
) -> Result<Vec<Vec<Neighbor>>> {
    same_length("columns of the test part", train.columns(), test.columns())?;
    train.has_columns()?;
    if train.rows() == 0 {
        return Err(Error::Empty { what: "the training part" });
    }
    if let Some(k) = ks.iter().find(|&&k| k == 0 || k > train.rows()) {
        return Err(Error::argument("k", k, "it must be from 1 to the number of training rows"));
    }
    let most = ks.iter().copied().max().unwrap_or(1);
    let space = Space::new(train.columns(), train.values().to_vec(), distance)?;
    Ok(exact::nearest(&space, test.values(), most)?)
}

/// The most frequent of `labels`, the smallest of equally frequent ones.
fn most_frequent(mut labels: Vec<u32>) -> u32 {
    labels.sort_unstable();
    let runs = labels.chunk_by(|a, b| a == b);
    // Of equal keys `max_by_key` takes the last; reversed, that is the smallest class.
    runs.rev().max_by_key(|run| run.len()).map_or(0, |run| run[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_smallest_class() {
        assert_eq!(most_frequent(vec![5, 2, 2, 5, 9]), 2);
        assert_eq!(most_frequent(vec![9]), 9);
        assert_eq!(most_frequent(vec![1, 3, 3]), 3);
    }
}
