//! One line into one record.
//!
//! Values go straight from the text into the record's vectors. Edges wait as the
//! names the line gives until the whole line is read, since `nodes` may follow them.

mod rows;
mod targets;
mod visit;

use std::collections::HashMap;

use serde::de::DeserializeSeed;

use crate::dataset::Limits;
use crate::dataset::fault::Fault;
use crate::dataset::node_count::{NodeCount, are_positions, same_length};
use crate::error::{Fix, shown};
use crate::graph::{Features, GraphRecord, Scalar, Target};

use visit::Object;

/// A line's record, and the keys in it that no record carries.
pub(super) struct Parsed {
    pub(super) record: GraphRecord,
    pub(super) unknown_keys: Vec<String>,
}

/// Parses lines one after the other, reusing what it can.
pub(super) struct Parser<'l> {
    limits: &'l Limits,
    ends: Vec<[i64; 2]>,
}

impl<'l> Parser<'l> {
    pub(super) fn new(limits: &'l Limits) -> Parser<'l> {
        Parser { limits, ends: Vec::new() }
    }

    pub(super) fn parse(&mut self, line: &[u8]) -> Result<Parsed, Fault> {
        let text = std::str::from_utf8(line).map_err(|e| {
            let around = &line[e.valid_up_to()..line.len().min(e.valid_up_to() + 8)];
            Fault::new(
                format!(
                    "byte {} of the line, `{}`, is not UTF-8",
                    e.valid_up_to() + 1,
                    around.escape_ascii()
                ),
                "save the file as UTF-8",
            )
        })?;
        self.ends.clear();
        let mut graph =
            Graph { text, ends: Ends::Ints(std::mem::take(&mut self.ends)), ..Graph::default() };
        let mut json = serde_json::Deserializer::from_str(text);
        let read = Object(&mut graph).deserialize(&mut json).and_then(|()| json.end());
        if let Err(error) = read {
            return Err(graph.fault.take().unwrap_or_else(|| graph.refused(&error)));
        }
        let unknown_keys = std::mem::take(&mut graph.unknown_keys);
        let (record, ends) = graph.into_record(self.limits)?;
        self.ends = ends;
        Ok(Parsed { record, unknown_keys })
    }
}

/// A key of the format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Id,
    Y,
    N,
    Nodes,
    Edges,
    X,
    NodeLabels,
    EdgeLabels,
    EdgeX,
    Directed,
}

/// Every key, its name, and how it is written, for messages.
const KEYS: [(Key, &str, &str); 10] = [
    (Key::Id, "id", "write `id` as a number or a text"),
    (Key::Y, "y", "write `y` as a number or a text, or as a list or an object of them"),
    (Key::N, "n", "write `n` as a whole number"),
    (Key::Nodes, "nodes", "write `nodes` as a list of numbers or texts, each once"),
    (Key::Edges, "edges", "write each edge as [u, v] or [u, v, weight]"),
    (Key::X, "x", "write `x` as one row of numbers a node, all of one length"),
    (Key::NodeLabels, "node_labels", "write one number or text a node"),
    (Key::EdgeLabels, "edge_labels", "write one number or text an edge"),
    (Key::EdgeX, "edge_x", "write `edge_x` as a number or a row of numbers an edge"),
    (Key::Directed, "directed", "write `directed` as true or false"),
];

/// What a line said so far.
#[derive(Default)]
struct Graph<'t> {
    text: &'t str,
    /// See [`long_integers`]; found when first asked for.
    long_integers: Option<Vec<(u64, &'t str)>>,
    id: Option<Scalar>,
    label: Option<Scalar>,
    targets: Vec<Target>,
    count: Option<u64>,
    node_ids: Option<Vec<Scalar>>,
    ends: Ends,
    weights: Option<Vec<f64>>,
    features: Option<Rows>,
    edge_features: Option<Rows>,
    node_labels: Option<Vec<Scalar>>,
    edge_labels: Option<Vec<Scalar>>,
    directed: bool,
    /// The keys met, a bit each, in the order of [`KEYS`].
    met: u16,
    unknown_keys: Vec<String>,
    /// Where reading stands, for messages.
    key: Option<&'static str>,
    index: Option<usize>,
    /// The name of a target.
    part: Option<String>,
    /// What is wrong, where that is more than the JSON reader can say.
    fault: Option<Fault>,
}

