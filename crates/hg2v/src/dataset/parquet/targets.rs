//! What is to be predicted, in a table: `y`, one value or several in a list or a struct, and columns
//! `y.NAME`.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, StructArray};
use arrow_schema::DataType;

use super::scalars::{ScalarColumn, ScalarLists, TextBudget, entries, range};
use crate::dataset::fault::Fault;
use crate::dataset::targets::{ONLY, PREFIX};
use crate::graph::{Scalar, Target};

/// The columns of a batch that hold targets.
pub(super) struct Targets {
    y: Y,
    /// The name of the target, that of its column, and its values.
    columns: Vec<(String, String, ScalarColumn)>,
}

/// What the column `y` is.
enum Y {
    Nothing,
    One(ScalarColumn),
    List(ScalarLists),
    Struct(StructArray, Vec<(String, ScalarColumn)>),
}

/// The names that a column `y` of this type gives to targets; those in a list have none.
pub(super) fn names_in(data_type: &DataType) -> Vec<&str> {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|field| field.name().as_str()).collect(),
        data_type if entries(data_type).is_some() => Vec::new(),
        _ => vec![ONLY],
    }
}

impl Targets {
    /// The targets of a batch; `json` are the columns, and `json_targets` the targets, whose
    /// texts are JSON.
    pub(super) fn new(
        batch: &RecordBatch,
        json: &[&str],
        json_targets: &[String],
    ) -> Result<Targets, String> {
        let y = match batch.column_by_name(ONLY) {
            None => Y::Nothing,
            Some(column) => match column.data_type() {
                DataType::Struct(fields) => {
                    let all = column.as_struct();
                    let parts = fields.iter().zip(all.columns()).map(|(field, values)| {
                        let name = field.name();
                        Ok((name.clone(), ScalarColumn::new(name, values, &[])?))
                    });
                    Y::Struct(all.clone(), parts.collect::<Result<_, String>>()?)
                }
                list if entries(list).is_some() => Y::List(ScalarLists::new(ONLY, column, &[])?),
                _ => Y::One(ScalarColumn::new(ONLY, column, json)?),
            },
        };
        let schema = batch.schema();
        let columns = schema.fields().iter().zip(batch.columns()).filter_map(|(field, values)| {
            let name = field.name().strip_prefix(PREFIX)?;
            let is_json = json_targets.iter().any(|json| json == name);
            let column = field.name().as_str();
            let json = if is_json { &[column][..] } else { &[] };
            let values = ScalarColumn::new(column, values, json);
            Some(values.map(|values| (name.to_owned(), column.to_owned(), values)))
        });
        Ok(Targets { y, columns: columns.collect::<Result<_, String>>()? })
    }

    /// The label and the targets of a row.
    pub(super) fn row(
        &self,
        row: usize,
        text: &mut TextBudget,
    ) -> Result<(Option<Scalar>, Vec<Target>), Fault> {
        let mut label = None;
        let mut targets = Vec::with_capacity(self.columns.len());
        let mut add = |name: &str, value: Option<Scalar>, text: &mut TextBudget| {
            // Columns of nothing take no room in the file, however many there are.
            text.spend(name, name.as_bytes())?;
            match name == ONLY {
                true => label = value,
                false => targets.push(Target { name: name.to_owned(), value }),
            }
            Ok::<_, Fault>(())
        };
        match &self.y {
            Y::Nothing => {}
            Y::One(values) => add(ONLY, values.of(ONLY, row, text)?, text)?,
            Y::List(values) => {
                for (place, at) in range(&values.lists, row).into_iter().flatten().enumerate() {
                    let name = place.to_string();
                    let value = values.values.target(&format!("y[{place}]"), at, text)?;
                    add(&name, value, text)?;
                }
            }
            Y::Struct(all, parts) => {
                for (name, values) in parts.iter().filter(|_| all.is_valid(row)) {
                    let value = values.target(&format!("{PREFIX}{name}"), row, text)?;
                    add(name, value, text)?;
                }
            }
        }
        for (name, column, values) in &self.columns {
            let value = values.target(column, row, text)?;
            add(name, value, text)?;
        }
        Ok((label, targets))
    }
}
