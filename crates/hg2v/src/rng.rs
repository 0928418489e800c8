//! One seed, many named random streams.
//!
//! Every random decision draws from a stream keyed by
//! `(seed, purpose, epoch, graph)`, so that what a graph gets never depends on
//! the order, thread or batch in which it is processed.

use rand::SeedableRng;
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
