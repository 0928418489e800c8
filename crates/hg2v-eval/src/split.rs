//! Who is trained on and who is tested.
//!
//! All ways of splitting are pure functions of the labels, a seed and an index. Where
//! there are classes they are stratified: each part has each class in the proportion in
//! which the whole has it, as nearly as whole members allow. How many members of a
//! class go where is what scikit-learn decides; which ones is drawn from our own
//! random stream. Numbers, and several targets at once, have one class: plain shuffles.

use hg2v_math::rng;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Rows to train on and rows to test on, each ascending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// Rows of the training part.
    pub train: Vec<usize>,
    /// Rows of the test part.
    pub test: Vec<usize>,
}

impl Split {
    /// Checks a split, which may come from a file, against data of `rows` rows:
    /// both parts have members, every member exists, and none is named twice.
    /// Rows in neither part are allowed.
    ///
    /// # Errors
    /// The first thing that is wrong.
    ///
    /// # Complexity
    /// O(n) time and memory for `rows` = n.
    pub fn check(&self, rows: usize) -> Result<()> {
        let mut seen = vec![false; rows];
        for &row in self.train.iter().chain(&self.test) {
            match seen.get_mut(row) {
                None => {
                    let problem = format!("but there are only {rows}");
                    return Err(Error::Row { row, problem });
                }
                Some(seen) if *seen => {
                    return Err(Error::Row { row, problem: "and names it twice".into() });
                }
                Some(seen) => *seen = true,
            }
        }
        if self.train.is_empty() {
            return Err(Error::Empty { what: "the training part of a split" });
        }
        if self.test.is_empty() {
            return Err(Error::Empty { what: "the test part of a split" });
        }
        Ok(())
    }
}

/// The `index`-th random split under `seed`, with a share of `test_share` in the
/// test part (rounded up), as scikit-learn's `StratifiedShuffleSplit`.
///
/// The training part is allotted to the classes by largest remainder: each gets
/// `⌊n_class · n_train / n⌋`, and the rest goes one each to the largest
/// fractions, equal ones in random order. A class with a single member, which
/// scikit-learn refuses, goes whole to one side: usually the training part.
///
/// # Errors
/// Fewer than two classes; a share that leaves a side empty.
///
/// # Complexity
/// O(n·log n) time for `n` rows.
pub fn stratified_shuffle(labels: &[u32], test_share: f64, seed: u64, index: u64) -> Result<Split> {
    shuffle_of(two_classes_of(labels)?, test_share, seed, index)
}

/// As [`stratified_shuffle`], of `rows` rows without classes: scikit-learn's `ShuffleSplit`.
///
/// # Errors
/// A share that leaves a side empty.
///
/// # Complexity
/// As [`stratified_shuffle`].
pub fn shuffle(rows: usize, test_share: f64, seed: u64, index: u64) -> Result<Split> {
    shuffle_of(vec![(0..rows).collect()], test_share, seed, index)
}

fn shuffle_of(members: Vec<Vec<usize>>, test_share: f64, seed: u64, index: u64) -> Result<Split> {
    let n: usize = members.iter().map(Vec::len).sum();
    let n_test = (test_share * n as f64).ceil();
    if !(test_share > 0.0 && n_test >= 1.0 && n_test < n as f64) {
        return Err(Error::argument(
            "test_share",
            test_share,
            "it must leave at least one row on each side",
        ));
    }
    let n_test = n_test as usize;
    let mut rng = rng::split_stream(seed, *b"shuffle\0", index);
    let sizes: Vec<usize> = members.iter().map(Vec::len).collect();
    let mut tie_break: Vec<usize> = (0..sizes.len()).collect();
    rng::shuffle(&mut tie_break, &mut rng);
    let quota = largest_remainder(&sizes, n - n_test, &tie_break);
    let mut split = Split { train: Vec::with_capacity(n - n_test), test: Vec::new() };
    for (mut members, quota) in members.into_iter().zip(quota) {
        rng::shuffle(&mut members, &mut rng);
        split.test.extend_from_slice(&members[quota..]);
        split.train.extend_from_slice(&members[..quota]);
    }
    split.train.sort_unstable();
    split.test.sort_unstable();
    Ok(split)
}

/// The `index`-th division into `folds` folds under `seed`, as scikit-learn's
/// `StratifiedKFold` with shuffling: one split a fold, whose test part it is.
///
/// The members of all classes, one class after the other in order of first
/// appearance, are dealt round the folds like cards; so the folds' sizes differ
/// by at most one, and so do each class' members in them. A class with fewer
/// members than folds is allowed: some folds lack it.
///
/// # Errors
/// Fewer than two classes, fewer than two folds, more folds than rows.
///
/// # Complexity
/// O(n·log n + n·folds) time and O(n·folds) memory for `n` rows.
pub fn stratified_folds(labels: &[u32], folds: usize, seed: u64, index: u64) -> Result<Vec<Split>> {
    let mut members = two_classes_of(labels)?;
    members.sort_by_key(|members| members[0]);
    folds_of(members, folds, seed, index)
}

