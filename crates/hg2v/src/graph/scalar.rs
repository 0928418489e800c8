//! Identifiers and labels: integers, text, and whatever else JSON calls a scalar.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

/// An identifier or label as it stood in the file.
///
/// Scalars are totally ordered (booleans, then numbers by value, then text), so
/// they can key ordered maps and vocabularies come out in one order everywhere.
/// `6` and `6.0` are one scalar, however they are spelled: tables turn whole numbers
/// into floats as soon as one of them is missing.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A finite number that the file spells with a point or an exponent, or that is no `i64`.
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

    /// The integer that this is, if it is a number that an `i64` holds.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Scalar::Int(int) => Some(*int),
            Scalar::Float(float) => {
                let whole = float.fract() == 0.0 && (-TWO_TO_63..TWO_TO_63).contains(float);
                whole.then_some(*float as i64)
            }
            Scalar::Bool(_) | Scalar::Text(_) => None,
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

/// The first float beyond every `i64`.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

/// How an integer compares with a float, without rounding either.
fn cmp_int_float(int: i64, float: f64) -> Ordering {
    // Every `i64` lies between these two; between them, a floor is one.
    if float >= TWO_TO_63 {
        return Ordering::Less;
    }
    if float < -TWO_TO_63 {
        return Ordering::Greater;
    }
    let below = if float.fract() == 0.0 { Ordering::Equal } else { Ordering::Less };
    int.cmp(&(float.floor() as i64)).then(below)
}

fn cmp_floats(a: f64, b: f64) -> Ordering {
    // Zeros of either sign are one number.
    if a == b { Ordering::Equal } else { a.total_cmp(&b) }
}

impl Ord for Scalar {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Scalar::Bool(a), Scalar::Bool(b)) => a.cmp(b),
            (Scalar::Int(a), Scalar::Int(b)) => a.cmp(b),
            (Scalar::Float(a), Scalar::Float(b)) => cmp_floats(*a, *b),
            (Scalar::Int(a), Scalar::Float(b)) => cmp_int_float(*a, *b),
            (Scalar::Float(a), Scalar::Int(b)) => cmp_int_float(*b, *a).reverse(),
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
            // What is equal must hash alike.
            Scalar::Float(f) => match self.integer() {
                Some(i) => (1u8, i).hash(state),
                None => (2u8, f.to_bits()).hash(state),
            },
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

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hash, Hasher};

    use proptest::prelude::*;

    use super::*;

    fn hash(scalar: &Scalar) -> u64 {
        let mut hasher = DefaultHasher::new();
        scalar.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn numbers_are_compared_by_value() {
        for (int, float) in [(6, 6.0), (0, -0.0), (-3, -3.0), (i64::MIN, -TWO_TO_63)] {
            let (int, float) = (Scalar::Int(int), Scalar::Float(float));
            assert_eq!(int, float);
            assert_eq!(hash(&int), hash(&float));
        }
        assert_ne!(Scalar::Int(1), Scalar::Bool(true));
        assert_ne!(Scalar::Int(1), Scalar::from("1"));
        // As a float, the largest integer would be rounded up to 2⁶³.
        let ascending = [
            Scalar::Float(-1e300),
            Scalar::Int(i64::MIN),
            Scalar::Float(-0.5),
            Scalar::Int(0),
            Scalar::Float(0.5),
            Scalar::Int(1),
            Scalar::Int((1 << 53) + 1),
            Scalar::Int(i64::MAX),
            Scalar::Float(TWO_TO_63),
        ];
        assert!(ascending.is_sorted_by(|a, b| a < b));
        assert!(ascending.iter().rev().is_sorted_by(|a, b| a > b));
    }

    fn number() -> impl Strategy<Value = Scalar> {
        prop_oneof![
            (-3i64..3).prop_map(Scalar::Int),
            any::<i64>().prop_map(Scalar::Int),
            any::<i64>().prop_map(|int| Scalar::Float(int as f64)),
            (-6i64..6).prop_map(|half| Scalar::Float(half as f64 / 2.0)),
            (-1e20..1e20f64).prop_map(Scalar::Float),
        ]
    }

    proptest! {
        #[test]
        fn their_order_is_total_and_hashes_agree(a in number(), b in number(), c in number()) {
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            prop_assert!(a.cmp(&b) != Ordering::Equal || hash(&a) == hash(&b));
            if a <= b && b <= c {
                prop_assert!(a <= c);
                prop_assert!(a < c || (a == b && b == c));
            }
        }
    }
}
