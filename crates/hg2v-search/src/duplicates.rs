//! Rows that are too much alike.

use hg2v::error::{Error, Result};
use hg2v_math::Real;
use hg2v_math::gemm::View;
use hg2v_math::parallel::crew;
use rayon::prelude::*;
use serde::Serialize;

use crate::exact::{QUERIES, each_block};
use crate::space::{Metric, Space};

/// Two rows and how far apart they are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pair {
    /// The earlier row.
    pub first: usize,
    /// The later row.
    pub second: usize,
    /// How far.
    pub distance: f64,
}

/// All pairs of rows within a distance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Duplicates {
    /// How many there are.
    pub count: u64,
    /// The nearest of them, nearest first; of pairs equally near the earlier first.
    pub pairs: Vec<Pair>,
}

/// The cosine from which on two vectors are called alike, unless somebody says otherwise.
///
/// Vectors of isomorphic graphs differ by what single precision rounds: some 3e-7 of their length.
/// About one such pair in ten lies further apart, because coarsening met a tie. Of 60 graphs of
/// MUTAG, PTC_FR, ENZYMES and IMDB-BINARY and as many copies with renamed nodes this finds 51, 55,
/// 57 and 59 pairs, by Euclid 50, 54, 57 and 59; and of 30 543 pairs of other graphs of MUTAG 10,
/// by Euclid 4, of more than 47 000 of each other set none.
pub const ALIKE: f64 = 0.9999;

/// How far apart alike vectors are at most: [`ALIKE`] as a distance of the space. By Euclid it is
/// that of vectors as long as those of the space, in the quadratic mean: `√(2·(1 − ALIKE))`, or
/// 1.4 %, of that length.
///
/// # Complexity
/// `O(n)` time.
pub fn alike<R: Real>(space: &Space<R>) -> f64 {
    match space.metric {
        Metric::Cosine => 1.0 - ALIKE,
        Metric::Euclidean => {
            let mean = space.squares.iter().sum::<f64>() / space.len().max(1) as f64;
            (2.0 * (1.0 - ALIKE) * mean).sqrt()
        }
    }
}

/// How far apart pairs are at most that somebody asks for by a `threshold`: by cosine it is the least
/// cosine, by Euclid the largest distance, and nothing asks for what is [`alike`].
///
/// # Errors
/// A cosine that is none.
pub fn asked_for<R: Real>(space: &Space<R>, threshold: Option<f64>) -> Result<f64> {
    match (space.metric, threshold) {
        (_, None) => Ok(alike(space)),
        (Metric::Cosine, Some(cosine)) if !(-1.0..=1.0).contains(&cosine) => {
            let requirement = "a cosine is between −1 and 1";
            Err(Error::parameter("duplicates", cosine, requirement))
        }
        (Metric::Cosine, Some(cosine)) => Ok(1.0 - cosine),
        (Metric::Euclidean, Some(distance)) => Ok(distance),
    }
}

/// The pairs of rows at most `within` apart, of which the `most` nearest are kept.
///
/// All pairs are looked at: what their products leave open is measured exactly.
///
/// # Errors
/// A distance that is negative or not a number.
///
/// # Complexity
/// `O(n² · dim)` time; space for `most` pairs of each 384 rows, where there are as many.
///
/// # Examples
/// ```
/// use hg2v_search::duplicates::duplicates;
/// use hg2v_search::{Metric, Space};
/// let space = Space::new(1, vec![0.0f32, 5.0, 0.25], Metric::Euclidean)?;
/// let found = duplicates(&space, 1.0, 10)?;
/// assert_eq!((found.pairs[0].first, found.pairs[0].second), (0, 2));
/// # Ok::<(), hg2v::Error>(())
/// ```
pub fn duplicates<R: Real>(space: &Space<R>, within: f64, most: usize) -> Result<Duplicates> {
    if within.is_nan() || within < 0.0 {
        return Err(Error::argument("the threshold", within, "a distance is at least 0"));
    }
    let (dim, shadows) = (space.dim, &space.shadows);
    let order = |a: &Pair, b: &Pair| {
        a.distance.total_cmp(&b.distance).then((a.first, a.second).cmp(&(b.first, b.second)))
    };
    let keep_nearest = |pairs: &mut Vec<Pair>| {
        pairs.sort_unstable_by(order);
        pairs.truncate(most);
    };
    // Half the squared distance of shadows, or 1 less their cosine, may be as large as this.
    let reach = space.reach(within);
    let block = |start: usize| -> (u64, Vec<Pair>) {
        let count = QUERIES.min(space.len() - start);
        let (mut found, mut pairs) = (0, Vec::new());
        let own = View::new(&shadows.rows[start * dim..], count, dim, dim);
        each_block(space, own, start..space.len(), |first, keys, width| {
            for (i, keys) in keys.chunks_exact(width).enumerate() {
                let i = start + i;
                let base = match space.metric {
                    Metric::Euclidean => shadows.halves[i],
                    Metric::Cosine => 1.0,
                };
                let bound = reach + shadows.slacks[i] - base;
                // Each pair once: with the rows after this one.
                for j in first.max(i + 1)..(first + width).max(i + 1) {
                    if keys[j - first] - shadows.slacks[j] > bound {
                        continue;
                    }
                    let distance = space.distance(i, j);
                    if distance <= within {
                        found += 1;
                        pairs.push(Pair { first: i, second: j, distance });
                    }
                }
                if pairs.len() >= 2 * most + 1024 {
                    keep_nearest(&mut pairs);
                }
            }
        });
        keep_nearest(&mut pairs);
        (found, pairs)
    };
    let starts: Vec<usize> = (0..space.len()).step_by(QUERIES).collect();
    let blocks: Vec<(u64, Vec<Pair>)> =
        starts.into_par_iter().map(|start| crew::alone(|| block(start))).collect();
    let count = blocks.iter().map(|(count, _)| count).sum();
    let mut pairs: Vec<Pair> = Vec::new();
    for (_, of_block) in blocks {
        pairs.extend(of_block);
        keep_nearest(&mut pairs);
    }
    Ok(Duplicates { count, pairs })
}
