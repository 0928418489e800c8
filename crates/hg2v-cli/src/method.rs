//! The options of methods as flags, shared by the commands that train: all of them come from the
//! library's table, with what they are by default.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use hg2v::{Error, Hg2vParams, Method, Result};
use hg2v_baselines::defaults::{self, Defaults};
use hg2v_baselines::options::{Kind, MethodOption, OPTIONS, PRESET};
use hg2v_baselines::registry::{self, Entry};
use serde_json::{Value, json};

use crate::vocabulary::words;

/// The method that a model is of, unless somebody says otherwise.
pub(crate) const DEFAULT_METHOD: &str = "hg2v";

/// The options that were given, names and values as the user typed them. What is not given follows
/// from the preset.
#[derive(Debug, Clone, Default)]
pub(crate) struct MethodArgs {
    given: Vec<(&'static str, Value)>,
}

impl MethodArgs {
    /// The model that the options describe.
    ///
    /// # Errors
    /// Options that contradict each other, or that HG2V does not have.
    pub(crate) fn params(&self, seed: u64) -> Result<Hg2vParams> {
        let entry = registry::find(DEFAULT_METHOD)?;
        read(entry.settings(&self.seeded(entry, seed))?)
    }

    /// The method of this name with the options that were given.
    ///
    /// # Errors
    /// Options that contradict each other, or that the method does not have.
    pub(crate) fn method(&self, name: &str, seed: u64) -> Result<Box<dyn Method>> {
        let entry = registry::find(name)?;
        entry.method(&self.seeded(entry, seed))
    }

    /// The model that the options describe to whoever started with `params`: the same, unless they
    /// say otherwise.
    ///
    /// # Errors
    /// As [`params`](MethodArgs::params).
    pub(crate) fn again(&self, params: &Hg2vParams) -> Result<Hg2vParams> {
        if self.given.iter().any(|(name, _)| *name == PRESET) {
            return self.params(params.recipe.seed);
        }
        let mut settings = params.settings();
        registry::find(DEFAULT_METHOD)?.put(&mut settings, &self.given)?;
        read(settings)
    }

    fn seeded(&self, entry: &Entry, seed: u64) -> Vec<(&'static str, Value)> {
        let takes = entry.vectors.as_ref().is_some_and(|vectors| vectors.takes("seed"));
        let seed = takes.then(|| ("seed", json!(seed)));
        self.given.iter().cloned().chain(seed).collect()
    }
}

fn read(settings: Value) -> Result<Hg2vParams> {
    serde_json::from_value(settings)
        .map_err(|error| Error::parameter("method", DEFAULT_METHOD, error.to_string()))
}

/// Whether HG2V has the option; others are for other methods alone.
fn is_own(defaults: &Defaults) -> bool {
    defaults.values.iter().any(|(_, methods)| methods.contains(&DEFAULT_METHOD))
}

/// What an option is unless it is given: `128; graph2vec: 256; --preset paper: 64`.
fn default_text(defaults: &Defaults) -> String {
    let of_methods =
        defaults.values.iter().map(|(value, methods)| match methods.contains(&DEFAULT_METHOD) {
            true => value.clone(),
            false => format!("{}: {value}", methods.join(", ")),
        });
    let of_presets =
        defaults.presets.iter().map(|(preset, value)| format!("--{PRESET} {preset}: {value}"));
    of_methods.chain(of_presets).collect::<Vec<_>>().join("; ")
}

fn flag(option: &'static MethodOption) -> Arg {
    let defaults = defaults::of(option);
    let heading = if is_own(&defaults) { "Model and training" } else { "Other methods" };
    let arg = Arg::new(option.name)
        .long(option.name.replace('_', "-"))
        .value_name(option.symbol)
        .help(format!("{} [default: {}]", option.about, default_text(&defaults)))
        .help_heading(heading);
    match &option.kind {
        Kind::Whole => arg.value_parser(value_parser!(u64)),
        Kind::Number => arg.value_parser(finite),
        Kind::Switch => {
            arg.value_parser(value_parser!(bool)).num_args(0..=1).default_missing_value("true")
        }
        Kind::Word(known) => {
            let arg = arg.value_parser(words((known.all)()));
            match known.alone {
                Some(word) => arg.num_args(0..=1).default_missing_value(word),
                None => arg,
            }
        }
        Kind::List(known) => {
            let arg = arg.value_parser(words((known.all)())).value_delimiter(',');
            arg.action(ArgAction::Append)
        }
    }
}

fn finite(text: &str) -> std::result::Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it must be a number".to_owned())?;
    match number.is_finite() {
        true => Ok(number),
        false => Err("it must be a finite number".to_owned()),
    }
}

/// What was given for an option, if anything.
fn given(option: &'static MethodOption, matches: &ArgMatches) -> Option<Value> {
    let name = option.name;
    match &option.kind {
        Kind::Whole => matches.get_one::<u64>(name).map(|number| json!(number)),
        Kind::Number => matches.get_one::<f64>(name).map(|number| json!(number)),
        Kind::Switch => matches.get_one::<bool>(name).map(|on| json!(on)),
        Kind::Word(_) => matches.get_one::<String>(name).map(|word| json!(word)),
        Kind::List(_) => {
            let words = matches.get_many::<String>(name)?;
            Some(words.map(|word| json!(word)).collect())
        }
    }
}

impl Args for MethodArgs {
    fn augment_args(command: Command) -> Command {
        command.args(OPTIONS.iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        MethodArgs::augment_args(command)
    }
}

impl FromArgMatches for MethodArgs {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<MethodArgs, clap::Error> {
        let given =
            OPTIONS.iter().filter_map(|option| Some((option.name, given(option, matches)?)));
        Ok(MethodArgs { given: given.collect() })
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = MethodArgs::from_arg_matches(matches)?;
        Ok(())
    }
}
