//! The library's words as values of options.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hg2v::vocabulary::Named;

/// Takes a word of `T`; help lists all, and what each means.
pub(crate) fn word<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    word_where(|_| true)
}

/// Takes a word of those of `T` for which `wanted` holds.
pub(crate) fn word_where<T: Named + Send + Sync>(
    wanted: fn(T) -> bool,
) -> impl TypedValueParser<Value = T> {
    let known = T::ALL.iter().filter(|known| wanted(known.value));
    words(known.map(|known| (known.word, known.about))).try_map(|word| T::of_word(T::OPTION, &word))
}

/// Takes one of these words, each with what it means.
pub(crate) fn words(
    known: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> PossibleValuesParser {
    let value = |(word, about)| PossibleValue::new(word).help(about);
    PossibleValuesParser::new(known.into_iter().map(value))
}
