//! The hierarchical pair loss: can a node's neighbourhood tell its super-node
//! from all others?
//!
//! On one level of a batch there are `N` nodes with neighbourhoods `x(u)` and `M`
//! super-nodes `g(v)` above them; the logits are `s(u, v) = x(u)·g(v)`. Of the
//! pairs, `(u, 𝒫(u))` are positive and the others (or those of other graphs)
//! negative; where `M` is large, those with [super-nodes that were drawn](super::draw) stand
//! for all negative ones. Logits are made, used and forgotten tile by tile; there is never an
//! `N × M` matrix.

use std::ops::Range;

use hg2v_math::Real;
use hg2v_math::gemm::{View, ViewMut, product, serial};
use hg2v_math::parallel::crew;
use serde::{Deserialize, Serialize};

use super::batch::BatchLevel;

/// Logits of a tile: a few megabytes, which the caches can hold.
const TILE: usize = 1 << 20;

/// What a level's pairs cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Loss {
    /// The Jensen–Shannon estimator of mutual information, the paper's, with
    /// positives and negatives each averaged:
    /// `mean softplus(−s⁺) + mean softplus(s⁻)`.
    #[default]
    #[serde(rename = "jsd", alias = "jensen-shannon")]
    Jsd,
    /// InfoNCE (van den Oord et al. 2018): the cross entropy of finding `𝒫(u)`
    /// among it and the negatives, `mean_u (log Σ_v exp s(u, v) − s(u, 𝒫(u)))`.
    #[serde(rename = "infonce", alias = "info-nce")]
    InfoNce,
    /// InfoNCE on cosines, `s(u, v) = x(u)·g(v) / (‖x(u)‖·‖g(v)‖·τ)`.
    #[serde(rename = "cosine", alias = "cosine-info-nce")]
    Cosine {
        /// `τ`.
        temperature: f64,
    },
}

// Serde's own, since one of them has a parameter.
crate::vocabulary! { Loss, "loss", own serde:
    Jsd => "jsd", "Jensen–Shannon, the paper's";
    InfoNce => "infonce", "InfoNCE";
    Cosine { temperature: 0.2 } => "cosine", "InfoNCE on cosines";
}

/// Which super-nodes a node is to be told from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Negatives {
    /// All others of the batch, its own graph's included.
    #[default]
    All,
    /// Those of other graphs.
    Others,
}

crate::vocabulary! { Negatives, "negatives":
    All => "all", "all others of the batch";
    Others => "others" (before "other-graphs"), "those of other graphs";
}

/// The loss of one level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LevelLoss {
    /// The part of positive pairs.
    pub positive: f64,
    /// The part of negative pairs; of InfoNCE, the part of the normaliser.
    pub negative: f64,
}

impl LevelLoss {
    /// Both parts.
    pub fn total(&self) -> f64 {
        self.positive + self.negative
    }
}

/// The loss of `level` and its gradients: `dx` is overwritten, `dg` added to.
///
/// `above` are the first nodes of the graphs on the level above. Shapes: `x`, `dx`
/// are `N × d`, `g`, `dg` are `M × d`.
///
/// Where super-nodes `S` are `drawn`, each set of so many equally likely, a node `u` with the
/// negatives `𝒩(u)` is compared with its super-node and with `𝒩(u) ∩ S`. With `n₋ = Σ_u |𝒩(u)|`
/// negative pairs in all,
///
/// ```text
/// JSD:      (1/N) Σ_u softplus(−s(u, 𝒫(u))) + (1/n₋)·(M/|S|) Σ_u Σ_{v ∈ 𝒩(u) ∩ S} softplus(s(u, v)),
/// InfoNCE:  (1/N) Σ_u (log(e^s(u, 𝒫(u)) + c(u) Σ_{v ∈ 𝒩(u) ∩ S} e^s(u, v)) − s(u, 𝒫(u))),
///           c(u) = |𝒩(u)| / |𝒩(u) ∩ S|.
/// ```
///
/// A super-node is in `S` with the probability `|S|/M`, so the first is in the mean the loss over
/// all pairs, and so are its gradients (Horvitz and Thompson 1952). The second has the sum within
/// the logarithm right in the mean wherever something was drawn for `u`: `c(u)` is the correction of
/// sampled softmax (Jean et al. 2015), which adds `log c(u)` to the logits of what was drawn. Positive
/// pairs are always compared.
///
/// # Complexity
/// `O(N·M·d)` time; `O((N·|S| + M)·d)` where super-nodes are drawn.
pub(crate) fn loss_and_vjp<R: Real>(
    (loss, negatives): (Loss, Negatives),
    drawn: Option<&[u32]>,
    level: &BatchLevel,
    above: &[usize],
    x: View<'_, R>,
    g: View<'_, R>,
    dx: ViewMut<'_, R>,
    dg: ViewMut<'_, R>,
) -> LevelLoss {
    let pairs = Pairs::new((loss, negatives), drawn, level, above);
    match loss {
        Loss::Jsd | Loss::InfoNce => pairs.scored(x, g, dx, dg),
        Loss::Cosine { .. } => {
            let (x_units, x_norms) = units(x);
            let (g_units, g_norms) = units(g);
            let (d, mut dx, mut dg) = (x.columns(), dx, dg);
            let mut dg_units = vec![R::ZERO; g_units.len()];
            let x = View::new(&x_units, x.rows(), d, d);
            let g = View::new(&g_units, g.rows(), d, d);
            let loss =
                pairs.scored(x, g, dx.reborrow(), ViewMut::new(&mut dg_units, g.rows(), d, d));
            for (i, dx) in dx.rows_mut().enumerate() {
                let from = dx.to_vec();
                dx.fill(R::ZERO);
                unit_vjp(x.row(i), x_norms[i], &from, dx);
            }
            for (i, (dg, from)) in dg.rows_mut().zip(dg_units.chunks_exact(d.max(1))).enumerate() {
                unit_vjp(g.row(i), g_norms[i], from, dg);
            }
            loss
        }
    }
}

