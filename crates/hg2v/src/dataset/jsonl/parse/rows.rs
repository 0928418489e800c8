//! Rows of numbers, one a node or an edge.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};

use super::{Graph, Rows};
use crate::graph::Features;

/// Reads a number as floating point.
pub(super) struct Number;

impl<'de> DeserializeSeed<'de> for Number {
    type Value = f64;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<f64, D::Error> {
        json.deserialize_f64(self)
    }
}

impl Visitor<'_> for Number {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<f64, E> {
        Ok(value)
    }

    fn visit_i64<E>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_u64<E>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }
}

/// Reads the rows of a key.
pub(super) struct RowsOf<'g, 't> {
    graph: &'g mut Graph<'t>,
    /// What each row is of.
    of: &'static str,
    /// Whether a number alone is a row.
    plain: bool,
}

impl<'g, 't> RowsOf<'g, 't> {
    /// A list of numbers a node.
    pub(super) fn nodes(graph: &'g mut Graph<'t>) -> RowsOf<'g, 't> {
        RowsOf { graph, of: "node", plain: false }
    }

    /// A list of numbers an edge, or a number.
    pub(super) fn edges(graph: &'g mut Graph<'t>) -> RowsOf<'g, 't> {
        RowsOf { graph, of: "edge", plain: true }
    }
}

impl<'de> DeserializeSeed<'de> for RowsOf<'_, '_> {
    type Value = Rows;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Rows, D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for RowsOf<'_, '_> {
    type Value = Rows;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.plain {
            true => "a list of numbers, or of rows that are lists of numbers",
            false => "a list of rows, each a list of numbers",
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Rows, A::Error> {
        let RowsOf { graph, of, plain } = self;
        let mut rows = Rows { count: 0, features: Features::default() };
        let mut first = None;
        loop {
            graph.index = Some(rows.count);
            let seed = RowOf { values: &mut rows.features.values, plain };
            let Some(row) = list.next_element_seed(seed)? else {
                return Ok(rows);
            };
            let before = *first.get_or_insert(row);
            rows.features.dim = before.length();
            if row != before {
                let (key, at) = (graph.key.unwrap_or_default(), rows.count);
                return Err(graph.stop(
                    format!("`{key}[{at}]` {}, but `{key}[0]` {}", row.has(), before.has()),
                    format!("give every {of} the same attributes"),
                ));
            }
            rows.count += 1;
        }
    }
}

/// What a row turned out to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    /// A number without a list around it.
    Plain,
    /// A list of so many.
    Of(usize),
}

impl Row {
    fn length(self) -> usize {
        match self {
            Row::Plain => 1,
            Row::Of(length) => length,
        }
    }

    fn has(self) -> String {
        match self {
            Row::Plain => "is a number alone".to_owned(),
            Row::Of(length) => format!("has {length} numbers"),
        }
    }
}

/// Appends one row.
struct RowOf<'v> {
    values: &'v mut Vec<f64>,
    plain: bool,
}

impl<'de> DeserializeSeed<'de> for RowOf<'_> {
    type Value = Row;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Row, D::Error> {
        match self.plain {
            true => json.deserialize_any(self),
            false => json.deserialize_seq(self),
        }
    }
}

impl RowOf<'_> {
    fn number<E: serde::de::Error>(
        self,
        value: f64,
        shown: serde::de::Unexpected<'_>,
    ) -> Result<Row, E> {
        if !self.plain {
            return Err(E::invalid_type(shown, &self));
        }
        self.values.push(value);
        Ok(Row::Plain)
    }
}

impl<'de> Visitor<'de> for RowOf<'_> {
    type Value = Row;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.plain { "a number or a list of numbers" } else { "a list of numbers" })
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Row, E> {
        self.number(value, serde::de::Unexpected::Float(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Row, E> {
        self.number(value as f64, serde::de::Unexpected::Signed(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Row, E> {
        self.number(value as f64, serde::de::Unexpected::Unsigned(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut row: A) -> Result<Row, A::Error> {
        let before = self.values.len();
        while let Some(number) = row.next_element_seed(Number)? {
            self.values.push(number);
        }
        Ok(Row::Of(self.values.len() - before))
    }
}
