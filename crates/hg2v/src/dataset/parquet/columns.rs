//! The columns a collection needs, and their types.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};

use super::{JSON_COLUMNS, JSON_TARGETS};
use crate::dataset::targets::{Names, PREFIX};
use crate::graph::{GraphRecord, Scalar};

/// What the scalars of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing yet: only empty lists.
    Empty,
    Bool,
    Int,
    /// Integers of which some are no floats.
    Long,
    Float,
    Text,
    /// Several kinds, each value spelled as JSON.
    Json,
}

impl Kind {
    pub(crate) fn of(scalar: &Scalar) -> Kind {
        match scalar {
            Scalar::Bool(_) => Kind::Bool,
            Scalar::Int(_) => Kind::Int,
            Scalar::Float(_) => Kind::Float,
            Scalar::Text(_) => Kind::Text,
        }
    }

    /// The kind that holds both.
    pub(crate) fn join(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Empty, kind) | (kind, Kind::Empty) => kind,
            (kind, same) if kind == same => kind,
            _ => Kind::Json,
        }
    }

    /// As [`join`](Kind::join) with that of `scalar`, where numbers count by their value alone:
    /// integers among floats are floats, if they are that without rounding.
    fn join_value(self, scalar: &Scalar) -> Kind {
        /// Every integer up to it is a float.
        const EXACT: u64 = 1 << 53;
        let kind = match scalar {
            Scalar::Int(int) if int.unsigned_abs() > EXACT => Kind::Long,
            other => Kind::of(other),
        };
        match (self, kind) {
            (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int) => Kind::Float,
            (Kind::Int, Kind::Long) | (Kind::Long, Kind::Int) => Kind::Long,
            (before, kind) => before.join(kind),
        }
    }

    pub(crate) fn data_type(self) -> DataType {
        match self {
            Kind::Empty | Kind::Int | Kind::Long => DataType::Int64,
            Kind::Bool => DataType::Boolean,
            Kind::Float => DataType::Float64,
            Kind::Text | Kind::Json => DataType::Utf8,
        }
    }
}

/// The columns beyond `src`, `dst` and `num_nodes` that some records need.
/// Columns only ever grow: [`add`](Columns::add) never forgets one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) id: Option<Kind>,
    pub(super) y: Option<Kind>,
    pub(super) targets: Names,
    /// The kinds of their values.
    pub(super) target_kinds: Vec<Kind>,
    pub(super) nodes: Option<Kind>,
    pub(super) node_label: Option<Kind>,
    pub(super) edge_label: Option<Kind>,
    pub(super) weight: bool,
    pub(super) x: bool,
    pub(super) edge_x: bool,
    pub(super) directed: bool,
}

impl Columns {
    /// Adds what `record` needs.
    pub(super) fn add(&mut self, record: &GraphRecord) {
        if let Some(id) = &record.id {
            self.id = Some(self.id.unwrap_or(Kind::Empty).join(Kind::of(id)));
        }
        if let Some(label) = &record.label {
            self.y = Some(self.y.unwrap_or(Kind::Empty).join_value(label));
        }
        self.targets.add(record);
        self.target_kinds.resize(self.targets.list().len(), Kind::Empty);
        for (kind, value) in self.target_kinds.iter_mut().zip(self.targets.row(record)) {
            *kind = value.map_or(*kind, |value| kind.join_value(value));
        }
        let many = |column: &mut Option<Kind>, scalars: &Option<Vec<Scalar>>| {
            if let Some(scalars) = scalars {
                let kinds = scalars.iter().map(Kind::of);
                *column = Some(kinds.fold(column.unwrap_or(Kind::Empty), Kind::join));
            }
        };
        many(&mut self.nodes, &record.node_ids);
        many(&mut self.node_label, &record.node_labels);
        many(&mut self.edge_label, &record.edge_labels);
        self.weight |= record.weights.is_some();
        self.x |= record.features.is_some();
        self.edge_x |= record.edge_features.is_some();
        self.directed |= record.directed;
    }

    /// The columns whose texts are JSON, separated by commas.
    fn json(&self) -> Option<String> {
        let names: Vec<_> = [
            ("id", self.id),
            ("y", self.y),
            ("nodes", self.nodes),
            ("node_label", self.node_label),
            ("edge_label", self.edge_label),
        ]
        .into_iter()
        .filter_map(|(name, kind)| (kind == Some(Kind::Json)).then_some(name))
        .collect();
        (!names.is_empty()).then(|| names.join(","))
    }

    /// The targets whose texts are JSON, as a list in JSON.
    fn json_targets(&self) -> Option<String> {
        let targets = self.targets.list().iter().zip(&self.target_kinds);
        let names: Vec<&String> =
            targets.filter(|(_, kind)| **kind == Kind::Json).map(|(name, _)| name).collect();
        if names.is_empty() { None } else { serde_json::to_string(&names).ok() }
    }

    /// What a file with these columns notes about them.
    pub(super) fn notes(&self) -> Vec<(String, String)> {
        let columns = self.json().map(|names| (JSON_COLUMNS.to_owned(), names));
        let targets = self.json_targets().map(|names| (JSON_TARGETS.to_owned(), names));
        columns.into_iter().chain(targets).collect()
    }

    /// The schema of a file with these columns.
    pub(super) fn schema(&self) -> Schema {
        let mut fields = Vec::new();
        let scalar =
            |name, kind: Option<Kind>| kind.map(|kind| Field::new(name, kind.data_type(), true));
        let scalars = |name, kind: Option<Kind>| {
            kind.map(|kind| Field::new(name, list_of(kind.data_type()), true))
        };
        fields.extend(scalar("id", self.id));
        fields.extend(scalar("y", self.y));
        fields.extend(
            self.targets
                .list()
                .iter()
                .zip(&self.target_kinds)
                .map(|(name, kind)| Field::new(format!("{PREFIX}{name}"), kind.data_type(), true)),
        );
        fields.push(Field::new("num_nodes", DataType::UInt32, false));
        fields.push(Field::new("src", list_of(DataType::UInt32), false));
        fields.push(Field::new("dst", list_of(DataType::UInt32), false));
        if self.weight {
            fields.push(Field::new("weight", list_of(DataType::Float64), true));
        }
        fields.extend(scalars("nodes", self.nodes));
        fields.extend(scalars("node_label", self.node_label));
        fields.extend(scalars("edge_label", self.edge_label));
        if self.x {
            fields.push(Field::new("x", list_of(list_of(DataType::Float64)), true));
        }
        if self.edge_x {
            fields.push(Field::new("edge_x", list_of(list_of(DataType::Float64)), true));
        }
        if self.directed {
            fields.push(Field::new("directed", DataType::Boolean, false));
        }
        Schema::new(fields)
    }
}

/// The field of a list's entries.
pub(super) fn entry(data_type: DataType) -> Arc<Field> {
    Arc::new(Field::new("element", data_type, false))
}

fn list_of(data_type: DataType) -> DataType {
    DataType::List(entry(data_type))
}
