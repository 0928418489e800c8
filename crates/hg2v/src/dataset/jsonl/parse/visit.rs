//! A line's JSON, value by value, into what it says of a graph.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::rows::{Number, RowsOf};
use super::targets::Y;
use super::{Graph, KEYS, Key, bit, is_long};
use crate::error::shown;
use crate::graph::Scalar;

/// Reads a line's object.
pub(super) struct Object<'g, 't>(pub(super) &'g mut Graph<'t>);

impl<'de> DeserializeSeed<'de> for Object<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `edges`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let graph = self.0;
        loop {
            (graph.key, graph.index, graph.part) = (None, None, None);
            let key = match map.next_key_seed(KeyName)? {
                None => return Ok(()),
                Some(Ok(key)) => key,
                Some(Err(unknown)) => {
                    if graph.unknown_keys.len() < 8 {
                        graph.unknown_keys.push(unknown);
                    }
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let name = KEYS.iter().find(|known| known.0 == key).map_or("", |known| known.1);
            graph.key = Some(name);
            if graph.met & bit(key) != 0 {
                return Err(
                    graph.stop(format!("the object has `{name}` twice"), "keep one of them")
                );
            }
            graph.met |= bit(key);
            match key {
                Key::Id => graph.id = map.next_value_seed(OptionalScalar(graph))?,
                Key::Y => map.next_value_seed(Y(graph))?,
                Key::N => graph.count = Some(map.next_value()?),
                Key::Directed => graph.directed = map.next_value()?,
                Key::Edges => map.next_value_seed(Edges(graph))?,
                Key::X => graph.features = Some(map.next_value_seed(RowsOf::nodes(graph))?),
                Key::EdgeX => {
                    graph.edge_features = Some(map.next_value_seed(RowsOf::edges(graph))?);
                }
                Key::Nodes => graph.node_ids = Some(map.next_value_seed(Scalars(graph))?),
                Key::NodeLabels => graph.node_labels = Some(map.next_value_seed(Scalars(graph))?),
                Key::EdgeLabels => graph.edge_labels = Some(map.next_value_seed(Scalars(graph))?),
            }
        }
    }
}

/// A key of the format, or another as it may stand in a message.
struct KeyName;

impl<'de> DeserializeSeed<'de> for KeyName {
    type Value = Result<Key, String>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KeyName {
    type Value = Result<Key, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        let known = KEYS.iter().find(|known| known.1 == name);
        Ok(known.map(|known| known.0).ok_or_else(|| shown(name)))
    }
}

/// Reads one scalar; never `null`.
pub(super) struct OneScalar<'g, 't>(pub(super) &'g mut Graph<'t>);

impl<'de> DeserializeSeed<'de> for OneScalar<'_, '_> {
    type Value = Scalar;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Scalar, D::Error> {
        json.deserialize_any(self)
    }
}

impl Visitor<'_> for OneScalar<'_, '_> {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text or a boolean")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Int(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Scalar, E> {
        i64::try_from(value).map(Scalar::Int).map_err(|_| too_long(self.0, &value.to_string()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Scalar, E> {
        // Integers beyond 64 bits arrive as floats, already rounded.
        if is_long(value)
            && let Some(integer) = self.0.long_integer(value)
        {
            return Err(too_long(self.0, integer));
        }
        Ok(Scalar::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(value.into()))
    }
}

fn too_long<E: serde::de::Error>(graph: &mut Graph<'_>, integer: &str) -> E {
    let problem = format!(
        "{} holds {}, an integer that does not fit 64 bits with sign",
        graph.here(),
        shown(integer)
    );
    graph.stop(problem, "write it in quotes, as a text")
}

/// Reads a scalar or `null`.
pub(super) struct OptionalScalar<'g, 't>(pub(super) &'g mut Graph<'t>);

impl<'de> DeserializeSeed<'de> for OptionalScalar<'_, '_> {
    type Value = Option<Scalar>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Option<Scalar>, D::Error> {
        json.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for OptionalScalar<'_, '_> {
    type Value = Option<Scalar>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text, a boolean or null")
    }

    fn visit_none<E>(self) -> Result<Option<Scalar>, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Option<Scalar>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, json: D) -> Result<Option<Scalar>, D::Error> {
        OneScalar(self.0).deserialize(json).map(Some)
    }
}

/// Reads a list of scalars.
struct Scalars<'g, 't>(&'g mut Graph<'t>);

impl<'de> DeserializeSeed<'de> for Scalars<'_, '_> {
    type Value = Vec<Scalar>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Vec<Scalar>, D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Scalars<'_, '_> {
    type Value = Vec<Scalar>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Scalar>, A::Error> {
        let graph = self.0;
        let mut scalars = Vec::new();
        loop {
            graph.index = Some(scalars.len());
            match list.next_element_seed(OneScalar(graph))? {
                Some(scalar) => scalars.push(scalar),
                None => return Ok(scalars),
            }
        }
    }
}

/// Reads the edges.
struct Edges<'g, 't>(&'g mut Graph<'t>);

impl<'de> DeserializeSeed<'de> for Edges<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Edges<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of edges")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let graph = self.0;
        let mut edges = 0;
        loop {
            graph.index = Some(edges);
            match list.next_element_seed(Edge(graph))? {
                Some(None) => {
                    if let Some(weights) = &mut graph.weights {
                        weights.push(1.0);
                    }
                }
                // The first weight of the line: the edges before it weigh 1.
                Some(Some(weight)) => {
                    graph.weights.get_or_insert_with(|| vec![1.0; edges]).push(weight)
                }
                None => return Ok(()),
            }
            edges += 1;
        }
    }
}

/// Reads one edge into the graph; its value is the weight.
struct Edge<'g, 't>(&'g mut Graph<'t>);

impl<'de> DeserializeSeed<'de> for Edge<'_, '_> {
    type Value = Option<f64>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Option<f64>, D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Edge<'_, '_> {
    type Value = Option<f64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an edge: [u, v] or [u, v, weight]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut edge: A) -> Result<Option<f64>, A::Error> {
        let graph = self.0;
        let from = edge.next_element_seed(OneScalar(graph))?;
        let to = edge.next_element_seed(OneScalar(graph))?;
        let (Some(from), Some(to)) = (from, to) else {
            let problem = format!("{} has fewer than two ends", graph.here());
            return Err(graph.stop(problem, "write each edge as [u, v] or [u, v, weight]"));
        };
        graph.ends.push(from, to);
        let weight = edge.next_element_seed(Number)?;
        if weight.is_some() && edge.next_element::<IgnoredAny>()?.is_some() {
            let problem = format!("{} has more than three entries", graph.here());
            return Err(graph.stop(
                problem,
                "write each edge as [u, v] or [u, v, weight], and labels in `edge_labels`",
            ));
        }
        Ok(weight)
    }
}
