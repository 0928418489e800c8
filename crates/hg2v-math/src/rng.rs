//! One seed, many named random streams, and what is drawn from them.
//!
//! Every random decision draws from a stream keyed by
//! `(seed, purpose, epoch, graph)`, so that what a graph gets never depends on
//! the order, thread or batch in which it is processed.
//!
//! Shuffling and sampling are written out, so that a seed keeps its meaning whatever the
//! random crates change in theirs.

use rand::{Rng, SeedableRng};
pub use rand_chacha::ChaCha8Rng;

/// The random stream of `purpose` for one `epoch` and one `graph`.
///
/// ```
/// use rand::Rng;
/// let mut a = hg2v_math::rng::stream(7, "dla", 0, 3);
/// let mut b = hg2v_math::rng::stream(7, "dla", 0, 3);
/// assert_eq!(a.next_u64(), b.next_u64());
/// ```
pub fn stream(seed: u64, purpose: &str, epoch: u64, graph: u64) -> ChaCha8Rng {
    keyed([seed, fnv1a(purpose), epoch, graph])
}

/// The stream that divides a collection for the `index`-th time. Its purpose is spelled in the
/// key: published splits are files, and hang on it.
pub fn split_stream(seed: u64, purpose: [u8; 8], index: u64) -> ChaCha8Rng {
    keyed([seed, u64::from_le_bytes(purpose), index, 0])
}

fn keyed(words: [u64; 4]) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (slot, word) in key.chunks_exact_mut(8).zip(words) {
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

/// A number below `n`: the upper half of a product. Its bias is below 2⁻³² for any list that
/// fits in memory, as is that of all that is drawn here.
fn below(n: u64, rng: &mut impl Rng) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(n)) >> 64) as u64
}

/// Puts `items` into any order, each equally likely.
pub fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    fisher_yates(items, |n| below(n, rng));
}

/// As [`shuffle`], in the orders in which training and layouts have always taken things: models
/// and figures that are kept hang on them.
pub fn shuffle_by_remainder<T>(items: &mut [T], rng: &mut impl Rng) {
    fisher_yates(items, |n| rng.next_u64() % n);
}

/// Swaps every item, the last first, with one that is not behind it, at the place `below` says.
fn fisher_yates<T>(items: &mut [T], mut below: impl FnMut(u64) -> u64) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last as u64 + 1) as usize);
    }
}

/// At most `most` of the places `0..count`, ascending, each such set equally likely:
/// selection sampling (Knuth, volume 2, 3.4.2, algorithm S).
///
/// ```
/// use hg2v_math::rng::{sample_without_replacement, stream};
/// let mut rng = stream(7, "sample", 0, 0);
/// assert_eq!(sample_without_replacement(3, 5, &mut rng), [0, 1, 2]);
/// assert_eq!(sample_without_replacement(1000, 5, &mut rng).len(), 5);
/// ```
pub fn sample_without_replacement(count: usize, most: usize, rng: &mut impl Rng) -> Vec<usize> {
    let (mut left, mut wanted) = (count as u64, most as u64);
    let keep = |_: &usize| {
        let kept = wanted > 0 && below(left, rng) < wanted;
        left -= 1;
        wanted -= u64::from(kept);
        kept
    };
    (0..count).filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed apart, by ChaCha8 and these rules written in another language.
    #[test]
    fn a_seed_keeps_its_meaning() {
        let own = || stream(7, "test", 0, 0);
        let mut rng = own();
        assert_eq!(rng.next_u64(), 0x334d_22c3_eea7_f2dd);
        assert_eq!(rng.next_u64(), 0x9f55_e806_acf3_77fb);
        assert_eq!(unit(&mut own()), 0.200_395_748_934_766_75);
        let mut rng = own();
        assert_eq!([(); 6].map(|()| below(1000, &mut rng)), [200, 622, 412, 764, 136, 474]);
        let ten = || std::array::from_fn::<u8, 10, _>(|i| i as u8);
        let mut items = ten();
        shuffle(&mut items, &mut own());
        assert_eq!(items, [7, 4, 1, 6, 9, 0, 8, 3, 5, 2]);
        let mut items = ten();
        shuffle_by_remainder(&mut items, &mut own());
        assert_eq!(items, [2, 0, 6, 4, 3, 8, 9, 7, 1, 5]);
        let mut items = ten();
        shuffle(&mut items, &mut split_stream(7, *b"folds\0\0\0", 3));
        assert_eq!(items, [1, 4, 7, 8, 2, 9, 6, 0, 5, 3]);
        let chosen = sample_without_replacement(100, 8, &mut own());
        assert_eq!(chosen, [13, 41, 44, 52, 72, 94, 98, 99]);
    }

    #[test]
    fn a_sample_is_as_large_as_asked_for_and_in_order() {
        let of = |seed| sample_without_replacement(100, 30, &mut stream(seed, "sample", 0, 0));
        for seed in 0..20 {
            let chosen = of(seed);
            assert_eq!(chosen.len(), 30);
            assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]) && chosen[29] < 100);
        }
        assert_ne!(of(0), of(1));
        assert!(sample_without_replacement(0, 5, &mut stream(0, "sample", 0, 0)).is_empty());
        assert!(sample_without_replacement(5, 0, &mut stream(0, "sample", 0, 0)).is_empty());
    }

    #[test]
    fn every_order_and_every_sample_is_as_likely() {
        type Count<T> = std::collections::BTreeMap<T, u32>;
        let mut rng = stream(3, "shuffle", 0, 0);
        let mut orders = [Count::<[u8; 3]>::new(), Count::new()];
        let mut samples = Count::<Vec<usize>>::new();
        for _ in 0..6000 {
            let mut items = [[0, 1, 2]; 2];
            shuffle(&mut items[0], &mut rng);
            shuffle_by_remainder(&mut items[1], &mut rng);
            orders.iter_mut().zip(items).for_each(|(seen, one)| *seen.entry(one).or_default() += 1);
            *samples.entry(sample_without_replacement(4, 2, &mut rng)).or_default() += 1;
        }
        // Six of each, expected 1000 times, whose deviation is 29.
        for seen in orders
            .map(|seen| seen.into_values().collect())
            .into_iter()
            .chain([samples.into_values().collect::<Vec<_>>()])
        {
            assert_eq!(seen.len(), 6);
            assert!(seen.iter().all(|count| count.abs_diff(1000) < 150), "{seen:?}");
        }
    }
}
