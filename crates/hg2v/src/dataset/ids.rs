//! Which graphs of a collection are called alike.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::graph::Scalar;

/// Graphs whose ids, as texts, are not theirs alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RepeatedIds {
    /// Ids that several graphs have.
    pub ids: u64,
    /// Those graphs.
    pub graphs: u64,
    /// The positions of the first two of the same id, from 0.
    pub example: [u64; 2],
}

/// The ids met so far: a digest and a position each, since ids may be long.
#[derive(Default)]
pub(super) struct Ids(Vec<([u8; 16], u64)>);

impl Ids {
    /// Takes in the id of the graph at `position`.
    pub(super) fn add(&mut self, id: &Scalar, position: u64) {
        let mut short = [0; 16];
        let digest = Sha256::digest(id.to_string().as_bytes());
        short.iter_mut().zip(digest).for_each(|(short, byte)| *short = byte);
        self.0.push((short, position));
    }

    /// Those that are repeated, if any.
    pub(super) fn finish(mut self) -> Option<RepeatedIds> {
        self.0.sort_unstable();
        let groups = self.0.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1);
        groups.fold(None, |found: Option<RepeatedIds>, group| {
            let own = [group[0].1, group[1].1];
            let before = found.unwrap_or(RepeatedIds { ids: 0, graphs: 0, example: own });
            Some(RepeatedIds {
                ids: before.ids + 1,
                graphs: before.graphs + group.len() as u64,
                example: before.example.min(own),
            })
        })
    }
}
