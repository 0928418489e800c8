//! A dictionary of integer sequences: equal sequences get equal numbers.
//!
//! The sequences lie end to end in one arena, and an open-addressing table of
//! numbers points into it, so that a hit allocates nothing and a miss only
//! appends. Numbers are given in order of first use; the hash decides where a
//! number is kept, never which number it is. That is why the hash can be keyed at
//! random (a hostile file cannot aim for collisions) and results still repeat.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Marks a free slot of the table, and so is never a sequence's number.
pub(super) const FREE: u32 = u32::MAX;

/// A dictionary of sequences of `u32`.
#[derive(Debug, Clone)]
pub(super) struct Interner {
    /// Every sequence, one after the other.
    arena: Vec<u32>,
    /// Where each sequence ends in the arena.
    ends: Vec<usize>,
    /// The hash of each sequence: compared first, and reused when the table grows.
    hashes: Vec<u32>,
    /// Numbers by hash, linear probing; a power of two, at most half full.
    table: Vec<u32>,
    hasher: RandomState,
}

impl Interner {
    pub(super) fn new() -> Interner {
        Interner {
            arena: Vec::new(),
            ends: Vec::new(),
            hashes: Vec::new(),
            table: vec![FREE; 16],
            hasher: RandomState::new(),
        }
    }

    /// How many distinct sequences were met.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of `sequence`, a new one at its first use; `None` when all
    /// numbers are taken.
    pub(super) fn intern(&mut self, sequence: &[u32]) -> Option<u32> {
        let hash = self.hasher.hash_one(sequence) as u32;
        let slot = match self.probe(hash, sequence) {
            Ok(number) => return Some(number),
            Err(slot) => slot,
        };
        let number = u32::try_from(self.len()).ok().filter(|&n| n != FREE)?;
        self.table[slot] = number;
        self.arena.extend_from_slice(sequence);
        self.ends.push(self.arena.len());
        self.hashes.push(hash);
        if 2 * self.len() > self.table.len() {
            self.grow();
        }
        Some(number)
    }

    /// The number of `sequence`, if it was met.
    pub(super) fn get(&self, sequence: &[u32]) -> Option<u32> {
        self.probe(self.hasher.hash_one(sequence) as u32, sequence).ok()
    }

    /// The number of `sequence`, or the free slot where it belongs.
    fn probe(&self, hash: u32, sequence: &[u32]) -> Result<u32, usize> {
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        while self.table[slot] != FREE {
            let number = self.table[slot];
            if self.hashes[number as usize] == hash && self.sequence(number) == sequence {
                return Ok(number);
            }
            slot = (slot + 1) & mask;
        }
        Err(slot)
    }

    /// The sequences by their numbers.
    pub(super) fn sequences(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len() as u32).map(|number| self.sequence(number))
    }

    fn sequence(&self, number: u32) -> &[u32] {
        let number = number as usize;
        let start = match number {
            0 => 0,
            _ => self.ends[number - 1],
        };
        &self.arena[start..self.ends[number]]
    }

    fn grow(&mut self) {
        let size = 2 * self.table.len();
        self.table.clear();
        self.table.resize(size, FREE);
        for (number, &hash) in self.hashes.iter().enumerate() {
            let mut slot = hash as usize & (size - 1);
            while self.table[slot] != FREE {
                slot = (slot + 1) & (size - 1);
            }
            self.table[slot] = number as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn numbers_are_dense_in_order_of_first_use() {
        let mut interner = Interner::new();
        let mut expected = BTreeMap::new();
        for i in 0..5000u32 {
            // Sequences of lengths 0 to 6 that come back again and again.
            let sequence: Vec<u32> = (0..i % 7).map(|j| (i * 31 + j) % 97).collect();
            let next = expected.len() as u32;
            let number = *expected.entry(sequence.clone()).or_insert(next);
            assert_eq!(interner.intern(&sequence), Some(number));
        }
        assert_eq!(interner.len(), expected.len());
        assert!(interner.len() > 300, "the table has grown");
    }
}
