//! A collection a chunk at a time, so that memory does not grow with it.

use std::path::Path;
use std::str::FromStr;

use crate::dataset::Source;
use crate::error::{Error, Result, shown};
use crate::graph::GraphRecord;
use crate::prepare::{Cut, Run};

/// The most graphs of a chunk, give or take a part.
const GRAPHS: usize = 1024;

/// Nodes and edges that fill a chunk.
const SIZE: usize = 1 << 18;

/// Which graphs to take: those at the positions p with `1 + p mod parts = part`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub part: u64,
    /// Of how many.
    pub parts: u64,
}

impl Shard {
    /// All graphs.
    pub const WHOLE: Shard = Shard { part: 1, parts: 1 };
}

/// `I/N`, with I from 1 to N.
impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Shard> {
        let parsed = text.split_once('/').and_then(|(part, parts)| {
            Some(Shard { part: part.parse().ok()?, parts: parts.parse().ok()? })
        });
        parsed.filter(|shard| (1..=shard.parts).contains(&shard.part)).ok_or_else(|| {
            let requirement = "it must be I/N with I between 1 and N, such as 2/8";
            Error::parameter("shard", shown(text), requirement)
        })
    }
}

/// A collection in chunks, each of whole [parts](crate::prepare::Run::parts).
pub struct Chunks {
    source: Source,
    step: u64,
    graphs: usize,
    size: usize,
}

impl Chunks {
    /// The graphs of a shard of a source, in chunks.
    pub fn new(source: Source, shard: Shard) -> Chunks {
        let (source, step) = (source.part(shard.part, shard.parts), shard.parts);
        Chunks { source, step, graphs: GRAPHS, size: SIZE }
    }

    /// The same in chunks this many times as large: fewer waits for the last graph of a chunk,
    /// for work that holds little more than the graphs themselves.
    #[must_use]
    pub fn larger(mut self, times: usize) -> Chunks {
        self.graphs *= times;
        self.size *= times;
        self
    }

    fn read(&mut self) -> Result<Option<Chunk>> {
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
            if ends && (size >= self.size || chunk.records.len() >= self.graphs) {
                break;
            }
        }
        chunk.passed = self.source.passed() - before;
        Ok((chunk.passed > 0).then_some(chunk))
    }
}

impl Iterator for Chunks {
    type Item = Result<Chunk>;

    fn next(&mut self) -> Option<Result<Chunk>> {
        self.read().transpose()
    }
}

/// Graphs that are worked on together.
pub struct Chunk {
    /// The graphs.
    pub records: Vec<GraphRecord>,
    pub(super) first: u64,
    pub(super) step: u64,
    /// Graphs that were read, those of other shards included.
    pub passed: u64,
}

impl Chunk {
    /// Where its graphs stand in `file`.
    pub fn run<'a>(&'a self, file: &'a Path) -> Run<'a> {
        Run { position: self.first, step: self.step, ..Run::of(&self.records, file) }
    }
}
