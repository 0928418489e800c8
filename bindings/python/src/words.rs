//! Options and the words that they take, as the library's tables have them.

use hg2v::coarsen::CoarsenMethod;
use hg2v::model::Activation;
use hg2v::stream::Per;
use hg2v::vocabulary::Named;
use hg2v_baselines::kernels::wwl::Nodes;
use hg2v_baselines::options::{Kind, OPTIONS};
use hg2v_baselines::registry;
use hg2v_eval::classifiers::Classifier;
use hg2v_eval::goal::Task;
use hg2v_eval::model_grid::ModelGrid;
use hg2v_eval::study::Mode;
use hg2v_search::Metric;
use hg2v_search::project::ProjectionMethod;
use pyo3::prelude::*;

use crate::errors::{raised, unreadable};

/// The words of each parameter that is one of a few, or a list of them; Python checks them before
/// Rust reads them.
#[pyfunction]
pub(crate) fn words() -> Vec<(&'static str, Vec<&'static str>)> {
    let options = OPTIONS.iter().filter_map(|option| match &option.kind {
        // Python says `None` where the command says `none`.
        Kind::Word(_) if option.name == Activation::OPTION.name() => {
            Some((option.name, of::<Activation>()))
        }
        Kind::Word(words) | Kind::List(words) => {
            Some((option.name, (words.all)().into_iter().map(|(word, _)| word).collect()))
        }
        Kind::Whole | Kind::Number | Kind::Switch => None,
    });
    // Parameters of functions and of kernels: no options of methods.
    let others = [
        ("also", of::<Classifier>()),
        ("grid", of::<ModelGrid>()),
        ("method", of::<CoarsenMethod>()),
        ("metric", of::<Metric>()),
        ("nodes", of::<Nodes>()),
        ("per", of::<Per>()),
        ("projections", of::<ProjectionMethod>()),
        ("protocol", of::<Mode>()),
        ("task", of::<Task>()),
    ];
    options.chain(others).collect()
}

fn of<T: Named>() -> Vec<&'static str> {
    T::words().collect()
}

/// The one of `known` that was probably meant by `word`.
#[pyfunction]
pub(crate) fn nearest(word: &str, known: Vec<String>) -> Option<String> {
    hg2v::vocabulary::nearest(word, &known).map(str::to_owned)
}

/// An option as documents show it: its name, and what it is by default, `value: methods` each.
type Shown = (&'static str, Vec<(String, Vec<&'static str>)>);

/// What each option is by default, as the command's help tells it.
#[pyfunction]
pub(crate) fn defaults() -> Vec<Shown> {
    OPTIONS
        .iter()
        .map(|option| (option.name, hg2v_baselines::defaults::of(option).values))
        .collect()
}

/// The settings of a method with `options`, a JSON object of names and values as users give them.
#[pyfunction]
pub(crate) fn settings(py: Python<'_>, method: &str, options: &str) -> PyResult<String> {
    let options: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(options).map_err(|e| unreadable(py, &e))?;
    let options: Vec<(&str, serde_json::Value)> =
        options.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    let made = registry::find(method).and_then(|entry| entry.settings(&options));
    made.map(|settings| settings.to_string()).map_err(|e| raised(py, e.into()))
}
