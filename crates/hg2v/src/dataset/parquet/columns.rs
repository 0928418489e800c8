//! The columns a collection needs, and their types.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};

use crate::graph::{GraphRecord, Scalar};

/// What the scalars of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing yet: only empty lists.
    Empty,
    Bool,
    Int,
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

    pub(crate) fn data_type(self) -> DataType {
        match self {
            Kind::Empty | Kind::Int => DataType::Int64,
            Kind::Bool => DataType::Boolean,
            Kind::Float => DataType::Float64,
            Kind::Text | Kind::Json => DataType::Utf8,
        }
    }
}

/// The columns beyond `src`, `dst` and `num_nodes` that some records need.
/// Columns only ever grow: [`add`](Columns::add) never forgets one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) id: Option<Kind>,
    pub(super) y: Option<Kind>,
    pub(super) nodes: Option<Kind>,
    pub(super) node_label: Option<Kind>,
    pub(super) edge_label: Option<Kind>,
    pub(super) weight: bool,
    pub(super) x: bool,
    pub(super) directed: bool,
}

impl Columns {
    /// Adds what `record` needs.
    pub(super) fn add(&mut self, record: &GraphRecord) {
        let one = |column: &mut Option<Kind>, scalar: &Option<Scalar>| {
            if let Some(scalar) = scalar {
                *column = Some(column.unwrap_or(Kind::Empty).join(Kind::of(scalar)));
            }
        };
        one(&mut self.id, &record.id);
        one(&mut self.y, &record.label);
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
        self.directed |= record.directed;
    }

    /// The columns whose texts are JSON, separated by commas.
    pub(super) fn json(&self) -> Option<String> {
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