/// Attributes, and for how many nodes or edges.
struct Rows {
    count: usize,
    features: Features,
}

/// The ends of the edges, by name; integers alone are by far the usual case.
enum Ends {
    Ints(Vec<[i64; 2]>),
    Any(Vec<[Scalar; 2]>),
}

impl Default for Ends {
    fn default() -> Ends {
        Ends::Ints(Vec::new())
    }
}

impl Ends {
    fn push(&mut self, from: Scalar, to: Scalar) {
        match (&mut *self, from, to) {
            (Ends::Ints(ints), Scalar::Int(from), Scalar::Int(to)) => ints.push([from, to]),
            (Ends::Ints(ints), from, to) => {
                let mut any: Vec<_> = ints.iter().map(|pair| pair.map(Scalar::Int)).collect();
                any.push([from, to]);
                *self = Ends::Any(any);
            }
            (Ends::Any(any), from, to) => any.push([from, to]),
        }
    }
}

impl Graph<'_> {
    /// Where reading stands: `edges[3]`.
    fn here(&self) -> String {
        match (self.key, self.index, &self.part) {
            (Some(key), _, Some(part)) => shown(&format!("{key}.{part}")),
            (Some(key), Some(index), None) => format!("`{key}[{index}]`"),
            (Some(key), None, None) => format!("`{key}`"),
            (None, _, _) => "the line".to_owned(),
        }
    }

    /// Keeps what is wrong here, and gives the error that stops the JSON reader.
    fn stop<E: serde::de::Error>(&mut self, problem: String, fix: impl Into<Fix>) -> E {
        self.fault = Some(Fault::new(problem, fix));
        E::custom("refused")
    }

    /// What the JSON reader refused, with where and what.
    fn refused(&self, error: &serde_json::Error) -> Fault {
        let message = error.to_string();
        let message =
            message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        let column = error.column();
        if error.is_data() {
            let fix = KEYS
                .iter()
                .find(|(_, name, _)| Some(*name) == self.key)
                .map_or("write one JSON object a line, such as {\"edges\":[[0,1]]}", |k| k.2);
            let message: String = message.chars().take(160).collect();
            let what = format!("{}: {}", self.here(), in_words(&message));
            return Fault::new(what, fix).column(column);
        }
        let token = token_at(self.text, column);
        let fix = if ["NaN", "Inf", "-Inf", "nan", "inf", "-inf"]
            .iter()
            .any(|spelling| token.starts_with(spelling))
        {
            "JSON has no such number: leave the value out, or fill it in before writing"
        } else if message.contains("out of range") {
            "write a number that fits in 64-bit floating point"
        } else {
            "write one whole JSON object a line"
        };
        let place = match self.key {
            Some(_) => format!(" in {}", self.here()),
            None => String::new(),
        };
        let what = format!("not JSON, {}{place}: {message}", shown(token));
        Fault::new(what, fix).column(column)
    }

    /// The record, once the whole line is read, and the buffer of ends back.
    fn into_record(self, limits: &Limits) -> Result<(GraphRecord, Vec<[i64; 2]>), Fault> {
        if self.met & bit(Key::Edges) == 0 {
            return Err(Fault::new(
                "the object has no `edges`",
                "add \"edges\": [[u, v], …], empty for a graph without edges",
            ));
        }
        let mut count = NodeCount::within(limits);
        if let Some(ids) = &self.node_ids {
            count.says("nodes", ids.len() as u64)?;
        }
        if let Some(n) = self.count {
            count.says("n", n)?;
        }
        if let Some(rows) = &self.features {
            count.says("x", rows.count as u64)?;
        }
        if let Some(labels) = &self.node_labels {
            count.says("node_labels", labels.len() as u64)?;
        }
        let named = self.node_ids.filter(|ids| !are_positions(ids));
        let (edges, ends) = match (&named, self.ends) {
            (None, Ends::Ints(ints)) => (by_position(&ints, &count)?, ints),
            (None, Ends::Any(any)) => return Err(unnamed(&any)),
            (Some(names), Ends::Ints(ints)) => {
                let any = ints.iter().map(|pair| pair.map(Scalar::Int));
                (by_name(any, names)?, ints)
            }
            (Some(names), Ends::Any(any)) => (by_name(any.into_iter(), names)?, Vec::new()),
        };
        if let Some(labels) = &self.edge_labels {
            same_length("edge_labels", labels.len(), edges.len(), "edges")?;
        }
        if let Some(rows) = &self.edge_features {
            same_length("edge_x", rows.count, edges.len(), "edges")?;
        }
        let record = GraphRecord {
            id: self.id,
            label: self.label,
            targets: self.targets,
            num_nodes: count.settle(&edges),
            node_ids: named,
            edges,
            weights: self.weights,
            edge_labels: self.edge_labels,
            edge_features: self.edge_features.map(|rows| rows.features),
            node_labels: self.node_labels,
            features: self.features.map(|rows| rows.features),
            directed: self.directed,
            folded_repeats: 0,
        };
        Ok((record, ends))
    }
}

