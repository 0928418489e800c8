//! The last step to a vector: blocks of numbers, each of a weight, mixed.
//!
//! What the network reads out has columns of any scale, and more of them than most uses need.
//! Fitted on training graphs, with `u` what a graph's blocks say, side by side,
//!
//! ```text
//! z_c = s_c·(u_c − μ_c),    v = √(N/m)·R·H·F·D·z
//! ```
//!
//! `μ` are means. `s` gives every column of the read-out 1 over its deviation, those of
//! every other block one number for all, and then every block the mean square that is its weight. `D` has random signs.
//! `F` adds column `c` to place `c mod N`, where `N` is a power of two: so many places that there is one for each column, or as many as
//! numbers are asked for, whatever is less. `H` is the Walsh–Hadamard matrix of `N` columns, over `√N`, and `R` takes `m`
//! of its rows at random (Ailon and Chazelle 2006). `H·D` is a rotation, so that distances and angles are those of `z`, exactly
//! where no two columns share a place and all rows are taken. Elsewhere they are within some `1/√m` of them, or less where few
//! columns share places: with random signs, what two add to each other's squares is 0 on average. Each number of `v` is a mixture
//! of all of `z`, so that all vary about as much, and standardising them costs nothing.
//!
//! A column that did not vary in training counts for nothing, also where it varies later.

use hg2v_math::Real;
use hg2v_math::rng::{sample_without_replacement, stream};
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::saved::{Reader, Tensors};

/// The most numbers of a vector.
const MOST: usize = 1 << 16;

/// Training graphs that means and deviations are taken of, at most.
pub(crate) const GRAPHS: usize = 4096;

/// The largest number that is mixed. Beyond, sums of many would be no numbers any more.
pub(crate) const LARGEST: f32 = 1e18;

/// A deviation below this share of a column's largest number is rounding.
pub(crate) const ROUNDING: f64 = 16.0 * f32::EPSILON as f64;

/// Columns of what a graph says, side by side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Block {
    /// How many columns.
    pub(crate) columns: usize,
    /// Whether all columns count alike, whatever their scale.
    pub(crate) alike: bool,
    /// Their mean square together.
    pub(crate) square: f64,
}

/// Checks the numbers of a vector that are asked for.
///
/// # Errors
/// None, or too many.
pub(crate) fn check(out_dim: usize) -> Result<()> {
    if (1..=MOST).contains(&out_dim) {
        return Ok(());
    }
    Err(Error::parameter("out_dim", out_dim, format!("it must be between 1 and {MOST}")))
}

/// The last step to a vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Finish {
    /// `μ`.
    means: Vec<f32>,
    /// `s`.
    scales: Vec<f32>,
    /// `D`: whether a column changes its sign.
    signs: Vec<bool>,
    /// `N`.
    places: usize,
    /// `R`: which rows are taken, ascending.
    rows: Vec<u32>,
}

/// What a column of `u` adds to a number that is made linearly of `v`: `slope·u_c + constant`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Term {
    pub(crate) slope: f64,
    pub(crate) constant: f64,
}

/// What `config.json` says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedFinish {
    columns: usize,
    out_dim: usize,
}

impl Finish {
    /// Fits it to rows of what training graphs say.
    pub(crate) fn fit(rows: &[f32], blocks: &[Block], out_dim: usize, seed: u64) -> Finish {
        let width: usize = blocks.iter().map(|block| block.columns).sum();
        let (means, deviations) = moments(rows, width);
        let mut scales = vec![0.0; width];
        let mut start = 0;
        for block in blocks {
            let own = start..start + block.columns;
            start = own.end;
            let varying = || own.clone().filter(|&c| deviations[c] > 0.0);
            let square: f64 = match block.alike {
                true => varying().count() as f64,
                false => varying().map(|c| deviations[c] * deviations[c]).sum(),
            };
            for c in varying() {
                let own = if block.alike { deviations[c].recip() } else { 1.0 };
                scales[c] = own * (block.square / square).sqrt();
            }
        }
        let places = places(width, out_dim);
        let mut rng = stream(seed, "finish", 0, 0);
        let signs = (0..width).map(|_| rng.next_u64() >> 63 == 1).collect();
        let rows = sample_without_replacement(places, out_dim, &mut rng);
        Finish {
            means: means.into_iter().map(|mean| mean as f32).collect(),
            scales: scales.into_iter().map(|scale| scale as f32).collect(),
            signs,
            places,
            rows: rows.into_iter().map(|row| row as u32).collect(),
        }
    }

    /// Numbers of a vector.
    pub fn out_dim(&self) -> usize {
        self.rows.len()
    }

