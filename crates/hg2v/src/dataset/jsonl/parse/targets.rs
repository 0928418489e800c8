//! What is to be predicted: `y`, alone, in a list or by name.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::Graph;
use super::visit::{OneScalar, OptionalScalar};
use crate::dataset::targets::ONLY;
use crate::error::shown;
use crate::graph::Target;

/// Reads `y`: a scalar is the label; the entries of a list are targets called by their positions,
/// those of an object by their keys, of which `y` is the label.
pub(super) struct Y<'g, 't>(pub(super) &'g mut Graph<'t>);

impl<'de> DeserializeSeed<'de> for Y<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Y<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text, a boolean or null, or a list or an object of them")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.0.label = Some(OneScalar(&mut *self.0).visit_bool(value)?);
        Ok(())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.0.label = Some(OneScalar(&mut *self.0).visit_i64(value)?);
        Ok(())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.0.label = Some(OneScalar(&mut *self.0).visit_u64(value)?);
        Ok(())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.0.label = Some(OneScalar(&mut *self.0).visit_f64(value)?);
        Ok(())
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.0.label = Some(OneScalar(&mut *self.0).visit_str(value)?);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let graph = self.0;
        loop {
            graph.index = Some(graph.targets.len());
            let Some(value) = list.next_element_seed(OptionalScalar(graph))? else {
                return Ok(());
            };
            graph.targets.push(Target { name: graph.targets.len().to_string(), value });
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let graph = self.0;
        let mut met = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if !met.insert(name.clone()) {
                let problem = format!("`y` has {} twice", shown(&name));
                return Err(graph.stop(problem, "keep one of them"));
            }
            graph.part = Some(name.clone());
            let value = map.next_value_seed(OptionalScalar(graph))?;
            match name == ONLY {
                true => graph.label = value,
                false => graph.targets.push(Target { name, value }),
            }
        }
        Ok(())
    }
}
