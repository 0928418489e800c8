//! Many classes: one machine for each pair of them, and a vote.

use std::borrow::Cow;
use std::ops::Range;

use hg2v_math::linalg::vector::dot;
use rayon::prelude::*;

use super::kernel::{Fitted, Gamma, Gram, Kernel};
use super::smo::{Solution, solve_checked};
use crate::error::{Result, positive, same_length};
use crate::gemm::inner_products;
use crate::matrix::Matrix;
use crate::split::Classes;

/// Rows to predict at a time.
const ROWS_AT_ONCE: usize = 1024;

/// What a support vector machine is trained with.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SvcParams {
    /// The price of a training row on the wrong side of its margin.
    pub c: f64,
    /// The kernel.
    pub kernel: Kernel,
    /// The violation of the optimality conditions at which training ends.
    pub tolerance: f64,
}

hg2v_math::setters!(SvcParams { c: f64, kernel: Kernel, tolerance: f64 });

/// What scikit-learn's `SVC` has by default.
impl Default for SvcParams {
    fn default() -> SvcParams {
        SvcParams { c: 1.0, kernel: Kernel::Rbf(Gamma::Scale), tolerance: 1e-3 }
    }
}

/// A trained support vector machine for two classes or more.
#[derive(Debug, Clone)]
pub struct Svc {
    kernel: Fitted,
    /// Training rows, class after class, and their squared norms; without rows
    /// where the kernel is precomputed.
    x: Matrix,
    squares: Vec<f64>,
    groups: Groups,
    machines: Machines,
}

impl Svc {
    /// Trains on the rows of `x` with one label each.
    ///
    /// # Errors
    /// Unequal lengths, fewer than two classes, parameters that are not above 0,
    /// and for the linear kernel values beyond single precision.
    pub fn fit(x: &Matrix, labels: &[u32], params: &SvcParams) -> Result<Svc> {
        same_length("labels", x.rows(), labels.len())?;
        x.has_columns()?;
        positive("C", params.c)?;
        positive("tolerance", params.tolerance)?;
        let groups = Groups::of(labels, || "the training part".into())?;
        let kernel = params.kernel.fit(x)?;
        let x = x.take(&groups.order)?;
        let products = inner_products(x.values(), x.values(), x.columns());
        let gram = Gram::new(kernel, &products, x.rows())?;
        let squares = x.squared_norms();
        let machines = Machines::train(&gram, &groups, params.c, params.tolerance);
        Ok(Svc { kernel, x, squares, groups, machines })
    }

    /// Trains on the kernel values among training rows with one label each;
    /// the lower triangle of `kernel` counts.
    ///
    /// # Errors
    /// A matrix that is not square or has values beyond single precision, and
    /// see [`Svc::fit`].
    pub fn fit_precomputed(kernel: &Matrix, labels: &[u32], c: f64, tolerance: f64) -> Result<Svc> {
        same_length("labels", kernel.rows(), labels.len())?;
        same_length("columns of the kernel matrix", kernel.rows(), kernel.columns())?;
        positive("C", c)?;
        positive("tolerance", tolerance)?;
        let groups = Groups::of(labels, || "the training part".into())?;
        let gram = Gram::of_kernel(kernel, &groups.order)?;
        let machines = Machines::train(&gram, &groups, c, tolerance);
        let x = Matrix::new(0, 0, Vec::new())?;
        Ok(Svc { kernel: Fitted::Product, x, squares: Vec::new(), groups, machines })
    }

    /// The class of each row of `x`.
    ///
    /// For a precomputed kernel, `x` holds the kernel of each row with all
    /// training rows, in the order they were trained in.
    ///
    /// # Errors
    /// A wrong number of columns.
    pub fn predict(&self, x: &Matrix) -> Result<Vec<u32>> {
        let predict = |cross: Vec<f64>| self.machines.predict(&self.groups, &cross);
        Ok(self.cross(x)?.flat_map(predict).collect())
    }