/// Rows of unit length, and the lengths they had; a row of zeros stays one.
fn units<R: Real>(x: View<'_, R>) -> (Vec<R>, Vec<R>) {
    let norms: Vec<R> =
        (0..x.rows()).map(|i| x.row(i).iter().map(|v| *v * *v).sum::<R>().sqrt()).collect();
    let scale = |norm: R| if norm > R::ZERO { R::ONE / norm } else { R::ZERO };
    let rows = (0..x.rows()).zip(&norms);
    let units = rows.flat_map(|(i, &norm)| x.row(i).iter().map(move |v| *v * scale(norm)));
    (units.collect(), norms)
}

/// With `û = x / ‖x‖`: `dx ← dx + (dû − û·(û·dû)) / ‖x‖`.
fn unit_vjp<R: Real>(unit: &[R], norm: R, d_unit: &[R], dx: &mut [R]) {
    if norm > R::ZERO {
        let along: R = unit.iter().zip(d_unit).map(|(u, d)| *u * *d).sum();
        for ((dx, u), d) in dx.iter_mut().zip(unit).zip(d_unit) {
            *dx += (*d - *u * along) / norm;
        }
    }
}

fn dot<R: Real>(a: &[R], b: &[R]) -> R {
    a.iter().zip(b).map(|(a, b)| *a * *b).sum()
}

/// `to ← to + factor·x`.
fn add<R: Real>(factor: R, x: &[R], to: &mut [R]) {
    to.iter_mut().zip(x).for_each(|(to, x)| *to += factor * *x);
}

fn transposed<R: Real>(x: View<'_, R>) -> Vec<R> {
    let mut t = vec![R::ZERO; x.rows() * x.columns()];
    for i in 0..x.rows() {
        for (j, &value) in x.row(i).iter().enumerate() {
            t[j * x.rows() + i] = value;
        }
    }
    t
}

/// What every row of logits needs to know.
struct Pairs<'a> {
    loss: Loss,
    negatives: Negatives,
    /// The super-nodes that stand for all, where some were drawn.
    drawn: Option<&'a [u32]>,
    level: &'a BatchLevel,
    above: &'a [usize],
    /// What a positive pair counts, and a negative one.
    per_positive: f64,
    per_negative: f64,
}

/// What a row of logits is made of: a column for each super-node that it is compared with.
struct Columns {
    /// The positive pair's.
    positive: usize,
    /// Of those that may be negative, the ones that are not.
    own: Range<usize>,
    /// How many may be negative; they come first.
    others: usize,
    /// `log c(u)`.
    correction: f64,
}

