//! Which super-nodes are compared as negatives: all of a level, or a sample of a large one.

use hg2v_math::rng;

/// A level has a sample drawn where it has more than this many times the sample: below that, a
/// sample would give up the exact mean for little time.
const WORTH: usize = 8;

/// How the negatives of a step are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Draw {
    /// `|S|`: how many super-nodes are drawn; 0 where all are compared.
    pub sample: usize,
    /// Seeds what is drawn.
    pub seed: u64,
    /// The step, from 0 over all epochs.
    pub step: u64,
}

impl Draw {
    /// The super-nodes that the nodes of `level` are compared with, ascending, of `m` in all;
    /// `None` where that is all of them.
    ///
    /// They are `|S|` of `m`, each such set equally likely, and follow from the seed, the step and
    /// the level alone.
    pub fn of_level(&self, level: usize, m: usize) -> Option<Vec<u32>> {
        if self.sample == 0 || m <= self.sample.saturating_mul(WORTH) {
            return None;
        }
        let mut stream = rng::stream(self.seed, "negatives", self.step, level as u64);
        let drawn = rng::sample_without_replacement(m, self.sample, &mut stream);
        Some(drawn.into_iter().map(|v| v as u32).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_levels_alone_have_a_sample() {
        let draw = Draw { sample: 3, seed: 7, step: 0 };
        assert_eq!(draw.of_level(0, 24), None);
        assert_eq!(draw.of_level(0, 25).map(|drawn| drawn.len()), Some(3));
        assert_eq!(Draw { sample: 0, ..draw }.of_level(0, 1000), None);
        assert_eq!(Draw { sample: usize::MAX, ..draw }.of_level(0, 1000), None);
    }

    #[test]
    fn seed_step_and_level_choose_the_sample() {
        let draw = Draw { sample: 20, seed: 7, step: 3 };
        let of = |draw: Draw, level| draw.of_level(level, 1000).unwrap();
        let one = of(draw, 1);
        assert!(one.windows(2).all(|pair| pair[0] < pair[1]) && one[19] < 1000);
        assert_eq!(one, of(draw, 1));
        for other in [of(draw, 0), of(Draw { step: 4, ..draw }, 1), of(Draw { seed: 8, ..draw }, 1)]
        {
            assert_ne!(one, other);
        }
    }
}
