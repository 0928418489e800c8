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

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use hg2v_baselines::kernels::wwl::Nodes;
    use hg2v_eval::classifiers::Classifier;
    use hg2v_eval::study::Mode;
    use hg2v_search::Metric;
    use hg2v_search::project::ProjectionMethod;
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::{from_value, json};

    use super::*;

    /// Whether an enum beyond the core is typed, shown and stored by the words of its table.
    fn consistent<T: Named + Serialize + DeserializeOwned + ToString + PartialEq + Debug>() {
        for known in T::ALL {
            assert_eq!(known.value.to_string(), known.word);
            assert_eq!(T::of_word(T::OPTION, known.word).unwrap(), known.value);
            assert_eq!(json!(known.value), json!(known.word));
            for word in known.before.iter().chain([&known.word]) {
                assert_eq!(from_value::<T>(json!(word)).unwrap(), known.value);
            }
        }
    }

    #[test]
    fn words_are_typed_shown_and_stored_alike() {
        consistent::<Classifier>();
        consistent::<Metric>();
        consistent::<Mode>();
        consistent::<Nodes>();
        consistent::<ProjectionMethod>();
        assert_eq!(from_value::<Classifier>(json!("linear-svm")).unwrap(), Classifier::LinearSvm);
    }
}