    /// Numbers that it is made of.
    pub fn width(&self) -> usize {
        self.scales.len()
    }

    /// `v`, of `u`.
    ///
    /// # Complexity
    /// O(N log N) time.
    pub fn apply(&self, from: &[f32]) -> Vec<f32> {
        let mut z = vec![0.0; self.places];
        let centred = from.iter().zip(&self.means).zip(&self.scales);
        for (c, (((u, mean), scale), negative)) in centred.zip(&self.signs).enumerate() {
            // Infinity by 0 is no number.
            let scaled = match *scale {
                0.0 => 0.0,
                scale => (scale * (u - mean)).clamp(-LARGEST, LARGEST),
            };
            z[c % self.places] += if *negative { -scaled } else { scaled };
        }
        hadamard(&mut z);
        let scale = (self.rows.len() as f32).sqrt().recip();
        self.rows.iter().map(|&row| scale * z[row as usize]).collect()
    }

    /// The gradient for `u` of one for `v`: the step is linear.
    pub fn vjp(&self, d: &[f32]) -> Vec<f32> {
        self.scales.iter().zip(self.turned_back(d)).map(|(scale, z)| scale * z).collect()
    }

    /// What each column of `u` adds to `dᵀ·v`, in double precision:
    ///
    /// ```text
    /// dᵀ·v = Σ_c t_c·s_c·u_c − t_c·s_c·μ_c,    t = √(N/m)·D·Fᵀ·Hᵀ·Rᵀ·d
    /// ```
    ///
    /// What is cut adds the same whatever `u_c` is.
    pub(crate) fn terms(&self, from: &[f32], d: &[f64]) -> Vec<Term> {
        let moments = self.means.iter().zip(&self.scales);
        let columns = from.iter().zip(moments).zip(self.turned_back(d));
        let term = |((u, (mean, scale)), t): ((&f32, (&f32, &f32)), f64)| {
            let (mean, scale) = (f64::from(*mean), f64::from(*scale));
            let (z, most) = (scale * (f64::from(*u) - mean), f64::from(LARGEST));
            match scale == 0.0 || z.abs() <= most {
                true => Term { slope: t * scale, constant: -t * scale * mean },
                false => Term { slope: 0.0, constant: t * z.clamp(-most, most) },
            }
        };
        columns.map(term).collect()
    }

    /// `√(N/m)·D·Fᵀ·Hᵀ·Rᵀ·d`.
    fn turned_back<R: Real>(&self, d: &[R]) -> Vec<R> {
        let mut z = vec![R::ZERO; self.places];
        let scale = R::from_f64((self.rows.len() as f32).sqrt().recip().into());
        for (&row, &d) in self.rows.iter().zip(d) {
            z[row as usize] = scale * d;
        }
        hadamard(&mut z);
        let both = z.iter().cycle().zip(&self.signs);
        both.map(|(z, negative)| if *negative { -*z } else { *z }).collect()
    }

    /// What a folder keeps of it.
    pub(crate) fn saved(&self, tensors: Tensors) -> (SavedFinish, Tensors) {
        let (width, out_dim) = (self.width(), self.out_dim());
        let tensors = tensors
            .with("finish.means", &[width], self.means.iter().copied())
            .with("finish.scales", &[width], self.scales.iter().copied())
            .with("finish.signs", &[width], self.signs.iter().map(|sign| u32::from(*sign)))
            .with("finish.rows", &[out_dim], self.rows.iter().copied());
        (SavedFinish { columns: width, out_dim }, tensors)
    }

    /// What a folder kept.
    ///
    /// # Errors
    /// Tensors that are missing, or do not hold together.
    pub(crate) fn of_saved(saved: SavedFinish, tensors: &mut Reader<'_>) -> Result<Finish> {
        let SavedFinish { columns, out_dim } = saved;
        let means = tensors.take("finish.means", &[columns])?;
        let scales = tensors.take("finish.scales", &[columns])?;
        let signs: Vec<u32> = tensors.take("finish.signs", &[columns])?;
        let rows: Vec<u32> = tensors.take("finish.rows", &[out_dim])?;
        let places = places(columns, out_dim);
        let within = rows.iter().all(|&row| (row as usize) < places);
        if !within || signs.iter().any(|&sign| sign > 1) {
            return Err(tensors.refused("its last step does not hold together"));
        }
        let signs = signs.into_iter().map(|sign| sign == 1).collect();
        Ok(Finish { means, scales, signs, places, rows })
    }
}

