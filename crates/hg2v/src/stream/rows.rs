//! What the rows of a file of vectors are, and how they are written.

use std::ops::Range;
use std::path::Path;

use super::chunks::Chunk;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::estimator::Hg2v;
use crate::method::{Model, Rows};
use crate::prepare::Collection;
use crate::vectors::{Key, Shape, VectorSink};

/// What a row is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Per {
    /// A graph.
    #[default]
    Graph,
    /// A node, with what its super-nodes say.
    Node,
    /// A level of a graph.
    Level,
}

crate::vocabulary! { Per, "per":
    Graph => "graph", "a graph";
    Node => "node", "a node, with what its super-nodes say (models of hg2v)";
    Level => "level", "a level of a graph (models of hg2v)";
}

/// How the vectors of a model become rows.
pub(super) struct Layout {
    per: Per,
    /// Numbers of a row.
    pub(super) dim: usize,
    /// Numbers of a graph before they become rows: its vector, or what the network reads out.
    graph_dim: usize,
    /// For vectors of levels: which numbers of what is read out each is made of.
    levels: Vec<Vec<Range<usize>>>,
}

impl Layout {
    /// The layout, and what the file says of it.
    ///
    /// # Errors
    /// Rows that the model's method does not have.
    pub(super) fn new(model: &dyn Model, per: Per) -> Result<(Layout, Shape)> {
        let hg2v = || {
            Hg2v::of(model).ok_or_else(|| {
                let requirement =
                    format!("a model of {} has vectors of graphs alone", model.method());
                Error::parameter("per", per, requirement)
            })
        };
        let numbered = |prefix: &str, n: usize| (0..n).map(|i| format!("{prefix}{i}")).collect();
        let mut levels = Vec::new();
        let mut graph_dim = model.dim();
        let (names, part): (Vec<String>, _) = match per {
            Per::Graph => (model.columns(), None),
            Per::Node => (numbered("v", hg2v()?.node_dim()), Some("node")),
            Per::Level => {
                levels = hg2v()?.level_numbers();
                graph_dim = hg2v()?.layer().embedding_dim();
                let dim = levels[0].iter().map(Range::len).sum();
                (numbered("e", dim), Some("level"))
            }
        };
        let layout = Layout { per, dim: names.len(), graph_dim, levels };
        Ok((layout, Shape { names, part, model: Some(model.digest()?) }))
    }

    /// The numbers of all rows of some graphs.
    pub(super) fn rows(
        &self,
        model: &dyn Model,
        collection: &Collection<'_>,
        context: &Context<'_>,
    ) -> Result<Rows> {
        let hg2v = match self.per {
            Per::Node | Per::Level => Hg2v::of(model),
            Per::Graph => None,
        };
        let Some(hg2v) = hg2v else { return model.embed_collection(collection, context) };
        let (examples, applied) = hg2v.examples(collection)?;
        if self.per == Per::Level {
            let values = hg2v.embed_examples(&examples, context)?;
            return Ok(Rows { values, applied });
        }
        let mut values = Vec::new();
        for example in &examples {
            values.extend(hg2v.embed_nodes(example, context)?);
        }
        Ok(Rows { values, applied })
    }

    /// Writes the rows of a chunk, and says how many.
    pub(super) fn write(
        &self,
        sink: &mut dyn VectorSink,
        file: &Path,
        chunk: &Chunk,
        rows: &[f32],
    ) -> Result<u64> {
        let run = chunk.run(file);
        let (mut rest, mut written) = (rows, 0);
        for (i, record) in chunk.records.iter().enumerate() {
            let id = record.id_at(run.position_of(i));
            let key = |part| Key { id: &id, label: record.label.as_ref(), part };
            let numbers = match self.per {
                Per::Node => record.num_nodes as usize * self.dim,
                Per::Graph | Per::Level => self.graph_dim,
            };
            let own = rest.split_off(..numbers).unwrap_or_default();
            match self.per {
                Per::Graph => {
                    sink.write(key(None), own)?;
                    written += 1;
                }
                Per::Level => {
                    for (level, parts) in self.levels.iter().enumerate() {
                        let row: Vec<f32> =
                            parts.iter().flat_map(|part| own[part.clone()].to_vec()).collect();
                        sink.write(key(Some(level as u64 + 1)), &row)?;
                        written += 1;
                    }
                }
                Per::Node => {
                    for (node, row) in own.chunks_exact(self.dim).enumerate() {
                        sink.write(key(Some(node as u64)), row)?;
                        written += 1;
                    }
                }
            }
        }
        Ok(written)
    }
}
