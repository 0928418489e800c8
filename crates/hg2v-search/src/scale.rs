//! Columns made comparable.

use hg2v_math::Real;

/// How far numbers that ought to be equal may lie apart, in roundings of the largest of them: a
/// network's, on the same graph with its nodes in another order, differ by some four.
const ROUNDINGS: f64 = 16.0;

/// Mean and scale of each column, as scikit-learn's `StandardScaler` fits them.
///
/// The variance is that of the population (divided by n). A column is constant, and its scale 1,
/// when its variance is no larger than what rounding alone makes of a constant: of sums in double
/// precision, `n·ε·var + (n·mean·ε)²`, or of the numbers themselves, `(16·ε'·max|x|)²`, where `ε'`
/// is the precision they were computed in. All columns are where the rows are one vector up to
/// rounding: where the variances of those that vary add up to no more than `(16·ε')²` times what
/// the squares of their largest numbers do. Their smallest numbers, left over when large ones
/// cancelled, are noise beside their own size.
#[derive(Debug, Clone, PartialEq)]
pub struct StandardScaler {
    /// The mean of each column.
    pub means: Vec<f64>,
    /// What each column is divided by.
    pub scales: Vec<f64>,
}

impl StandardScaler {
    /// Mean and scale of each of the `columns` of `values`, row after row, computed in the
    /// precision they are stored in; of no rows the mean is 0 and the scale 1.
    pub fn of<R: Real>(values: &[R], columns: usize) -> StandardScaler {
        StandardScaler::of_rounded(values, columns, R::EPSILON)
    }

    /// As [`of`](StandardScaler::of), of numbers that were rounded to `epsilon` before they were
    /// stored.
    pub fn of_rounded<R: Real>(values: &[R], columns: usize, epsilon: f64) -> StandardScaler {
        let rows = || values.chunks_exact(columns.max(1));
        let n = rows().len().max(1) as f64;
        let mut means = vec![0.0; columns];
        let mut largest = vec![0.0f64; columns];
        for row in rows() {
            for ((sum, largest), value) in means.iter_mut().zip(&mut largest).zip(row) {
                *sum += value.to_f64();
                *largest = largest.max(value.to_f64().abs());
            }
        }
        means.iter_mut().for_each(|sum| *sum /= n);
        // The second sum would be zero without rounding; it corrects the first.
        let mut squares = vec![0.0; columns];
        let mut rests = vec![0.0; columns];
        for row in rows() {
            for (column, value) in row.iter().enumerate() {
                let difference = value.to_f64() - means[column];
                squares[column] += difference * difference;
                rests[column] += difference;
            }
        }
        let variance = |(square, rest): (f64, f64)| (square - rest * rest / n) / n;
        let variances: Vec<f64> = squares.into_iter().zip(rests).map(variance).collect();
        let noise = |largest: f64| (ROUNDINGS * epsilon * largest).powi(2);
        let (mut varies, mut may) = (0.0, 0.0);
        for (&variance, &largest) in variances.iter().zip(&largest).filter(|(v, _)| **v > 0.0) {
            varies += variance;
            may += noise(largest);
        }
        let one_vector = varies <= may;
        let scale = |((&variance, mean), &largest): ((&f64, &f64), &f64)| {
            let of_sums = n * f64::EPSILON * variance + (n * mean * f64::EPSILON).powi(2);
            let is_constant = one_vector || variance <= of_sums.max(noise(largest));
            if is_constant { 1.0 } else { variance.sqrt() }
        };
        let scales = variances.iter().zip(&means).zip(&largest).map(scale).collect();
        StandardScaler { means, scales }
    }

    /// `(x − mean) / scale` of every number of rows.
    pub fn apply<R: Real>(&self, values: &mut [R]) {
        for row in values.chunks_exact_mut(self.means.len().max(1)) {
            for ((value, mean), scale) in row.iter_mut().zip(&self.means).zip(&self.scales) {
                *value = R::from_f64((value.to_f64() - mean) / scale);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_makes_of_a_constant_is_not_divided_by() {
        let rows: [f32; 8] = [0.3, 1.0, 0.299_999_98, 2.0, 0.3, 3.0, 0.3, 6.0];
        let scales = StandardScaler::of(&rows, 2).scales;
        assert_eq!(scales, [1.0, 3.5f64.sqrt()]);
        // The same numbers, known to twice as many places, differ.
        let known: Vec<f64> = rows.iter().copied().map(f64::from).collect();
        assert!(StandardScaler::of(&known, 2).scales[0] < 1e-7);
        assert_eq!(StandardScaler::of_rounded(&known, 2, f32::EPSILON.into()).scales, scales);
        // Times of a day, in seconds since 1970, are far from constant for single precision.
        let times: [f32; 4] = [1.7e9, 1.7e9 + 4e4, 1.7e9 + 8e4, 1.7e9 - 9e4];
        assert!(StandardScaler::of(&times, 1).scales[0] > 1e4);
    }

    #[test]
    fn copies_of_a_vector_stay_copies() {
        // The second number is what is left of two large ones: noise beside its own size.
        let copies: [f32; 6] = [2.7, 3.0e-6, 2.700_000_3, 3.1e-6, 2.699_999_8, 2.9e-6];
        assert_eq!(StandardScaler::of(&copies, 2).scales, [1.0, 1.0]);
        // One row that is another graph's, and both columns tell something.
        let [one, .., last] = [&copies[..], &[1.0, 5.0e-6]].concat()[..] else { unreachable!() };
        let scales = StandardScaler::of(&[one, copies[1], 1.0, last], 2).scales;
        assert!(scales.iter().all(|scale| *scale < 1.0), "{scales:?}");
        // A constant beside it, however large, does not make a column of little numbers noise.
        let scales = StandardScaler::of(&[1.0e9f32, 0.1, 1.0e9, 0.2, 1.0e9, 0.6], 2).scales;
        assert_eq!((scales[0], scales[1] < 0.3), (1.0, true));
    }
}