impl Finish {
    /// The moments of the same step fitted to other rows.
    pub(crate) fn saved_moments(&self, tensors: Tensors) -> Tensors {
        tensors.with("control.means", &[self.width()], self.means.iter().copied()).with(
            "control.scales",
            &[self.width()],
            self.scales.iter().copied(),
        )
    }

    /// This step with the moments that a folder kept.
    ///
    /// # Errors
    /// Tensors that are missing, or of another shape.
    pub(crate) fn with_moments(&self, tensors: &mut Reader<'_>) -> Result<Finish> {
        let means = tensors.take("control.means", &[self.width()])?;
        let scales = tensors.take("control.scales", &[self.width()])?;
        Ok(Finish { means, scales, ..self.clone() })
    }
}

/// `N`, where `width` columns become so many numbers.
fn places(width: usize, out_dim: usize) -> usize {
    width.next_power_of_two().min(out_dim.next_power_of_two())
}

/// The mean and deviation of every column; a deviation that is rounding is 0.
pub(crate) fn moments(rows: &[f32], width: usize) -> (Vec<f64>, Vec<f64>) {
    let n = (rows.len() / width.max(1)).max(1) as f64;
    let mut means = vec![0.0; width];
    let mut largest = vec![0.0f64; width];
    for row in rows.chunks_exact(width.max(1)) {
        for ((mean, largest), value) in means.iter_mut().zip(&mut largest).zip(row) {
            *mean += f64::from(*value);
            *largest = largest.max(f64::from(value.abs()));
        }
    }
    means.iter_mut().for_each(|mean| *mean /= n);
    let mut squares = vec![0.0; width];
    for row in rows.chunks_exact(width.max(1)) {
        for ((square, mean), value) in squares.iter_mut().zip(&means).zip(row) {
            *square += (f64::from(*value) - mean).powi(2);
        }
    }
    let deviation = |(square, largest): (f64, f64)| {
        let deviation = (square / n).sqrt();
        if deviation > ROUNDING * largest { deviation } else { 0.0 }
    };
    let deviations = squares.into_iter().zip(largest).map(deviation).collect();
    (means, deviations)
}

