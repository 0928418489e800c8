//! The words that parameters may be, as the enums of Rust spell them.

use std::fmt;

use hg2v::coarsen::Method;
use hg2v::dataset::features::When;
use hg2v::graph::WeightPolicy;
use hg2v::model::{Activation, Layer, Readout};
use pyo3::prelude::*;
use serde::Deserialize;
use serde::de::value::StrDeserializer;

/// The words of each parameter that is one of a few; Python checks them before Rust reads them.
#[pyfunction]
pub(crate) fn words() -> Vec<(&'static str, Vec<&'static str>)> {
    vec![
        ("layer", of::<Layer>()),
        ("input", of::<Activation>()),
        ("readout", of::<Readout>()),
        ("degree", of::<When>()),
        ("structure", of::<When>()),
        ("coarsening", of::<Method>()),
        ("method", of::<Method>()),
        ("weights", of::<WeightPolicy>()),
    ]
}

/// The words that an enum is spelled by: it names them to whoever tries another.
fn of<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    match T::deserialize(StrDeserializer::<Known>::new("")) {
        Ok(_) => Vec::new(),
        Err(Known(words)) => words.to_vec(),
    }
}

/// What an enum says to a word that it does not know.
#[derive(Debug)]
struct Known(&'static [&'static str]);

impl serde::de::Error for Known {
    fn custom<T: fmt::Display>(_: T) -> Known {
        Known(&[])
    }

    fn unknown_variant(_: &str, words: &'static [&'static str]) -> Known {
        Known(words)
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it must be one of {}", self.0.join(", "))
    }
}

impl std::error::Error for Known {}
