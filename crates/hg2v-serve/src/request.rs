//! Bodies of requests: graphs and questions, read within bounds.

use std::path::Path;
use std::slice;

use hg2v::dataset::{Limits, jsonl};
use hg2v::error::{Error, Place, Result};
use hg2v::graph::{GraphRecord, Scalar};
use serde::Deserialize;

/// What stands for a file in messages.
pub const NAME: &str = "request";

/// What is to be searched for.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// Neighbours of a graph of the index.
    Id(String),
    /// Neighbours of this graph.
    Graph(Box<GraphRecord>),
}

impl Question {
    /// The graphs that are to be embedded for it.
    pub fn graphs(&self) -> &[GraphRecord] {
        match self {
            Question::Id(_) => &[],
            Question::Graph(record) => slice::from_ref(&**record),
        }
    }
}

/// The graph of a body, or of line `number` (from 1) of a stream.
///
/// # Errors
/// What is no graph, or is larger than `limits` allow.
pub fn graph(body: &[u8], number: u64, limits: &Limits) -> Result<GraphRecord> {
    // A body may stretch over lines; JSON cares for none of them.
    jsonl::from_line(Path::new(NAME), number, body.trim_ascii(), limits)
}

/// The question of a body: `{"id": …}` alone, or a graph.
///
/// # Errors
/// What is neither, or is larger than `limits` allow.
pub fn question(body: &[u8], limits: &Limits) -> Result<Question> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Name {
        id: Scalar,
        top: Option<serde::de::IgnoredAny>,
    }
    // Nothing but an id: few bytes, so that no large body is read twice.
    if body.len() < 4096
        && let Ok(Name { id, top }) = serde_json::from_slice(body)
    {
        if top.is_some() {
            let problem = "`top` stands in the body";
            let fix = "ask for /search?top=N with {\"id\": …} alone as the body";
            return Err(Error::input(NAME, Place::Whole, problem, fix));
        }
        return Ok(Question::Id(id.to_string()));
    }
    graph(body, 1, limits).map(|record| Question::Graph(Box::new(record)))
}