/// As [`stratified_folds`], of `rows` rows without classes: scikit-learn's `KFold` with shuffling.
///
/// # Errors
/// Fewer than two folds, more folds than rows.
///
/// # Complexity
/// As [`stratified_folds`].
pub fn plain_folds(rows: usize, folds: usize, seed: u64, index: u64) -> Result<Vec<Split>> {
    folds_of(vec![(0..rows).collect()], folds, seed, index)
}

fn folds_of(members: Vec<Vec<usize>>, folds: usize, seed: u64, index: u64) -> Result<Vec<Split>> {
    let n: usize = members.iter().map(Vec::len).sum();
    if folds < 2 || folds > n {
        return Err(Error::argument(
            "folds",
            folds,
            format!(
                "it must be between 2 and {n}, the graphs there are to divide: give more graphs"
            ),
        ));
    }
    let mut rng = rng::split_stream(seed, *b"folds\0\0\0", index);
    let mut fold_of = vec![0; n];
    let mut dealt = 0;
    for members in members {
        let mut cards: Vec<usize> = (dealt..dealt + members.len()).map(|at| at % folds).collect();
        dealt += members.len();
        rng::shuffle(&mut cards, &mut rng);
        for (row, fold) in members.into_iter().zip(cards) {
            fold_of[row] = fold;
        }
    }
    let part = |fold: usize, inside: bool| {
        (0..n).filter(|&row| (fold_of[row] == fold) == inside).collect()
    };
    Ok((0..folds).map(|fold| Split { train: part(fold, false), test: part(fold, true) }).collect())
}

/// `seats` shared out in proportion to `sizes`; equal fractions in the order of
/// `tie_break`.
fn largest_remainder(sizes: &[usize], seats: usize, tie_break: &[usize]) -> Vec<usize> {
    let total: usize = sizes.iter().sum();
    let exact: Vec<f64> =
        sizes.iter().map(|&size| size as f64 / total as f64 * seats as f64).collect();
    let mut quota: Vec<usize> = exact.iter().map(|exact| exact.floor() as usize).collect();
    let mut order = tie_break.to_vec();
    // Stable, so that the tie break decides among equals.
    order.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()));
    let missing = seats - quota.iter().sum::<usize>().min(seats);
    for &class in order.iter().take(missing) {
        quota[class] += 1;
    }
    quota
}

/// The rows of each class, classes ascending; at least two.
fn two_classes_of(labels: &[u32]) -> Result<Vec<Vec<usize>>> {
    let classes = Classes::of(labels, || "the labels".into())?;
    let mut members = vec![Vec::new(); classes.names.len()];
    for (row, &class) in classes.of_row.iter().enumerate() {
        members[class].push(row);
    }
    Ok(members)
}

/// The classes that occur among labels.
#[derive(Debug, Clone)]
pub(crate) struct Classes {
    /// Their labels, ascending; at least two.
    pub(crate) names: Vec<u32>,
    /// The place in `names` of each row's label.
    pub(crate) of_row: Vec<usize>,
}

impl Classes {
    /// The classes among `labels`; `place` says whose labels, should they be too few.
    pub(crate) fn of(labels: &[u32], place: impl Fn() -> String) -> Result<Classes> {
        let mut names = labels.to_vec();
        names.sort_unstable();
        names.dedup();
        match names[..] {
            [] => Err(Error::Empty { what: "the list of labels" }),
            [class] => Err(Error::OneClass { place: place(), class, count: labels.len() }),
            _ => {
                let of_row =
                    labels.iter().map(|label| names.partition_point(|name| name < label)).collect();
                Ok(Classes { names, of_row })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_go_to_the_largest_remainders() {
        // 7 of 10 in proportion 5 : 3 : 2 is 3.5, 2.1, 1.4.
        assert_eq!(largest_remainder(&[5, 3, 2], 7, &[0, 1, 2]), [4, 2, 1]);
        // Equal remainders follow the tie break.
        assert_eq!(largest_remainder(&[2, 2, 2, 1], 2, &[2, 1, 0, 3]), [0, 1, 1, 0]);
        assert_eq!(largest_remainder(&[2, 2, 2, 1], 2, &[0, 1, 2, 3]), [1, 1, 0, 0]);
    }
}
