//! Some graphs of many.

use hg2v::rng;
use rand::RngExt;

/// At most `most` of the places `0..count`, ascending, each such set equally likely.
///
/// ```
/// use hg2v_report::sample::some;
/// assert_eq!(some(3, 5, 0), [0, 1, 2]);
/// assert_eq!(some(1000, 5, 7).len(), 5);
/// ```
pub fn some(count: usize, most: usize, seed: u64) -> Vec<usize> {
    let mut rng = rng::stream(seed, "some graphs", 0, 0);
    let (mut left, mut wanted) = (count, most);
    let keep = |_: &usize| {
        let kept = rng.random_range(0..left) < wanted;
        left -= 1;
        wanted -= usize::from(kept);
        kept
    };
    (0..count).filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_are_as_many_as_asked_for_and_in_order() {
        for seed in 0..20 {
            let chosen = some(100, 30, seed);
            assert_eq!(chosen.len(), 30);
            assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]) && chosen[29] < 100);
        }
        assert_ne!(some(100, 30, 0), some(100, 30, 1));
        assert!(some(0, 5, 0).is_empty());
    }
}