fn by_position(ends: &[[i64; 2]], count: &NodeCount) -> Result<Vec<[u32; 2]>, Fault> {
    let mut edges = Vec::with_capacity(ends.len());
    for (edge, &[u, v]) in ends.iter().enumerate() {
        edges.push([count.position("edges", edge, u)?, count.position("edges", edge, v)?]);
    }
    Ok(edges)
}

fn by_name(
    ends: impl Iterator<Item = [Scalar; 2]>,
    names: &[Scalar],
) -> Result<Vec<[u32; 2]>, Fault> {
    let mut positions = HashMap::with_capacity(names.len());
    for (position, name) in (0u32..).zip(names) {
        if let Some(before) = positions.insert(name, position) {
            return Err(Fault::new(
                format!(
                    "`nodes[{position}]` is {}, as `nodes[{before}]` is",
                    shown(&name.to_string())
                ),
                "name each node once",
            ));
        }
    }
    let mut edges = Vec::new();
    for (edge, pair) in ends.enumerate() {
        let position = |name: &Scalar| {
            positions.get(name).copied().ok_or_else(|| {
                Fault::new(
                    format!(
                        "`edges[{edge}]` names node {}, which is not in `nodes`",
                        shown(&spelled(name))
                    ),
                    "add it to `nodes`, spelled the same way (1 and \"1\" are two names)",
                )
            })
        };
        edges.push([position(&pair[0])?, position(&pair[1])?]);
    }
    Ok(edges)
}

/// The fault of names that are no positions, where no `nodes` lists them.
fn unnamed(ends: &[[Scalar; 2]]) -> Fault {
    let odd = ends
        .iter()
        .enumerate()
        .flat_map(|(edge, pair)| pair.iter().map(move |name| (edge, name)))
        .find(|(_, name)| !matches!(name, Scalar::Int(_)));
    let (edge, name) = odd.map_or((0, String::new()), |(edge, name)| (edge, spelled(name)));
    Fault::new(
        format!("`edges[{edge}]` names node {}, but there is no `nodes`", shown(&name)),
        "add \"nodes\": [every name once], or count the nodes from 0",
    )
}