    /// The decision on each row of `x` for each pair of classes, pairs in the
    /// order (0,1), (0,2), …, (1,2), …: above 0 for the first of the pair.
    ///
    /// (scikit-learn turns the sign for two classes.)
    ///
    /// # Errors
    /// See [`Svc::predict`].
    pub fn decisions(&self, x: &Matrix) -> Result<Matrix> {
        let pairs = self.groups.pairs();
        let mut values = Vec::with_capacity(x.rows() * pairs.len());
        for cross in self.cross(x)? {
            for row in cross.chunks_exact(self.groups.len()) {
                values.extend(self.machines.decisions(&pairs, row));
            }
        }
        Matrix::new(x.rows(), pairs.len(), values)
    }

    /// All classes, ascending.
    pub fn classes(&self) -> &[u32] {
        &self.groups.names
    }

    /// The two-class machines, in the order of [`decisions`](Svc::decisions);
    /// rows of each are those of its first class, then of its second.
    pub fn machines(&self) -> &[Solution] {
        &self.machines.solutions
    }

    /// Whether every machine reached the tolerance.
    pub fn converged(&self) -> bool {
        self.machines.unconverged() == 0
    }

    /// Kernel values of rows of `x` with training rows, class after class; some
    /// rows at a time, lest many rows take much memory.
    fn cross<'a>(&'a self, x: &'a Matrix) -> Result<impl Iterator<Item = Vec<f64>> + 'a> {
        let precomputed = self.x.rows() == 0;
        let expected = if precomputed { self.groups.len() } else { self.x.columns() };
        same_length("columns", expected, x.columns())?;
        Ok(x.values().chunks(ROWS_AT_ONCE * expected).map(move |rows| {
            if precomputed {
                let order = &self.groups.order;
                let rows = rows.chunks_exact(expected);
                return rows.flat_map(|row| order.iter().map(|&at| row[at])).collect();
            }
            let products = inner_products(rows, self.x.values(), expected);
            let squares: Vec<f64> = rows.chunks_exact(expected).map(|row| dot(row, row)).collect();
            cross_kernel(self.kernel, products, &squares, &self.squares)
        }))
    }
}

/// Kernel values from inner products of rows with columns, written over them.
pub(crate) fn cross_kernel(
    kernel: Fitted,
    mut products: Vec<f64>,
    squares: &[f64],
    others: &[f64],
) -> Vec<f64> {
    for (row, &square) in products.chunks_exact_mut(others.len().max(1)).zip(squares) {
        kernel.row(row, square, others);
    }
    products
}

/// The places of two classes.
type Pair = (Range<usize>, Range<usize>);

/// Training rows, class after class.
#[derive(Debug, Clone)]
pub(crate) struct Groups {
    /// The classes, ascending.
    pub(crate) names: Vec<u32>,
    /// The row at each place.
    pub(crate) order: Vec<usize>,
    /// The places of each class.
    pub(crate) ranges: Vec<Range<usize>>,
}

impl Groups {
    /// Rows grouped by label, classes ascending and rows in their old order, as
    /// LIBSVM (in scikit-learn) does.
    pub(crate) fn of(labels: &[u32], place: impl Fn() -> String) -> Result<Groups> {
        let classes = Classes::of(labels, place)?;
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_by_key(|&row| classes.of_row[row]);
        let ranges = (0..classes.names.len())
            .map(|class| {
                let before = |than: usize| order.partition_point(|&row| classes.of_row[row] < than);
                before(class)..before(class + 1)
            })
            .collect();
        Ok(Groups { names: classes.names, order, ranges })
    }

    /// How many rows.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// All pairs of classes, the first below the second.
    fn pairs(&self) -> Vec<Pair> {
        let ranges = &self.ranges;
        let pairs = (0..ranges.len()).flat_map(|a| (a + 1..ranges.len()).map(move |b| (a, b)));
        pairs.map(|(a, b)| (ranges[a].clone(), ranges[b].clone())).collect()
    }
}

/// One solution for each pair of classes.
#[derive(Debug, Clone)]
pub(crate) struct Machines {
    pub(crate) solutions: Vec<Solution>,
}

impl Machines {
    /// Trains with one C.
    pub(crate) fn train(gram: &Gram, groups: &Groups, c: f64, tolerance: f64) -> Machines {
        let pairs = groups.pairs();
        let solve = |(first, second): &Pair| {
            solve_checked(&pair_gram(gram, first, second), first.len(), c, tolerance)
        };
        Machines { solutions: pairs.par_iter().map(solve).collect() }
    }

