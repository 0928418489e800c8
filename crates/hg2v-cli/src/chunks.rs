//! A collection a chunk at a time, so that memory does not grow with it.

use std::path::Path;

use hg2v::dataset::Source;
use hg2v::graph::GraphRecord;
use hg2v::prepare::{Cut, Run};

/// The most graphs of a chunk, give or take a part.
const GRAPHS: usize = 1024;

/// Which graphs to take; see [`Source::part`].
#[derive(Clone, Copy)]
pub(crate) struct Shard {
    pub(crate) part: u64,
    pub(crate) parts: u64,
}

impl Shard {
    /// All graphs.
    pub(crate) const WHOLE: Shard = Shard { part: 1, parts: 1 };
}

/// A collection in chunks, each of whole [parts](Cut).
pub(crate) struct Chunks {
    source: Source,
    step: u64,
    /// Nodes and edges that fill a chunk.
    size: usize,
}

impl Chunks {
    pub(crate) fn new(source: Source, shard: Shard, size: usize) -> Chunks {
        Chunks { source: source.part(shard.part, shard.parts), step: shard.parts, size }
    }

    fn read(&mut self) -> hg2v::Result<Option<Chunk>> {
        let before = self.source.passed();
        let mut chunk = Chunk { records: Vec::new(), first: 0, step: self.step, passed: 0 };
        let (mut cut, mut size) = (Cut::default(), 0);
        while let Some(record) = self.source.next().transpose()? {
            if chunk.records.is_empty() {
                chunk.first = self.source.passed() - 1;
            }
            size += record.num_nodes as usize + record.edges.len();
            let ends = cut.ends_with(&record);
            chunk.records.push(record);
            if ends && (size >= self.size || chunk.records.len() >= GRAPHS) {
                break;
            }
        }
        chunk.passed = self.source.passed() - before;
        Ok((chunk.passed > 0).then_some(chunk))
    }
}

impl Iterator for Chunks {
    type Item = hg2v::Result<Chunk>;

    fn next(&mut self) -> Option<hg2v::Result<Chunk>> {
        self.read().transpose()
    }
}

/// Graphs that are worked on together.
pub(crate) struct Chunk {
    pub(crate) records: Vec<GraphRecord>,
    first: u64,
    step: u64,
    /// Graphs that were read, those of other shards included.
    pub(crate) passed: u64,
}

impl Chunk {
    pub(crate) fn run<'a>(&'a self, file: &'a Path) -> Run<'a> {
        Run { position: self.first, step: self.step, ..Run::of(&self.records, file) }
    }
}
