//! Identifiers and labels: integers, text, and whatever else JSON calls a scalar.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

/// An identifier or label as it stood in the file.
///
/// Scalars are totally ordered (booleans, then numbers by value, then text), so
/// they can key ordered maps and vocabularies come out in one order everywhere.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A finite number that is not an `i64`.
    Float(f64),
    /// Text.
    Text(Box<str>),
}

impl Scalar {
    /// The scalar that `text` spells: an integer where it reads and prints back
    /// as the same text, text otherwise (`7` is a number, `007` is not).
    pub fn from_text(text: &str) -> Scalar {
        match text.parse::<i64>() {
            Ok(int) if int.to_string() == text => Scalar::Int(int),
            _ => Scalar::Text(text.into()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Scalar::Bool(_) => 0,
            Scalar::Int(_) | Scalar::Float(_) => 1,
            Scalar::Text(_) => 2,
        }
    }
}

impl Ord for Scalar {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Scalar::Bool(a), Scalar::Bool(b)) => a.cmp(b),
            (Scalar::Int(a), Scalar::Int(b)) => a.cmp(b),
            (Scalar::Float(a), Scalar::Float(b)) => a.total_cmp(b),
            // An integer sorts before the float of the same value, so that the
            // order stays total where `as f64` rounds.
            (Scalar::Int(a), Scalar::Float(b)) => (*a as f64).total_cmp(b).then(Ordering::Less),
            (Scalar::Float(a), Scalar::Int(b)) => a.total_cmp(&(*b as f64)).then(Ordering::Greater),
            (Scalar::Text(a), Scalar::Text(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Scalar {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Scalar::Bool(b) => (0u8, b).hash(state),
            Scalar::Int(i) => (1u8, i).hash(state),
            Scalar::Float(f) => (2u8, f.to_bits()).hash(state),
            Scalar::Text(t) => (3u8, t).hash(state),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(b) => b.fmt(f),
            Scalar::Int(i) => i.fmt(f),
            Scalar::Float(x) => x.fmt(f),
            Scalar::Text(t) => t.fmt(f),
        }
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Scalar {
        Scalar::Int(value)
    }
}

impl From<&str> for Scalar {
    fn from(value: &str) -> Scalar {
        Scalar::Text(value.into())
    }
}