    /// Trains with each C of a list, over one copy of each pair's kernel.
    ///
    /// Where classes can be separated, no α grows beyond some height, and every C
    /// above it is the same problem: the largest C comes first and tells.
    pub(crate) fn train_all(
        gram: &Gram,
        groups: &Groups,
        cs: &[f64],
        tolerance: f64,
    ) -> Vec<Machines> {
        let pairs = groups.pairs();
        let solve_pair = |(first, second): &Pair| -> Vec<Solution> {
            let gram = pair_gram(gram, first, second);
            let solve = |c: f64| solve_checked(&gram, first.len(), c, tolerance);
            let most = cs.iter().copied().fold(0.0, f64::max);
            let at_most = solve(most);
            let same = |c: f64| c == most || c > at_most.peak;
            let one = |&c: &f64| if same(c) { at_most.clone() } else { solve(c) };
            cs.par_iter().map(one).collect()
        };
        let mut by_pair: Vec<_> = pairs.par_iter().map(solve_pair).map(Vec::into_iter).collect();
        let one_of_each = |_: &f64| Machines {
            solutions: by_pair.iter_mut().filter_map(Iterator::next).collect(),
        };
        cs.iter().map(one_of_each).collect()
    }

    /// The class of each row of kernel values.
    pub(crate) fn predict(&self, groups: &Groups, cross: &[f64]) -> Vec<u32> {
        let pairs = groups.pairs();
        let class = |row| vote(&self.decisions(&pairs, row), groups.names.len());
        cross.chunks_exact(groups.len()).map(|row| groups.names[class(row)]).collect()
    }

    /// `Σ β_i·K(x_i, x) − ρ` for each pair of classes.
    fn decisions(&self, pairs: &[Pair], row: &[f64]) -> Vec<f64> {
        let decide = |((first, second), solution): (&Pair, &Solution)| {
            let (positive, negative) = solution.beta.split_at(first.len());
            dot(positive, &row[first.clone()]) + dot(negative, &row[second.clone()]) - solution.rho
        };
        pairs.iter().zip(&self.solutions).map(decide).collect()
    }

    /// How many machines ran out of steps.
    pub(crate) fn unconverged(&self) -> usize {
        self.solutions.iter().filter(|solution| !solution.converged).count()
    }
}

/// The class with most votes, the first of those with equally many: a decision
/// above 0 is a vote for the first of its pair, any other for the second.
fn vote(decisions: &[f64], classes: usize) -> usize {
    let mut votes = vec![0; classes];
    let pairs = (0..classes).flat_map(|a| (a + 1..classes).map(move |b| (a, b)));
    for ((a, b), &decision) in pairs.zip(decisions) {
        votes[if decision > 0.0 { a } else { b }] += 1;
    }
    let most = votes.iter().copied().max().unwrap_or(0);
    votes.iter().position(|&count| count == most).unwrap_or(0)
}

/// The kernel among two classes; two adjacent ranges that are everything need no copy.
fn pair_gram<'a>(gram: &'a Gram, first: &Range<usize>, second: &Range<usize>) -> Cow<'a, Gram> {
    if first.len() + second.len() == gram.len() {
        Cow::Borrowed(gram)
    } else {
        Cow::Owned(gram.of_ranges(first.clone(), second.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_votes_wins() {
        // A circle: 0 beats 1, 1 beats 2, 2 beats 0.
        assert_eq!(vote(&[1.0, -1.0, 1.0], 3), 0);
        // A decision of exactly 0 is the second's.
        assert_eq!(vote(&[0.0], 2), 1);
        assert_eq!(vote(&[-1.0, -1.0, 1.0], 3), 1);
    }

    #[test]
    fn rows_are_grouped_by_class_in_their_order() {
        let groups = Groups::of(&[7, 3, 7, 5, 3], String::new).unwrap();
        assert_eq!(groups.names, [3, 5, 7]);
        assert_eq!(groups.order, [1, 4, 3, 0, 2]);
        assert_eq!(groups.ranges, [0..2, 2..3, 3..5]);
        assert_eq!(groups.pairs(), [(0..2, 2..3), (0..2, 3..5), (2..3, 3..5)]);
    }
}
