//! Where graphs become vectors: a card until it fails, and then the processor.

use std::sync::atomic::{AtomicBool, Ordering};

use hg2v::Hg2v;
use hg2v::model::Example;
use hg2v::nn::machine::Machine;

use crate::state::say;
use crate::words::Operator;

/// Where graphs become vectors. A card that fails stays failed for as long as the process
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

    /// The vectors of `examples`, row after row.
    pub(crate) fn vectors(&self, model: &Hg2v, examples: &[Example]) -> Vec<f32> {
        model.embed_examples_on(&self.machine(), examples).unwrap_or_else(|error| {
            if !self.failed.swap(true, Ordering::Relaxed) {
                let error = error.worded(&Operator);
                say(format!("error: {error}; the processor embeds from here on"));
            }
            model.embed_examples(examples)
        })
    }
}
