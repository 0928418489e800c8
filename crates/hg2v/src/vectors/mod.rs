//! Vectors in files: NumPy, Parquet, CSV and TSV, written row by row and read back.
//!
//! | name ends in | is |
//! |---|---|
//! | `.npy` | a NumPy `f32` matrix; ids and labels stand in `NAME.ids.csv` beside it |
//! | `.parquet` | columns `id`, `y`, `embedding: fixed_size_list<f32>` |
//! | `.csv`, `.tsv` | columns `id`, `y`, and one a number |
//!
//! A row's id is its graph's, or its position where it has none. Vectors of
//! nodes or levels have one more column that says which. Parquet files and the ids beside NumPy's
//! also say which model made the vectors, by its [digest](crate::Model::digest). CSV and TSV, which
//! are for other programs, do not; a column `model` that somebody adds is read.

mod npy;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod text;

use std::path::Path;

use crate::dataset::Limits;
use crate::error::{Advice, Error, Fix, Job, Place, Problem, Result};
use crate::graph::Scalar;
use crate::output::overwrite::Destination;

/// What a row belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Key<'a> {
    /// The graph's id.
    pub id: &'a Scalar,
    /// The graph's label.
    pub label: Option<&'a Scalar>,
    /// Which node or level of it, where rows are not of whole graphs.
    pub part: Option<u64>,
}

/// What the rows of a file are like.
#[derive(Debug, Clone)]
pub struct Shape {
    /// A name for every number of a row.
    pub names: Vec<String>,
    /// What [`Key::part`] counts: `node`, `level`.
    pub part: Option<&'static str>,
    /// The [digest](crate::Model::digest) of the model that made them.
    pub model: Option<String>,
}

/// A file of vectors that is being written. It appears whole or not at all.
pub trait VectorSink {
    /// Adds a row.
    ///
    /// # Errors
    /// When the disk refuses.
    fn write(&mut self, key: Key<'_>, row: &[f32]) -> Result<()>;

    /// Gives the file its name.
    ///
    /// # Errors
    /// When the disk refuses.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Begins a file of vectors; its name tells the format, and `-` is CSV on standard output.
///
/// # Errors
/// A name that tells no format; a place that cannot be written.
///
/// # Examples
/// ```
/// use hg2v::dataset::Limits;
/// use hg2v::graph::Scalar;
/// use hg2v::vectors::{self, Key, Shape};
/// # let folder = std::env::temp_dir();
/// let file = folder.join(format!("hg2v-doc-{}.npy", std::process::id()));
/// let shape = Shape { names: vec!["x".into(), "y".into()], part: None, model: None };
/// let mut sink = vectors::create(file.as_path(), shape)?;
/// sink.write(Key { id: &Scalar::Int(7), label: None, part: None }, &[0.5, -1.0])?;
/// sink.finish()?;
/// let read = vectors::read(&file, &Limits::default())?;
/// assert_eq!((read.row(0), &read.ids[..]), (&[0.5, -1.0][..], &[Scalar::Int(7)][..]));
/// # for end in ["npy", "ids.csv"] { let _ = std::fs::remove_file(file.with_extension(end)); }
/// # Ok::<(), hg2v::Error>(())
/// ```
pub fn create<'a>(to: impl Into<Destination<'a>>, shape: Shape) -> Result<Box<dyn VectorSink>> {
    let to = to.into();
    match format_of(to.path)? {
        Format::Npy => npy::create(to, shape),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::create(to, shape),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(crate::dataset::without_parquet(to.path)),
        Format::Csv => text::create_csv(to, shape),
        Format::Tsv => text::create_tsv(to, shape),
    }
}

/// Vectors read whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vectors {
    /// Numbers a row.
    pub dim: usize,
    /// The rows, one after the other; all numbers are finite.
    pub values: Vec<f32>,
    /// An id for each row; its position where the file has none.
    pub ids: Vec<Scalar>,
    /// A label for each row, where it has one.
    pub labels: Vec<Option<Scalar>>,
    /// The [digest](crate::Model::digest) of the model that made them, where the file says so.
    pub model: Option<String>,
}

impl Vectors {
    /// How many rows.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.dim..(i + 1) * self.dim]
    }

    /// Refuses vectors, read from `file`, that the model of this digest, whose vectors have `dim`
    /// numbers, did not make: distances between them and its own mean nothing.
    ///
    /// # Errors
    /// Vectors of another length, or that say they are another model's.
    pub fn check_made_by(&self, digest: &str, dim: usize, file: &Path) -> Result<()> {
        let same = self.model.as_ref().is_none_or(|model| model == digest);
        if same && self.dim == dim {
            return Ok(());
        }
        let digest = [self.model.clone(), Some(digest.to_owned())];
        Err(Problem::OtherModel { dim: [self.dim, dim], digest }.at(file, Place::Whole))
    }
}

/// Reads a file of vectors, ours or another's.
///
/// # Errors
/// A name that tells no format; a file that is missing, damaged, ragged, too
/// large for `limits`, or holds what is not a finite number.
///
/// # Complexity
/// Linear in the file; memory for all vectors.
pub fn read(path: &Path, limits: &Limits) -> Result<Vectors> {
    let vectors = match format_of(path)? {
        Format::Npy => npy::read(path, limits)?,
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(path, limits)?,
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => return Err(crate::dataset::without_parquet(path)),
        Format::Csv => text::read_csv(path, limits)?,
        Format::Tsv => text::read_tsv(path, limits)?,
    };
    if let Some(at) = vectors.values.iter().position(|value| !value.is_finite()) {
        return Err(Error::input(
            path,
            Place::Record((at / vectors.dim.max(1)) as u64 + 1),
            format!("column {} of the vector is {}", at % vectors.dim.max(1), vectors.values[at]),
            "every number must be finite",
        ));
    }
    Ok(vectors)
}

/// Removes what is left of a file of vectors whose writer was killed while it took its names: the
/// ids of a NumPy matrix that is not there.
pub(crate) fn remove_half(path: &Path) {
    if matches!(format_of(path), Ok(Format::Npy)) && !path.exists() {
        // One that stays is refused as any output that exists.
        let _ = std::fs::remove_file(npy::keys_path(path));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    Parquet,
    Csv,
    Tsv,
}

fn format_of(path: &Path) -> Result<Format> {
    if path == Path::new("-") {
        return Ok(Format::Csv);
    }
    if path.is_dir() {
        let fix = Fix::from("name a file").or(Advice::Run(Job::Embed));
        return Err(Error::input(path, Place::Whole, "vectors are read from a file", fix));
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npy") => Ok(Format::Npy),
        Some("parquet") => Ok(Format::Parquet),
        Some("csv") => Ok(Format::Csv),
        Some("tsv") => Ok(Format::Tsv),
        _ => {
            let what = "the name does not tell a format of vectors".to_owned();
            let fix = "let it end in .npy, .parquet, .csv or .tsv".into();
            Err(Problem::Format { what, fix }.at(path, Place::Whole))
        }
    }
}
