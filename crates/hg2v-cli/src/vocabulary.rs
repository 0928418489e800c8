//! The library's words as values of options.

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Takes one of these words, which help shows with what each means.
pub(crate) fn one_of<T>(
    words: &'static [(&'static str, &'static str)],
) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = hg2v::Error> + Clone + Send + Sync + 'static,
{
    let values = words.iter().map(|(word, about)| PossibleValue::new(*word).help(*about));
    PossibleValuesParser::new(values).try_map(|word| word.parse::<T>())
}
