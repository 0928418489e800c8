//! Random streams keyed by what they decide.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The stream of `purpose` for one `index` under `seed`: what it decides never
/// depends on what else was decided before.
pub(crate) fn stream(seed: u64, purpose: [u8; 8], index: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&purpose);
    key[16..24].copy_from_slice(&index.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// Fisher–Yates. Written out, so that a seed keeps its meaning whatever the
/// random crates change in theirs.
pub(crate) fn shuffle<T>(rng: &mut impl Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        // A number below last + 1; its bias is below 2⁻⁴⁰ for any list that fits in memory.
        let pick = (u128::from(rng.next_u64()) * (last as u128 + 1)) >> 64;
        items.swap(last, pick as usize);
    }
}
