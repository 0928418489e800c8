//! The class most of the nearest neighbours have, or the mean of their numbers.
//!
//! Vectors are near by a [`Distance`], what a kernel compares by its own:
//!
//! ```text
//! d²(x, y) = ‖φ(x) − φ(y)‖² = k(x, x) + k(y, y) − 2·k(x, y)
//! ```

pub use hg2v_search::Metric as Distance;
use hg2v_search::Space;
use hg2v_search::exact;

use crate::error::{Error, Result, same_length};
use crate::matrix::Matrix;
use crate::split::Split;

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
    Ok(each_of(&near, ks, |near| vote(near, labels)))
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
    Ok(each_of(&near, ks, |near| mean(near, numbers)))
}

/// As [`predict_each`], by the distance of a kernel among all rows, those of `split`; `labels` are
/// of all rows, and of the kernel the lower triangle counts.
///
/// # Errors
/// A kernel that is not square or not as large as there are labels; a split that names rows that
/// do not exist; `k` of 0 or more than there are training rows.
///
/// # Complexity
/// `O(tests · trains)` time.
pub fn predict_each_by_kernel(
    kernel: &Matrix,
    labels: &[u32],
    split: &Split,
    ks: &[usize],
) -> Result<Vec<Vec<u32>>> {
    let near = nearest_by_kernel(kernel, labels.len(), split, ks)?;
    Ok(each_of(&near, ks, |near| vote(near, labels)))
}

/// As [`predict_numbers_each`], by the distance of a kernel: see [`predict_each_by_kernel`].
///
/// # Errors
/// As [`predict_each_by_kernel`].
pub fn predict_numbers_each_by_kernel(
    kernel: &Matrix,
    numbers: &[f64],
    split: &Split,
    ks: &[usize],
) -> Result<Vec<Vec<f64>>> {
    let near = nearest_by_kernel(kernel, numbers.len(), split, ks)?;
    Ok(each_of(&near, ks, |near| mean(near, numbers)))
}

/// What the k nearest of each row say, for every k of `ks`.
fn each_of<T>(near: &[Vec<usize>], ks: &[usize], say: impl Fn(&[usize]) -> T) -> Vec<Vec<T>> {
    ks.iter().map(|&k| near.iter().map(|near| say(&near[..k])).collect()).collect()
}

fn vote(near: &[usize], labels: &[u32]) -> u32 {
    most_frequent(near.iter().map(|&row| labels[row]).collect())
}

fn mean(near: &[usize], numbers: &[f64]) -> f64 {
    near.iter().map(|&row| numbers[row]).sum::<f64>() / near.len() as f64
}

/// The nearest rows of `train` to each of `test`, as many as the largest of `ks`.
fn nearest(
    train: &Matrix,
    test: &Matrix,
    ks: &[usize],
    distance: Distance,
) -> Result<Vec<Vec<usize>>> {
    same_length("columns of the test part", train.columns(), test.columns())?;
    train.has_columns()?;
    if train.rows() == 0 {
        return Err(Error::Empty { what: "the training part" });
    }
    let most = most_of(ks, train.rows())?;
    let space = Space::new(train.columns(), train.values().to_vec(), distance)?;
    let near = exact::nearest(&space, test.values(), most)?;
    Ok(near.iter().map(|near| near.iter().map(|neighbor| neighbor.position).collect()).collect())
}

/// The training rows nearest to each test row, as many as the largest of `ks`, by a kernel among
/// `rows` rows; of rows equally far the first.
fn nearest_by_kernel(
    kernel: &Matrix,
    rows: usize,
    split: &Split,
    ks: &[usize],
) -> Result<Vec<Vec<usize>>> {
    same_length("rows of a kernel", rows, kernel.rows())?;
    same_length("columns of a kernel", rows, kernel.columns())?;
    split.check(rows)?;
    let most = most_of(ks, split.train.len())?;
    let k = |i: usize, j: usize| kernel.row(i.max(j))[i.min(j)];
    let own: Vec<f64> = split.train.iter().map(|&row| k(row, row)).collect();
    let of_row = |&test: &usize| {
        let at = k(test, test);
        let far = |(&row, own): (&usize, &f64)| (at + own - 2.0 * k(test, row), row);
        let mut all: Vec<(f64, usize)> = split.train.iter().zip(&own).map(far).collect();
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        all.select_nth_unstable_by(most - 1, order);
        all.truncate(most);
        all.sort_unstable_by(order);
        all.into_iter().map(|(_, row)| row).collect()
    };
    Ok(split.test.iter().map(of_row).collect())
}

/// The largest of `ks`.
fn most_of(ks: &[usize], trains: usize) -> Result<usize> {
    match ks.iter().find(|&&k| k == 0 || k > trains) {
        Some(k) => Err(Error::argument("k", k, "it must be from 1 to the number of training rows")),
        None => Ok(ks.iter().copied().max().unwrap_or(1)),
    }
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
