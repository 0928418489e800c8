//! Vectors as CSV and TSV: `id`, `y`, and a column for each number.

use std::io;
use std::path::{Path, PathBuf};

use super::{Key, Shape, VectorSink, Vectors};
use crate::dataset::Limits;
use crate::dataset::csv::row::RowWriter;
use crate::dataset::csv::table::Table;
use crate::dataset::text::{Budget, id, label, utf8_file};
use crate::error::{Action, Error, Limit, Place, Result, shown};
use crate::graph::Scalar;
use crate::output::OutputFile;
use crate::output::overwrite::Destination;

/// The columns that are no numbers of a vector.
const KEYS: [&str; 5] = ["id", "y", "node", "level", "model"];

pub(super) fn create_csv(to: Destination<'_>, shape: Shape) -> Result<Box<dyn VectorSink>> {
    begin(to, Shape { model: None, ..shape }, RowWriter::commas)
}

pub(super) fn create_tsv(to: Destination<'_>, shape: Shape) -> Result<Box<dyn VectorSink>> {
    begin(to, Shape { model: None, ..shape }, RowWriter::tabs)
}

/// The keys of vectors that stand elsewhere, with the model that made them on every line, so that
/// parts put together still say it.
pub(super) fn create_keys(to: Destination<'_>, shape: Shape) -> Result<Box<dyn VectorSink>> {
    begin(to, shape, RowWriter::commas)
}

fn begin(
    to: Destination<'_>,
    shape: Shape,
    rows: fn(OutputFile) -> RowWriter<OutputFile>,
) -> Result<Box<dyn VectorSink>> {
    let path = to.path;
    let mut rows = rows(OutputFile::create(to)?);
    let header =
        ["id", "y"].into_iter().chain(shape.part).chain(shape.model.as_ref().map(|_| "model"));
    rows.row(header.chain(shape.names.iter().map(String::as_str)))
        .map_err(|e| Error::io(path, Action::Write, e))?;
    Ok(Box::new(Text { path: path.to_path_buf(), rows, model: shape.model }))
}

struct Text {
    path: PathBuf,
    rows: RowWriter<OutputFile>,
    model: Option<String>,
}

impl Text {
    fn append(&mut self, key: Key<'_>, row: &[f32]) -> io::Result<()> {
        self.rows.scalar(Some(key.id))?;
        self.rows.scalar(key.label)?;
        if let Some(part) = key.part {
            self.rows.number(part)?;
        }
        if let Some(model) = &self.model {
            self.rows.text(model)?;
        }
        for value in row {
            self.rows.number(value)?;
        }
        self.rows.end()
    }
}

impl VectorSink for Text {
    fn write(&mut self, key: Key<'_>, row: &[f32]) -> Result<()> {
        self.append(key, row).map_err(|e| Error::io(&self.path, Action::Write, e))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.rows.finish().map_err(|e| Error::io(&self.path, Action::Write, e))?.commit()
    }
}

/// Reads a bounded file whole.
pub(super) fn bytes_of(path: &Path, limits: &Limits) -> Result<Vec<u8>> {
    Budget::new(Limit::UnpackedBytes, limits.max_unpacked_bytes).read_file(path)
}

pub(super) fn read_csv(path: &Path, limits: &Limits) -> Result<Vectors> {
    let bytes = bytes_of(path, limits)?;
    let mut table = Table::new(path, &bytes, limits.max_record_bytes)?;
    let columns = Columns::of(path, &table.header)?;
    let mut vectors = Vectors { dim: columns.numbers.len(), ..Vectors::default() };
    while let Some(row) = table.next()? {
        columns.add(&mut vectors, path, row.line, |column| row.get(Some(column)))?;
    }
    Ok(vectors)
}

pub(super) fn read_tsv(path: &Path, limits: &Limits) -> Result<Vectors> {
    let bytes = bytes_of(path, limits)?;
    let mut lines = utf8_file(path, &bytes)?.lines().enumerate();
    let Some((_, header)) = lines.next() else {
        let fix = "begin it with a header that names its columns";
        return Err(Error::input(path, Place::Whole, "the file is empty (``)", fix));
    };
    let header: Vec<String> = header.split('\t').map(|name| name.trim().to_lowercase()).collect();
    let columns = Columns::of(path, &header)?;
    let mut vectors = Vectors { dim: columns.numbers.len(), ..Vectors::default() };
    for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let cells: Vec<&str> = line.split('\t').collect();
        if cells.len() != header.len() {
            return Err(Error::input(
                path,
                Place::Line(number as u64 + 1),
                format!("the row has {} cells where the header has {}", cells.len(), header.len()),
                "give every row as many",
            ));
        }
        columns.add(&mut vectors, path, number as u64 + 1, |column| cells[column])?;
    }
    Ok(vectors)
}

/// Which column is what.
struct Columns {
    id: Option<usize>,
    y: Option<usize>,
    model: Option<usize>,
    numbers: Vec<usize>,
}

impl Columns {
    fn of(path: &Path, header: &[String]) -> Result<Columns> {
        let fix = "name the columns in the first line, such as id,y,e0,e1; a position is no id";
        let refused = |problem| Err(Error::input(path, Place::Line(1), problem, fix));
        if let Some(at) = header.iter().position(String::is_empty) {
            return refused(format!("column {} has no name", at + 1));
        }
        let position = |name: &str| header.iter().position(|column| column == name);
        let number = |(_, name): &(usize, &String)| !KEYS.contains(&name.as_str());
        let numbers: Vec<usize> =
            header.iter().enumerate().filter(number).map(|(at, _)| at).collect();
        let spelled = header.iter().find(|name| name.parse::<f64>().is_ok());
        // `0,1` may count the columns and may be the first vector: nobody can tell.
        if let Some(spelled) = spelled.filter(|_| numbers.len() == header.len()) {
            let found = shown(spelled);
            return refused(format!("{found} is no name of a column: there is no header"));
        }
        let (id, y, model) = (position("id"), position("y"), position("model"));
        Ok(Columns { id, y, model, numbers })
    }

    fn add<'a>(
        &self,
        vectors: &mut Vectors,
        path: &Path,
        line: u64,
        cell: impl Fn(usize) -> &'a str,
    ) -> Result<()> {
        for &column in &self.numbers {
            let text = cell(column).trim();
            let value: f32 = text.parse().map_err(|_| {
                let problem = format!("column {}: {} is not a number", column + 1, shown(text));
                let fix = "every column but id and y must hold numbers";
                Error::input(path, Place::Line(line), problem, fix)
            })?;
            vectors.values.push(value);
        }
        let position = Scalar::Int(vectors.ids.len() as i64);
        let filled = |column: Option<usize>| column.map(&cell).filter(|text| !text.is_empty());
        let model = filled(self.model);
        if !vectors.ids.is_empty() && vectors.model.as_deref() != model {
            let name = |model: Option<&str>| model.map_or("no model".to_owned(), shown);
            let before = name(vectors.model.as_deref());
            let problem = format!("{} made this vector, {before} those before it", name(model));
            let fix = "keep vectors of different models apart";
            return Err(Error::input(path, Place::Line(line), problem, fix));
        }
        vectors.model = model.map(str::to_owned);
        vectors.ids.push(filled(self.id).map_or(position, id));
        vectors.labels.push(filled(self.y).map(label));
        Ok(())
    }
}
