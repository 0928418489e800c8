//! The class most of the nearest neighbours have.

use std::cmp::Ordering;

use hg2v::linalg::vector::dot;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, same_length};
use crate::gemm::{product, rows_of};
use crate::matrix::Matrix;

/// Rows whose distances one task computes.
const BLOCK: usize = 64;

/// How far two vectors are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// `‖x − y‖`
    Euclidean,
    /// `1 − xᵀy / (‖x‖·‖y‖)`; a zero vector is at distance 1 from all.
    Cosine,
}

/// The class of each row of `test` by a vote of its `k` nearest rows of `train`.
///
/// Of rows equally far the earlier is nearer; of classes with equally many votes
/// the smallest wins, as in scikit-learn. Distances are exact to about 1e-8 of
/// the vectors' lengths, and equal rows are equally far from any other.
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
    same_length("columns of the test part", train.columns(), test.columns())?;
    train.has_columns()?;
    if train.rows() == 0 {
        return Err(Error::Empty { what: "the training part" });
    }
    if let Some(k) = ks.iter().find(|&&k| k == 0 || k > train.rows()) {
        return Err(Error::parameter("k", k, "it must be from 1 to the number of training rows"));
    }
    let most = ks.iter().copied().max().unwrap_or(1);
    let squares = train.squared_norms();
    let turned = rows_of(train.values(), train.rows(), train.columns()).t();
    // Of each row of a block, its classes for all k.
    let block = |rows: &[f64]| -> Vec<Vec<u32>> {
        let count = rows.len() / train.columns();
        let mut products = vec![0.0; count * train.rows()];
        product(rows_of(rows, count, train.columns()), turned, &mut products);
        let mut order: Vec<usize> = (0..train.rows()).collect();
        let tests = rows.chunks_exact(train.columns());
        tests
            .zip(products.chunks_exact_mut(train.rows()))
            .map(|(test, far)| {
                distances(distance, dot(test, test), &squares, far);
                let nearer = |a: &usize, b: &usize| -> Ordering {
                    far[*a].total_cmp(&far[*b]).then(a.cmp(b))
                };
                order.select_nth_unstable_by(most - 1, nearer);
                order[..most].sort_unstable_by(nearer);
                let vote =
                    |&k: &usize| most_frequent(order[..k].iter().map(|&row| labels[row]).collect());
                ks.iter().map(vote).collect()
            })
            .collect()
    };
    let blocks: Vec<Vec<Vec<u32>>> =
        test.values().par_chunks(BLOCK * train.columns()).map(block).collect();
    let votes = blocks.concat();
    Ok((0..ks.len()).map(|at| votes.iter().map(|vote| vote[at]).collect()).collect())
}

/// Distances of one vector, from and over its inner products with others; what is
/// the same for all others, or does not change their order, is left out:
/// `‖y‖² − 2·xᵀy`, and `−xᵀy / ‖y‖`.
fn distances(distance: Distance, square: f64, squares: &[f64], products: &mut [f64]) {
    for (value, &other) in products.iter_mut().zip(squares) {
        *value = match distance {
            Distance::Euclidean => other - 2.0 * *value,
            Distance::Cosine if square > 0.0 && other > 0.0 => -*value / other.sqrt(),
            Distance::Cosine => 0.0,
        };
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
