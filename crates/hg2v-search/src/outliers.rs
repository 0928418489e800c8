//! Rows that are like no other.

use hg2v::error::{Error, Result};
use hg2v_math::Real;

use crate::index::Index;
use crate::space::Neighbor;
use crate::surprise::Surprise;

/// Every row with the distance to its `k`-th nearest other, furthest first; of rows
/// equally far out the earlier first. Where there are fewer others the last counts,
/// and a row alone is at distance 0.
///
/// # Errors
/// `k` of 0.
///
/// # Complexity
/// That of [`Index::neighbor_graph`].
///
/// # Examples
/// ```
/// use hg2v::context::Context;
/// use hg2v_search::outliers::outliers;
/// use hg2v_search::{Index, IndexKind, Metric, Space};
/// let space = Space::new(1, vec![0.0f32, 1.0, 2.0, 50.0], Metric::Euclidean)?;
/// let index = Index::new(space, IndexKind::Exact, 0, &Context::default())?;
/// assert_eq!(outliers(&index, 1)?[0].position, 3);
/// # Ok::<(), hg2v::Error>(())
/// ```
pub fn outliers<R: Real>(index: &Index<R>, k: usize) -> Result<Vec<Neighbor>> {
    let graph = index.neighbor_graph(k)?;
    let furthest = |row: usize| Neighbor {
        position: row,
        distance: graph.nearest(row, k).last().map_or(0.0, |last| last.distance),
    };
    let mut all: Vec<Neighbor> = (0..graph.len()).map(furthest).collect();
    all.sort_by(|a, b| b.distance.total_cmp(&a.distance).then(a.position.cmp(&b.position)));
    Ok(all)
}

/// Refuses a `k` of which no row, of so many, has a neighbour.
///
/// # Errors
/// 0, and more than there are others.
pub fn check_k(k: usize, rows: usize) -> Result<()> {
    let others = rows.saturating_sub(1);
    match k {
        0 => Err(Error::parameter("outliers", k, "it must be at least 1")),
        _ if k > others => {
            let requirement = format!("it must be at most {others}, the number of other vectors");
            Err(Error::parameter("outliers", k, requirement))
        }
        _ => Ok(()),
    }
}

/// A row that stands out, and in which respects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlier {
    /// Which row.
    pub position: usize,
    /// `o`: how far it stands out.
    pub score: f64,
    /// `r` of its surprise by neighbours of nodes.
    pub neighbors: f64,
    /// `r` of its surprise by colours that no other graph has.
    pub unmet: f64,
    /// `r` of its distance to its `k`-th nearest other, where that is large; else 0.
    pub distance: f64,
}

/// Every row with how far its graph stands out, furthest first; of rows equally far the earlier
/// first. `surprises` are those of the graphs of the rows, in their order.
///
/// ```text
/// o = r(z_s) + r(z_u) + max(0, r(d_k))
/// r(x) = (x − median) / (1.4826·median of |x − median| + 0.05·σ)
/// ```
///
/// `d_k` is the distance to the `k`-th nearest other. `r` counts each in its usual deviations, which
/// a few outliers do not change; `σ`, the deviation of all, keeps it finite where most are equal. A
/// short distance does not make up for a surprise: it may well come from it.
///
/// # Errors
/// `k` of 0; surprises of another number of graphs.
///
/// # Complexity
/// That of [`outliers`].
///
/// # Examples
/// ```
/// use hg2v::context::Context;
/// use hg2v_search::outliers::standing_out;
/// use hg2v_search::surprise::Surprise;
/// use hg2v_search::{Index, IndexKind, Metric, Space};
/// let space = Space::new(1, vec![0.0f32, 1.0, 2.0, 3.0, 4.0], Metric::Euclidean)?;
/// let index = Index::new(space, IndexKind::Exact, 0, &Context::default())?;
/// let mut surprises = [Surprise::default(); 5];
/// surprises[2].unmet = 3.0;
/// assert_eq!(standing_out(&index, 1, &surprises)?[0].position, 2);
/// # Ok::<(), hg2v::Error>(())
/// ```
pub fn standing_out<R: Real>(
    index: &Index<R>,
    k: usize,
    surprises: &[Surprise],
) -> Result<Vec<Outlier>> {
    let rows = index.space().len();
    if surprises.len() != rows {
        let requirement = format!("there are {rows} rows");
        return Err(Error::argument("the number of surprises", surprises.len(), requirement));
    }
    let mut distances = vec![0.0; rows];
    for row in outliers(index, k)? {
        distances[row.position] = row.distance;
    }
    let distances = in_deviations(&distances);
    let of = |part: fn(&Surprise) -> f64| {
        in_deviations(&surprises.iter().map(part).collect::<Vec<f64>>())
    };
    let (neighbors, unmet) = (of(|one| one.neighbors), of(|one| one.unmet));
    let one = |position: usize| {
        let (neighbors, unmet) = (neighbors[position], unmet[position]);
        let distance = distances[position].max(0.0);
        Outlier { position, score: neighbors + unmet + distance, neighbors, unmet, distance }
    };
    let mut all: Vec<Outlier> = (0..rows).map(one).collect();
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.position.cmp(&b.position)));
    Ok(all)
}

/// `r` of each; 0 where all are equal.
fn in_deviations(x: &[f64]) -> Vec<f64> {
    let n = x.len().max(1) as f64;
    let mean = x.iter().sum::<f64>() / n;
    let deviation = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    let middle = median(x);
    let off: Vec<f64> = x.iter().map(|x| (x - middle).abs()).collect();
    let scale = 1.4826 * median(&off) + 0.05 * deviation;
    let scale = if scale > 0.0 { scale } else { 1.0 };
    x.iter().map(|x| (x - middle) / scale).collect()
}

/// The middle number, or the mean of the two in the middle; 0 of none.
fn median(x: &[f64]) -> f64 {
    let mut x = x.to_vec();
    x.sort_by(f64::total_cmp);
    match x.len() {
        0 => 0.0,
        n => 0.5 * (x[(n - 1) / 2] + x[n / 2]),
    }
}
