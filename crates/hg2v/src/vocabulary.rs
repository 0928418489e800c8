//! The words by which users name things: one table an enum.
//!
//! An enum that a user can name has a table of its variants, each with its word and what it means,
//! written with [`vocabulary!`](crate::vocabulary!). All else follows from the table: `Display` and
//! `FromStr`, the names in `config.json`, the values that the command's help lists, what Python
//! checks.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serializer};

use crate::error::{Error, Opt, Result};

/// A value, and how users name it.
#[derive(Debug)]
pub struct Word<T: 'static> {
    /// The value.
    pub value: T,
    /// What users type, and what files hold.
    pub word: &'static str,
    /// What it means, in a few words.
    pub about: &'static str,
    /// What files called it before.
    pub before: &'static [&'static str],
}

/// An enum that users can name.
pub trait Named: Copy + 'static {
    /// The option that takes it, unless somebody says otherwise.
    const OPTION: Opt;

    /// All values with their words, in the order of the documentation.
    const ALL: &'static [Word<Self>];

    /// The word for this value.
    fn word(&self) -> &'static str;

    /// The value that a user names in `option`.
    ///
    /// # Errors
    /// A word that is not in the table; the error knows those that are.
    fn of_word(option: Opt, word: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|known| known.word == word);
        found.map(|known| known.value).ok_or_else(|| Error::Unknown {
            option,
            name: word.to_owned(),
            known: Self::words().map(str::to_owned).collect(),
        })
    }

    /// All values, in order.
    fn values() -> impl Iterator<Item = Self> {
        Self::ALL.iter().map(|known| known.value)
    }

    /// All words, in order.
    fn words() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|known| known.word)
    }
}

/// Writes a value as its word.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<T: Named, S: Serializer>(
    value: &T,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_str(value.word())
}

/// Reads a value from its word, or from one that older versions wrote.
///
/// # Errors
/// A word that is not in the table.
pub fn deserialize<'de, T: Named, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<T, D::Error> {
    let text = Cow::<'de, str>::deserialize(from)?;
    let before = T::ALL.iter().find(|known| known.before.contains(&&*text));
    let value = before.map_or_else(|| T::of_word(T::OPTION, &text), |known| Ok(known.value));
    value.map_err(serde::de::Error::custom)
}

/// What must be said in place of `word`: one of `known`, and perhaps one is close.
pub fn one_of(word: &str, known: &[String]) -> String {
    let meant = nearest(word, known).map(|word| format!("; did you mean {word}?"));
    format!("it must be one of: {}{}", known.join(", "), meant.unwrap_or_default())
}

/// The one of `known` that was probably meant by `word`, if any is close: at most a third of its
/// letters are others.
pub fn nearest<'a>(word: &str, known: &'a [String]) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().take(64).collect();
    let distance = |known: &String| edits(&word, &known.chars().collect::<Vec<char>>());
    let (edits, found) = known.iter().map(|known| (distance(known), known)).min()?;
    (3 * edits <= found.chars().count().max(3)).then_some(found)
}