impl<'a> Pairs<'a> {
    fn new(
        (loss, negatives): (Loss, Negatives),
        drawn: Option<&'a [u32]>,
        level: &'a BatchLevel,
        above: &'a [usize],
    ) -> Pairs<'a> {
        let (n, m) = (level.num_nodes(), level.num_parents());
        let num_negatives: usize = match negatives {
            Negatives::All => n * m.saturating_sub(1),
            Negatives::Others => {
                let graphs = level.graphs.windows(2).zip(above.windows(2));
                graphs.map(|(own, up)| (own[1] - own[0]) * (m - (up[1] - up[0]))).sum()
            }
        };
        let each_stands_for = drawn.map_or(1.0, |drawn| m as f64 / drawn.len().max(1) as f64);
        Pairs {
            loss,
            negatives,
            drawn,
            level,
            above,
            per_positive: 1.0 / n.max(1) as f64,
            per_negative: each_stands_for / num_negatives.max(1) as f64,
        }
    }

    /// The loss and its gradients.
    fn scored<R: Real>(
        &self,
        x: View<'_, R>,
        g: View<'_, R>,
        dx: ViewMut<'_, R>,
        dg: ViewMut<'_, R>,
    ) -> LevelLoss {
        let (n, m, d) = (x.rows(), g.rows(), g.columns());
        assert!(n == self.level.num_nodes() && m == self.level.num_parents());
        if n == 0 {
            return LevelLoss::default();
        }
        let Some(drawn) = self.drawn else { return self.tiled(x, g, None, dx, dg).0 };
        // The rows that were drawn, and one of zeros: the column of positive pairs is written after.
        let k = drawn.len();
        let mut rows = vec![R::ZERO; (k + 1) * d];
        for (row, &v) in rows.chunks_exact_mut(d.max(1)).zip(drawn) {
            row.copy_from_slice(g.row(v as usize));
        }
        let mut d_rows = vec![R::ZERO; rows.len()];
        let (rows, to) = (View::new(&rows, k + 1, d, d), ViewMut::new(&mut d_rows, k + 1, d, d));
        let (loss, d_positive) = self.tiled(x, rows, Some(g), dx, to);
        dg.each_block(64, |first, mut dg| {
            let mut next = drawn.partition_point(|&v| (v as usize) < first);
            for (v, dg) in (first..).zip(dg.rows_mut()) {
                for &u in self.level.members.of(v) {
                    add(d_positive[u as usize], x.row(u as usize), dg);
                }
                if drawn.get(next).is_some_and(|&drawn| drawn as usize == v) {
                    add(R::ONE, &d_rows[next * d..(next + 1) * d], dg);
                    next += 1;
                }
            }
        });
        loss
    }

    /// The loss and its gradients in tiles of whole rows, against the super-nodes `g`. Where these are
    /// some alone, `whole` are all: the positive pair then has the last column, and its gradient
    /// reaches `dx` and is handed back, a number a node.
    fn tiled<R: Real>(
        &self,
        x: View<'_, R>,
        g: View<'_, R>,
        whole: Option<View<'_, R>>,
        dx: ViewMut<'_, R>,
        mut dg: ViewMut<'_, R>,
    ) -> (LevelLoss, Vec<R>) {
        let (n, m) = (x.rows(), g.rows());
        let parent = |node: usize| self.level.parent[node] as usize;
        // Sizes follow from the shapes alone, never from the threads, so that the
        // loss is always summed in the same order.
        let rows = if n < 1024 { 32 } else { 192 };
        let tile_rows = (TILE / m.max(1)).next_multiple_of(rows).clamp(rows, n.max(rows));
        let mut tile = vec![R::ZERO; tile_rows.min(n) * m];
        // Turned once, since every share of rows copies it.
        let gt = transposed(g);
        let gt = View::new(&gt, g.columns(), m, m);
        let mut total = LevelLoss::default();
        let mut d_positive = Vec::with_capacity(whole.map_or(0, |_| n));
        let mut dx_rest = dx;
        for start in (0..n).step_by(tile_rows) {
            let count = tile_rows.min(n - start);
            let (dx, rest) = dx_rest.split_rows(count);
            dx_rest = rest;
            let ds = ViewMut::new(&mut tile[..count * m], count, m, m);
            let (ds, dx) = (ds.blocks(rows, m), dx.blocks(rows, x.columns()));
            let mut losses = vec![LevelLoss::default(); ds.len()];
            crew::each_block(&mut losses, 1, |i, loss| {
                let (Some(((first, _), mut s)), Some((_, mut dx))) = (ds[i].take(), dx[i].take())
                else {
                    return;
                };
                let nodes = start + first;
                serial(x.row_range(nodes, s.rows()), gt, R::ZERO, &mut s);
                for (i, s) in s.rows_mut().enumerate() {
                    if let Some(whole) = whole {
                        s[m - 1] = dot(x.row(nodes + i), whole.row(parent(nodes + i)));
                    }
                    let row = self.row(nodes + i, s);
                    loss[0].positive += row.positive;
                    loss[0].negative += row.negative;
                }
                serial(s.as_view(), g, R::ZERO, &mut dx);
                if let Some(whole) = whole {
                    for (i, dx) in dx.rows_mut().enumerate() {
                        add(s.as_view().row(i)[m - 1], whole.row(parent(nodes + i)), dx);
                    }
                }
            });
            if whole.is_some() {
                d_positive.extend(tile[..count * m].chunks_exact(m).map(|s| s[m - 1]));
            }
            let ds = View::new(&tile[..count * m], count, m, m);
            product(ds.t(), x.row_range(start, count), R::ONE, dg.reborrow());
            for loss in losses {
                total.positive += loss.positive;
                total.negative += loss.negative;
            }
        }
        (total, d_positive)
    }

    /// What the row of logits of `node` is made of.
    fn columns(&self, node: usize) -> Columns {
        let parent = self.level.parent[node] as usize;
        let own = match self.negatives {
            Negatives::All => parent..parent + 1,
            Negatives::Others => {
                let graph = self.level.graphs.partition_point(|&first| first <= node) - 1;
                self.above[graph]..self.above[graph + 1]
            }
        };
        let all = self.level.num_parents();
        let Some(drawn) = self.drawn else {
            return Columns { positive: parent, own, others: all, correction: 0.0 };
        };
        let column = |v: usize| drawn.partition_point(|&drawn| (drawn as usize) < v);
        let (negatives, own) = (all - own.len(), column(own.start)..column(own.end));
        let correction = match drawn.len() - own.len() {
            0 => 0.0,
            counted => (negatives as f64 / counted as f64).ln(),
        };
        Columns { positive: drawn.len(), own, others: drawn.len(), correction }
    }

    /// The loss of one row of logits, which become their gradients.
    fn row<R: Real>(&self, node: usize, s: &mut [R]) -> LevelLoss {
        let columns = self.columns(node);
        match self.loss {
            Loss::Jsd => {
                let Columns { positive: at, own, others, .. } = columns;
                let mut positive = [-s[at]];
                s[own.clone()].fill(R::ZERO);
                let per_negative = R::from_f64(self.per_negative);
                let (before, rest) = s[..others].split_at_mut(own.start);
                let after = &mut rest[own.len()..];
                let negative =
                    R::softplus_vjp(before, per_negative) + R::softplus_vjp(after, per_negative);
                let loss = R::softplus_vjp(&mut positive, R::from_f64(self.per_positive));
                s[at] = -positive[0];
                LevelLoss {
                    positive: loss * self.per_positive,
                    negative: negative * self.per_negative,
                }
            }
            Loss::InfoNce => self.cross_entropy(columns, R::ONE, s),
            Loss::Cosine { temperature } => {
                self.cross_entropy(columns, R::from_f64(1.0 / temperature), s)
            }
        }
    }

    /// InfoNCE of logits `scale·s`: with `p = softmax`, `∂/∂s(v) = scale·(p(v) − [v = 𝒫(u)])`.
    fn cross_entropy<R: Real>(&self, columns: Columns, scale: R, s: &mut [R]) -> LevelLoss {
        let Columns { positive: at, own, correction, .. } = columns;
        let positive = s[at] * scale;
        // What is neither positive nor negative must not count.
        s[own].fill(R::from_f64(f64::NEG_INFINITY));
        s.iter_mut().for_each(|s| *s *= scale);
        if correction > 0.0 {
            let correction = R::from_f64(correction);
            s.iter_mut().for_each(|s| *s += correction);
        }
        s[at] = positive;
        let shift = s.iter().fold(positive, |most, s| if *s > most { *s } else { most });
        let sum = R::exp_sum(s, shift);
        let share = scale * R::from_f64(self.per_positive);
        let each = share * R::from_f64(1.0 / sum);
        s.iter_mut().for_each(|s| *s *= each);
        s[at] -= share;
        LevelLoss {
            positive: -positive.to_f64() * self.per_positive,
            negative: (shift.to_f64() + sum.ln()) * self.per_positive,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coarsen::{self, coarsen};
    use crate::graph::{Graph, GraphRecord, WeightPolicy};
    use crate::nn::Batch;

    const LOSSES: [Loss; 3] = [Loss::Jsd, Loss::InfoNce, Loss::Cosine { temperature: 0.4 }];
    const D: usize = 3;

    /// A path, a ring and two nodes apart, coarsened once.
    fn batch() -> Batch {
        let path = |n: u32| (1..n).map(|v| [v - 1, v]).collect::<Vec<_>>();
        let graphs = [(9, path(9)), (10, [path(10), vec![[9, 0]]].concat()), (2, Vec::new())];
        let parts: Vec<Batch> = graphs
            .into_iter()
            .map(|(num_nodes, edges)| {
                let record = GraphRecord { num_nodes, edges, ..GraphRecord::default() };
                let graph = Graph::from_record(&record, WeightPolicy::Use).unwrap().0;
                let pyramid = coarsen(&graph, &coarsen::Params::default().ratio(0.5)).unwrap();
                Batch::of_graph(&graph, &pyramid, 1)
            })
            .collect();
        Batch::concat(&parts)
    }

    fn numbers(n: usize, salt: u64) -> Vec<f64> {
        let hash = |i: u64| (i + 1 + (salt << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
        (0..n as u64).map(|i| hash(i) as f64 / (1u64 << 52) as f64 - 1.0).collect()
    }

    /// Both parts of the loss, and the gradients.
    fn scored(batch: &Batch, pairs: (Loss, Negatives), drawn: Option<&[u32]>) -> Vec<f64> {
        let level = &batch.levels[0];
        let (n, m) = (level.num_nodes(), level.num_parents());
        let (x, g) = (numbers(n * D, 1), numbers(m * D, 2));
        let (x, g) = (View::new(&x, n, D, D), View::new(&g, m, D, D));
        let (mut dx, mut dg) = (vec![f64::NAN; n * D], vec![0.0; m * D]);
        let (dx_view, dg_view) = (ViewMut::new(&mut dx, n, D, D), ViewMut::new(&mut dg, m, D, D));
        let loss = loss_and_vjp(pairs, drawn, level, batch.graphs(1), x, g, dx_view, dg_view);
        [vec![loss.positive, loss.negative], dx, dg].concat()
    }

    fn assert_same(ours: &[f64], expected: &[f64], what: &str) {
        assert_eq!(ours.len(), expected.len());
        for (i, (ours, expected)) in ours.iter().zip(expected).enumerate() {
            assert!((ours - expected).abs() < 1e-12, "{what}, {i}: {ours} instead of {expected}");
        }
    }

    #[test]
    fn all_that_can_be_drawn_are_the_whole_loss() {
        let batch = batch();
        let all: Vec<u32> = (0..batch.num_nodes(1) as u32).collect();
        for loss in LOSSES {
            for negatives in [Negatives::All, Negatives::Others] {
                let pairs = (loss, negatives);
                let whole = scored(&batch, pairs, None);
                assert_same(&scored(&batch, pairs, Some(&all)), &whole, &format!("{pairs:?}"));
            }
        }
    }

    #[test]
    fn the_mean_over_all_samples_is_the_whole_loss_and_its_gradients() {
        let batch = batch();
        let m = batch.num_nodes(1) as u32;
        assert!((8..20).contains(&m), "{m} super-nodes");
        let choices: Vec<Vec<u32>> = (0..1u32 << m)
            .filter(|set| [1, 3].contains(&set.count_ones()))
            .map(|set| (0..m).filter(|v| set >> v & 1 == 1).collect())
            .collect();
        for negatives in [Negatives::All, Negatives::Others] {
            let pairs = (Loss::Jsd, negatives);
            let whole = scored(&batch, pairs, None);
            for size in [1, 3] {
                let samples: Vec<_> = choices.iter().filter(|set| set.len() == size).collect();
                let mut mean = vec![0.0; whole.len()];
                for sample in &samples {
                    let one = scored(&batch, pairs, Some(sample));
                    assert_ne!(one, whole, "a sample is not the whole");
                    add(1.0 / samples.len() as f64, &one, &mut mean);
                }
                assert_same(&mean, &whole, &format!("{negatives:?}, {size} of {m}"));
            }
        }
    }

    #[test]
    fn a_node_without_a_negative_in_the_sample_is_told_from_nothing() {
        let batch = batch();
        let parent = batch.levels[0].parent[0];
        let d_x = scored(&batch, (Loss::InfoNce, Negatives::All), Some(&[parent]));
        assert!(d_x[2..2 + D].iter().all(|d| d.abs() < 1e-15), "{:?}", &d_x[2..2 + D]);
        assert!(d_x.iter().all(|d| d.is_finite()));
    }
}
