//! Records into lines.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serializer as _;

use crate::dataset::Sink;
use crate::dataset::targets::ONLY;
use crate::error::{Action, Error, Result};
use crate::graph::GraphRecord;
use crate::output::OutputFile;
use crate::output::overwrite::Destination;

/// Begins writing a JSONL file, gzip-compressed or not; `-` is standard output.
///
/// # Errors
/// When the place cannot be written.
pub fn write<'a>(to: impl Into<Destination<'a>>, compressed: bool) -> Result<Box<dyn Sink>> {
    let out = OutputFile::create(to)?;
    Ok(Box::new(Lines {
        out: if compressed {
            Out::Gzip(Box::new(GzEncoder::new(out, Compression::default())))
        } else {
            Out::Plain(out)
        },
        line: Vec::new(),
    }))
}

struct Lines {
    out: Out,
    line: Vec<u8>,
}

enum Out {
    Plain(OutputFile),
    Gzip(Box<GzEncoder<OutputFile>>),
}

impl Out {
    fn path(&self) -> &Path {
        match self {
            Out::Plain(out) => out.path(),
            Out::Gzip(out) => out.get_ref().path(),
        }
    }
}

impl Sink for Lines {
    fn write(&mut self, record: &GraphRecord) -> Result<()> {
        self.line.clear();
        let written = spell(record, &mut self.line).and_then(|()| match &mut self.out {
            Out::Plain(out) => out.write_all(&self.line),
            Out::Gzip(out) => out.write_all(&self.line),
        });
        written.map_err(|e| Error::io(self.out.path(), Action::Write, e))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let path = self.out.path().to_path_buf();
        match self.out {
            Out::Plain(out) => out.commit(),
            Out::Gzip(out) => out.finish().map_err(|e| Error::io(path, Action::Write, e))?.commit(),
        }
    }
}

/// The line of one record, with its end.
///
/// # Errors
/// None that a record can cause.
pub fn line_of(record: &GraphRecord) -> std::io::Result<Vec<u8>> {
    let mut line = Vec::new();
    spell(record, &mut line)?;
    Ok(line)
}

/// Writes the record as one line that reads back as the same record.
fn spell(record: &GraphRecord, line: &mut Vec<u8>) -> std::io::Result<()> {
    line.push(b'{');
    if let Some(id) = &record.id {
        line.extend_from_slice(b"\"id\":");
        serde_json::to_writer(&mut *line, id)?;
        line.push(b',');
    }
    if record.label.is_some() || !record.targets.is_empty() {
        line.extend_from_slice(b"\"y\":");
        to_predict(record, line)?;
        line.push(b',');
    }
    if record.directed {
        line.extend_from_slice(b"\"directed\":true,");
    }
    if let Some(ids) = &record.node_ids {
        line.extend_from_slice(b"\"nodes\":");
        serde_json::to_writer(&mut *line, ids)?;
        line.push(b',');
    } else if !count_is_implied(record) {
        line.extend_from_slice(b"\"nodes\":");
        list(line, 0..record.num_nodes, |line, node| serde_json::to_writer(line, &node))?;
        line.push(b',');
    }
    line.extend_from_slice(b"\"edges\":");
    let name = |line: &mut Vec<u8>, node: u32| match &record.node_ids {
        Some(ids) => serde_json::to_writer(line, &ids[node as usize]),
        None => serde_json::to_writer(line, &node),
    };
    list(line, record.edges.iter().enumerate(), |line, (edge, &[u, v])| {
        line.push(b'[');
        name(line, u)?;
        line.push(b',');
        name(line, v)?;
        if let Some(weight) = record.weights.as_ref().and_then(|weights| weights.get(edge)) {
            line.push(b',');
            number(line, *weight)?;
        }
        line.push(b']');
        Ok(())
    })?;
    if let Some(features) = &record.features {
        line.extend_from_slice(b",\"x\":");
        list(line, 0..record.num_nodes as usize, |line, node| {
            list(line, features.row(node), |line, value| number(line, *value))
        })?;
    }
    if let Some(labels) = &record.node_labels {
        line.extend_from_slice(b",\"node_labels\":");
        serde_json::to_writer(&mut *line, labels)?;
    }
    if let Some(labels) = &record.edge_labels {
        line.extend_from_slice(b",\"edge_labels\":");
        serde_json::to_writer(&mut *line, labels)?;
    }
    if let Some(features) = &record.edge_features {
        line.extend_from_slice(b",\"edge_x\":");
        list(line, 0..record.edges.len(), |line, edge| {
            list(line, features.row(edge), |line, value| number(line, *value))
        })?;
    }
    line.extend_from_slice(b"}\n");
    Ok(())
}

/// The label alone; targets called by their positions as a list; others by name, with the label
/// among them where there is one.
fn to_predict(record: &GraphRecord, line: &mut Vec<u8>) -> serde_json::Result<()> {
    let mut targets = record.targets.iter().enumerate();
    match &record.label {
        Some(label) if record.targets.is_empty() => serde_json::to_writer(line, label),
        None if targets.all(|(at, target)| target.name == at.to_string()) => {
            list(line, &record.targets, |line, target| serde_json::to_writer(line, &target.value))
        }
        label => {
            let label = label.as_ref().map(|label| (ONLY, Some(label)));
            let targets =
                record.targets.iter().map(|target| (&*target.name, target.value.as_ref()));
            let mut object = serde_json::Serializer::new(line);
            object.collect_map(label.into_iter().chain(targets))
        }
    }
}

/// Whether a reader counts the nodes right without being told.
fn count_is_implied(record: &GraphRecord) -> bool {
    let highest = record.edges.iter().flatten().max();
    record.features.is_some()
        || record.node_labels.is_some()
        || highest.map_or(0, |highest| highest + 1) == record.num_nodes
}

fn list<T>(
    line: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    mut item: impl FnMut(&mut Vec<u8>, T) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    line.push(b'[');
    for (position, one) in items.into_iter().enumerate() {
        if position > 0 {
            line.push(b',');
        }
        item(line, one)?;
    }
    line.push(b']');
    Ok(())
}

/// The shortest text that reads back as `value`: `2` rather than `2.0`.
fn number(line: &mut Vec<u8>, value: f64) -> serde_json::Result<()> {
    /// Every whole number below it is a `f64`, and none is spelled with an exponent.
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    let negative_zero = value == 0.0 && value.is_sign_negative();
    if value.fract() == 0.0 && value.abs() < WHOLE && !negative_zero {
        serde_json::to_writer(line, &(value as i64))
    } else {
        serde_json::to_writer(line, &value)
    }
}