/// How many letters must be put in, left out or replaced to make `b` of `a`.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The [`Named`] of an enum: each variant with its word, what files called it before, and what
/// it means. Also `Display` and `FromStr`, and serde unless the enum has its `own serde`.
///
/// ```
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// enum Size {
///     Small,
///     Large,
/// }
///
/// hg2v::vocabulary! { Size, "size":
///     Small => "small", "fits in a pocket";
///     Large => "large" (before "big"), "does not";
/// }
///
/// assert_eq!("large".parse::<Size>()?, Size::Large);
/// assert_eq!(Size::Small.to_string(), "small");
/// let refused = "smal".parse::<Size>().unwrap_err().to_string();
/// assert_eq!(refused, "size is `smal`, but it must be one of: small, large; did you mean small?");
/// # Ok::<(), hg2v::Error>(())
/// ```
#[macro_export]
macro_rules! vocabulary {
    ($enum:ident, $option:literal: $($table:tt)+) => {
        $crate::vocabulary! { $enum, $option, own serde: $($table)+ }

        impl ::serde::Serialize for $enum {
            fn serialize<S: ::serde::Serializer>(&self, to: S) -> ::std::result::Result<S::Ok, S::Error> {
                $crate::vocabulary::serialize(self, to)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $enum {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                from: D,
            ) -> ::std::result::Result<$enum, D::Error> {
                $crate::vocabulary::deserialize(from)
            }
        }
    };
    ($enum:ident, $option:literal, own serde:
        $($variant:ident $({ $($field:ident: $value:expr),+ })? => $word:literal
            $((before $($before:literal),+))?, $about:literal;)+
    ) => {
        impl $crate::vocabulary::Named for $enum {
            const OPTION: $crate::error::Opt = $crate::error::Opt::new($option);

            const ALL: &'static [$crate::vocabulary::Word<$enum>] = &[$(
                $crate::vocabulary::Word {
                    value: $enum::$variant $({ $($field: $value),+ })?,
                    word: $word,
                    about: $about,
                    before: &[$($($before),+)?],
                },
            )+];

            fn word(&self) -> &'static str {
                match self {
                    $($enum::$variant $({ $($field: _),+ })? => $word,)+
                }
            }
        }

        impl ::std::fmt::Display for $enum {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                // So that widths count.
                f.pad($crate::vocabulary::Named::word(self))
            }
        }

        impl ::std::str::FromStr for $enum {
            type Err = $crate::error::Error;

            fn from_str(word: &str) -> $crate::error::Result<$enum> {
                $crate::vocabulary::Named::of_word(
                    <$enum as $crate::vocabulary::Named>::OPTION,
                    word,
                )
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::{from_value, json, to_value};

    use super::*;
    use crate::coarsen::CoarsenMethod;
    use crate::dataset::Format;
    use crate::dataset::features::When;
    use crate::estimator::Preset;
    use crate::graph::WeightPolicy;
    use crate::model::architecture::LayerKind;
    use crate::nn::dense::Activation;
    use crate::nn::machine::Precision;
    use crate::nn::pairs::{Loss, Negatives};
    use crate::nn::readout::Readout;
    use crate::stream::Per;

    /// What `Display`, `FromStr` and serde say are the words of the table, each once.
    fn consistent<T>()
    where
        T: Named + Serialize + DeserializeOwned + ToString + PartialEq + std::fmt::Debug,
    {
        let mut all: Vec<&str> = T::words().collect();
        for known in T::ALL {
            assert_eq!(known.value.to_string(), known.word);
            assert_eq!(T::of_word(T::OPTION, known.word).unwrap(), known.value);
            let written = to_value(known.value).unwrap();
            let name =
                written.as_str().or_else(|| written.as_object()?.keys().next().map(|k| &**k));
            assert_eq!(name, Some(known.word), "{written}");
            assert_eq!(from_value::<T>(written).unwrap(), known.value);
            assert!(!known.about.is_empty() && !known.about.ends_with('.'), "{}", known.about);
            all.extend(known.before);
        }
        let names = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), names, "{all:?}");
    }

    #[test]
    fn every_enum_has_one_word_for_each_of_its_values() {
        consistent::<Activation>();
        consistent::<CoarsenMethod>();
        consistent::<Format>();
        consistent::<LayerKind>();
        consistent::<Loss>();
        consistent::<Negatives>();
        consistent::<Per>();
        consistent::<Precision>();
        consistent::<Preset>();
        consistent::<Readout>();
        consistent::<WeightPolicy>();
        consistent::<When>();
    }

    #[test]
    fn files_of_before_are_still_read() {
        assert_eq!(from_value::<Negatives>(json!("other-graphs")).unwrap(), Negatives::Others);
        assert_eq!(from_value::<Loss>(json!("jensen-shannon")).unwrap(), Loss::Jsd);
        let cosine = json!({"cosine-info-nce": {"temperature": 0.3}});
        assert_eq!(from_value::<Loss>(cosine).unwrap(), Loss::Cosine { temperature: 0.3 });
        // What users type is what the table says today.
        assert!("other-graphs".parse::<Negatives>().is_err());
    }

    #[test]
    fn an_unknown_word_is_answered_by_the_nearest() {
        let said = |word: &str| word.parse::<CoarsenMethod>().unwrap_err().to_string();
        let known = CoarsenMethod::words().collect::<Vec<_>>().join(", ");
        let most = "it must be one of: ".to_owned() + &known;
        let close = format!("coarsening is `heavy-edges`, but {most}; did you mean heavy-edge?");
        assert_eq!(said("heavy-edges"), close);
        assert_eq!(said("kron "), format!("coarsening is `kron `, but {most}; did you mean kron?"));
        assert_eq!(said("metis"), format!("coarsening is `metis`, but {most}"));
        assert_eq!(said(""), format!("coarsening is ``, but {most}"));
        let in_file = from_value::<When>(json!("alwys")).unwrap_err().to_string();
        assert!(in_file.ends_with("auto, always, never; did you mean always?"), "{in_file}");
        assert!(from_value::<When>(json!(1)).is_err());
    }

    #[test]
    fn edits_are_counted() {
        let count = |a: &str, b: &str| {
            edits(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        assert_eq!(count("", ""), 0);
        assert_eq!(count("", "abc"), 3);
        assert_eq!(count("kitten", "sitting"), 3);
        assert_eq!(count("tsne", "tnse"), 2);
    }
}