/// `√N·H·z`, in place: sums and differences of halves, quarters, and so on.
fn hadamard<R: Real>(z: &mut [R]) {
    let mut half = 1;
    while half < z.len() {
        for pair in z.chunks_exact_mut(2 * half) {
            let (left, right) = pair.split_at_mut(half);
            for (left, right) in left.iter_mut().zip(right) {
                (*left, *right) = (*left + *right, *left - *right);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: [Block; 2] = [
        Block { columns: 5, alike: true, square: 1.0 },
        Block { columns: 2, alike: false, square: 9.0 },
    ];

    fn rows() -> Vec<f32> {
        let mut rng = stream(3, "test", 0, 0);
        let mut number = || (rng.next_u64() >> 40) as f32 / (1 << 24) as f32;
        let row = |_| -> [f32; 7] {
            std::array::from_fn(|c| match c {
                2 => 4.25,
                c => 10f32.powi(c as i32) * number(),
            })
        };
        (0..200).map(row).collect::<Vec<_>>().concat()
    }

    fn distance(a: &[f32], b: &[f32]) -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum()
    }

    /// `z`, by its definition.
    fn scaled(rows: &[f32]) -> Vec<Vec<f64>> {
        let (means, deviations) = moments(rows, 7);
        let colours = deviations[5].hypot(deviations[6]);
        let scale = |c: usize| match c {
            2 => 0.0,
            0..5 => 0.5 / deviations[c],
            _ => 3.0 / colours,
        };
        let one = |row: &[f32]| (0..7).map(|c| (f64::from(row[c]) - means[c]) * scale(c)).collect();
        rows.chunks_exact(7).map(one).collect()
    }

    #[test]
    fn a_rotation_keeps_distances_and_blocks_have_their_weights() {
        let rows = rows();
        let finish = Finish::fit(&rows, &BLOCKS, 100, 1);
        assert_eq!(finish.out_dim(), 8, "all that there are");
        let expected = scaled(&rows);
        let made: Vec<Vec<f32>> = rows.chunks_exact(7).map(|row| finish.apply(row)).collect();
        for i in 1..200 {
            let apart: f64 =
                expected[0].iter().zip(&expected[i]).map(|(a, b)| (a - b).powi(2)).sum();
            assert!((distance(&made[0], &made[i]) / apart - 1.0).abs() < 1e-3, "{i}");
        }
        let square = |range: std::ops::Range<usize>| -> f64 {
            expected.iter().flat_map(|z| &z[range.clone()]).map(|z| z * z).sum::<f64>() / 200.0
        };
        assert!((square(0..5) - 1.0).abs() < 1e-9 && (square(5..7) - 9.0).abs() < 1e-9);
    }

    #[test]
    fn some_rows_keep_distances_on_average() {
        let rows = rows();
        let expected = scaled(&rows);
        let apart: f64 = expected[0].iter().zip(&expected[1]).map(|(a, b)| (a - b).powi(2)).sum();
        let mean: f64 = (0..400)
            .map(|seed| {
                let finish = Finish::fit(&rows, &BLOCKS, 3, seed);
                distance(&finish.apply(&rows[..7]), &finish.apply(&rows[7..14])) / apart
            })
            .sum::<f64>()
            / 400.0;
        assert!((mean - 1.0).abs() < 0.1, "{mean}");
    }

    /// Seven columns in four places: all are seen, and a gradient finds its way back to each.
    #[test]
    fn columns_share_places_where_there_are_more_of_them() {
        let rows = rows();
        let finish = Finish::fit(&rows, &BLOCKS, 4, 1);
        assert_eq!(finish.out_dim(), 4);
        let from = &rows[..7];
        for c in (0..7).filter(|c| *c != 2) {
            let mut other = from.to_vec();
            other[c] += 0.5 * 10f32.powi(c as i32);
            let (a, b) = (finish.apply(from), finish.apply(&other));
            let expected = f64::from(finish.scales[c] * (other[c] - from[c])).powi(2);
            assert!((distance(&a, &b) / expected - 1.0).abs() < 1e-3, "{c}");
        }
    }

    #[test]
    fn a_column_that_never_varied_counts_for_nothing() {
        let rows = rows();
        let finish = Finish::fit(&rows, &BLOCKS, 8, 1);
        let mut later = rows[..7].to_vec();
        for value in [1e6, f32::INFINITY] {
            later[2] = value;
            assert_eq!(finish.apply(&later), finish.apply(&rows[..7]));
            assert_eq!(finish.terms(&later, &[1.0; 8])[2], Term { slope: 0.0, constant: 0.0 });
        }
        let one = Finish::fit(&rows[..7], &BLOCKS, 8, 1);
        assert_eq!(one.apply(&later), [0.0; 8]);
    }

    #[test]
    fn what_is_beyond_all_numbers_is_cut() {
        let rows = rows();
        let finish = Finish::fit(&rows, &BLOCKS, 8, 1);
        let mut later = rows[..7].to_vec();
        (later[0], later[1], later[3]) = (f32::INFINITY, f32::NEG_INFINITY, f32::MAX);
        assert!(finish.apply(&later).iter().all(|value| value.is_finite()));
    }

    #[test]
    fn gradients_are_those_of_a_linear_step() {
        let rows = rows();
        let finish = Finish::fit(&rows, &BLOCKS, 5, 1);
        let d = [0.5, -1.0, 2.0, 0.25, 1.5];
        let back = finish.vjp(&d);
        let of = |row: &[f32]| -> f64 {
            finish.apply(row).iter().zip(&d).map(|(v, d)| f64::from(v * d)).sum()
        };
        let (a, b) = (&rows[..7], &rows[7..14]);
        let along: f64 = (0..7).map(|c| f64::from(back[c]) * f64::from(b[c] - a[c])).sum();
        assert!((of(b) - of(a) - along).abs() < 1e-4 * along.abs(), "{along}");
    }

    #[test]
    fn terms_add_up_to_what_is_made_of_the_vector() {
        let rows = rows();
        let finish = Finish::fit(&rows, &BLOCKS, 5, 1);
        let d = [0.5, -1.0, 2.0, 0.25, 1.5];
        let mut cut = rows[7..14].to_vec();
        cut[3] = f32::MAX;
        cut[4] = f32::INFINITY;
        for row in [&rows[..7], &rows[7..14], &cut] {
            let expected: f64 =
                finish.apply(row).iter().zip(&d).map(|(v, d)| f64::from(*v) * d).sum();
            let terms = finish.terms(row, &d);
            let adds = |(term, u): (&Term, &f32)| match term.slope {
                0.0 => term.constant,
                slope => slope * f64::from(*u) + term.constant,
            };
            let sum: f64 = terms.iter().zip(row).map(adds).sum();
            assert!((sum - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{sum} {expected}");
        }
    }

    #[test]
    fn numbers_that_are_asked_for_are_some() {
        assert!(check(1).is_ok() && check(MOST).is_ok());
        assert!(check(0).is_err() && check(MOST + 1).is_err());
    }
}
