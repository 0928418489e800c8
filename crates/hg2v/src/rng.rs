//! One seed, many named random streams.
//!
//! Every random decision draws from a stream keyed by
//! `(seed, purpose, epoch, graph)`, so that what a graph gets never depends on
//! the order, thread or batch in which it is processed.

use rand::{Rng, RngExt, SeedableRng};
pub use rand_chacha::ChaCha8Rng;

/// The random stream of `purpose` for one `epoch` and one `graph`.
///
/// ```
/// use rand::Rng;
/// let mut a = hg2v::rng::stream(7, "dla", 0, 3);
/// let mut b = hg2v::rng::stream(7, "dla", 0, 3);
/// assert_eq!(a.next_u64(), b.next_u64());
/// ```
pub fn stream(seed: u64, purpose: &str, epoch: u64, graph: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (slot, word) in key.chunks_exact_mut(8).zip([seed, fnv1a(purpose), epoch, graph]) {
        slot.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

/// 64-bit FNV-1a: purposes are few fixed words, chosen by us, so a short hash
/// that is the same on every platform is all that is needed.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A number of [0, 1), of 53 random bits.
pub fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Puts `items` into any order, each equally likely (Fisher & Yates). Written out, so that a
/// seed keeps its meaning whatever the random crates change in theirs.
pub fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        // The remainder's bias is below 2⁻³² for any list that fits in memory.
        let other = rng.next_u64() % (last as u64 + 1);
        items.swap(last, other as usize);
    }
}

/// At most `most` of the places `0..count`, ascending, each such set equally likely:
/// selection sampling (Knuth, volume 2, 3.4.2, algorithm S).
///
/// ```
/// let mut rng = hg2v::rng::stream(7, "some", 0, 0);
/// assert_eq!(hg2v::rng::some(3, 5, &mut rng), [0, 1, 2]);
/// assert_eq!(hg2v::rng::some(1000, 5, &mut rng).len(), 5);
/// ```
pub fn some(count: usize, most: usize, rng: &mut impl Rng) -> Vec<usize> {
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
        let of = |seed| some(100, 30, &mut stream(seed, "some", 0, 0));
        for seed in 0..20 {
            let chosen = of(seed);
            assert_eq!(chosen.len(), 30);
            assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]) && chosen[29] < 100);
        }
        assert_ne!(of(0), of(1));
        assert!(some(0, 5, &mut stream(0, "some", 0, 0)).is_empty());
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut rng = stream(3, "shuffle", 0, 0);
        let mut seen = std::collections::BTreeMap::<[u8; 3], u32>::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, &mut rng);
            *seen.entry(items).or_default() += 1;
        }
        // Six orders of 1000 each, whose deviation is 29.
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count| count.abs_diff(1000) < 150), "{seen:?}");
    }
}
