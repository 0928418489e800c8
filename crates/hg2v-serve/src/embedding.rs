//! Where graphs become vectors: a GPU until it fails, and then the processor.

use std::sync::atomic::{AtomicBool, Ordering};

use hg2v::Model;
use hg2v::context::{Context, Machine};
use hg2v::error::Result;
use hg2v::method::Rows;
use hg2v::prepare::Collection;

use crate::state::say;
use crate::words::Operator;

/// Where graphs become vectors. A GPU that fails stays failed for as long as the process
/// lives; whoever asks is answered all the same.
#[derive(Debug)]
pub(crate) struct Embedding {
    machine: Machine,
    failed: AtomicBool,
}

impl Embedding {
    pub(crate) fn on(machine: Machine) -> Embedding {
        Embedding { machine, failed: AtomicBool::new(false) }
    }

    /// The machine that works.
    pub(crate) fn machine(&self) -> Machine {
        match self.failed.load(Ordering::Relaxed) {
            true => Machine::Cpu,
            false => self.machine.clone(),
        }
    }

    /// The vectors of graphs that the model accepts, row after row.
    ///
    /// # Errors
    /// None that another device would not have.
    pub(crate) fn rows(&self, model: &dyn Model, graphs: &Collection<'_>) -> Result<Rows> {
        let context = Context::default().on(self.machine());
        model.embed_collection(graphs, &context).or_else(|error| {
            if !matches!(error, hg2v::Error::Device { .. }) {
                return Err(error);
            }
            if !self.failed.swap(true, Ordering::Relaxed) {
                let error = error.worded(&Operator);
                say(format!("error: {error}; the processor embeds from here on"));
            }
            model.embed_collection(graphs, &Context::default())
        })
    }
}