/// A scalar as JSON spells it; a text without its quotes, which messages put around it.
fn spelled(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Text(text) => text.to_string(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

fn bit(key: Key) -> u16 {
    KEYS.iter().position(|known| known.0 == key).map_or(0, |position| 1 << position)
}

/// What serde says of a value of a wrong type, as a sentence.
fn in_words(message: &str) -> String {
    let wrong = message.strip_prefix("invalid type: ");
    match wrong.and_then(|wrong| wrong.split_once(", expected ")) {
        Some((found, wanted)) => format!("it is {found}, not {wanted}"),
        None => message.to_owned(),
    }
}

/// The word of `text` around a column counted from 1.
fn token_at(text: &str, column: usize) -> &str {
    let bytes = text.as_bytes();
    let inside = |&b: &u8| !b" \t,:[]{}\"".contains(&b);
    let at = column.saturating_sub(1).min(bytes.len());
    let start = at - bytes[..at].iter().rev().take_while(|b| inside(b)).count();
    let end = at + bytes[at..].iter().take_while(|b| inside(b)).count();
    // The cuts are beside ASCII bytes or the ends, so they are at characters.
    match text.get(start..end) {
        Some("") | None => text.get(start..).map_or("", |rest| rest.get(..1).unwrap_or(rest)),
        Some(word) => word,
    }
}

/// The integers in `text` that do not fit 64 bits, behind the bits of what they are read as, in
/// their order: rounding would let two names or labels become one.
fn long_integers(text: &str) -> Vec<(u64, &str)> {
    let mut found = Vec::new();
    let mut in_string = false;
    let mut escaped = false;
    let mut start = None;
    for (at, byte) in text.bytes().chain([b' ']).enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        in_string = byte == b'"';
        if byte.is_ascii_digit() || b"+-.eE".contains(&byte) {
            start.get_or_insert(at);
        } else if let Some(word) = start.take().and_then(|start| text.get(start..at)) {
            let whole = word.bytes().all(|b| b.is_ascii_digit() || b == b'-');
            let read = word.parse::<f64>().ok().filter(|read| whole && is_long(*read));
            found.extend(read.map(|read| (read.to_bits(), word)));
        }
    }
    found.sort_unstable();
    found
}

/// Whether an integer of 64 bits could not have been read as `value`.
fn is_long(value: f64) -> bool {
    value.abs() >= i64::MAX as f64
}

impl<'t> Graph<'t> {
    /// The integer that does not fit 64 bits and was read as `value`, if there is one.
    fn long_integer(&mut self, value: f64) -> Option<&'t str> {
        let text = self.text;
        let all = self.long_integers.get_or_insert_with(|| long_integers(text));
        let at = all.binary_search_by_key(&value.to_bits(), |(bits, _)| *bits).ok()?;
        Some(all[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_integer_is_found_outside_texts_only() {
        let long_integer =
            |text: &'static str, value: f64| Graph { text, ..Graph::default() }.long_integer(value);
        let value = 123_456_789_012_345_678_901.0;
        let two = r#"{"y":123456789012345678901,"id":-99999999999999999999}"#;
        assert_eq!(long_integer(two, value), Some("123456789012345678901"));
        assert_eq!(long_integer(two, -1e20), Some("-99999999999999999999"));
        assert_eq!(long_integer(two, 1e20), None);
        for line in [
            r#"{"y":1.23456789012345678901e20}"#,
            r#"{"id":"a\"123456789012345678901","y":1.23456789012345678901e20}"#,
        ] {
            assert_eq!(long_integer(line, value), None, "{line}");
        }
    }

    #[test]
    fn the_word_at_a_column_is_found() {
        assert_eq!(token_at(r#"{"x":[NaN]}"#, 7), "NaN");
        assert_eq!(token_at(r#"{"x":[NaN]}"#, 9), "NaN");
        assert_eq!(token_at("{}", 99), "");
        assert_eq!(token_at("é", 2), "é");
    }
}
