//! NumPy's own format (`.npy`, version 1.0): a header of text, then the numbers.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{Key, Shape, VectorSink, Vectors, text};
use crate::dataset::Limits;
use crate::error::{Action, Error, Place, Result, shown};
use crate::graph::Scalar;
use crate::output::OutputFile;
use crate::output::overwrite::{Destination, Overwrite};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Bytes before the numbers: room for any shape, and a multiple of 64.
const HEADER: usize = 128;

pub(super) fn create(to: Destination<'_>, shape: Shape) -> Result<Box<dyn VectorSink>> {
    let path = to.path;
    let mut file = OutputFile::create(to)?;
    // The number of rows is known at the end.
    file.write_all(&[0; HEADER]).map_err(|e| Error::io(path, Action::Write, e))?;
    let keys = Shape { names: Vec::new(), ..shape.clone() };
    Ok(Box::new(Npy {
        keys: text::create_keys(to.beside(&keys_path(path)), keys)?,
        path: path.to_path_buf(),
        overwrite: to.overwrite,
        dim: shape.names.len(),
        rows: 0,
        file,
    }))
}

/// Where ids and labels stand.
pub(super) fn keys_path(path: &Path) -> PathBuf {
    path.with_extension("ids.csv")
}

struct Npy {
    path: PathBuf,
    overwrite: Overwrite,
    file: OutputFile,
    keys: Box<dyn VectorSink>,
    dim: usize,
    rows: u64,
}

impl VectorSink for Npy {
    fn write(&mut self, key: Key<'_>, row: &[f32]) -> Result<()> {
        self.rows += 1;
        let bytes: Vec<u8> = row.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.file.write_all(&bytes).map_err(|e| Error::io(&self.path, Action::Write, e))?;
        self.keys.write(key, &[])
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let mut reopened = self.file.reopen()?;
        let header = header(self.rows, self.dim);
        let mut rewrite = || -> std::io::Result<()> {
            reopened.seek(SeekFrom::Start(0))?;
            reopened.write_all(&header)?;
            // All of the numbers are on the disk before the ids take their name.
            reopened.sync_all()
        };
        rewrite().map_err(|e| Error::io(&self.path, Action::Write, e))?;
        self.keys.finish()?;
        let done = self.file.commit();
        if done.is_err() && self.overwrite == Overwrite::Never {
            // They would be taken for the names of whatever stands there.
            let _ = fs::remove_file(keys_path(&self.path));
        }
        done
    }
}

fn header(rows: u64, dim: usize) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend([1, 0]);
    header.extend(((HEADER - 10) as u16).to_le_bytes());
    header.extend(
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {dim}), }}")
            .into_bytes(),
    );
    header.resize(HEADER - 1, b' ');
    header.push(b'\n');
    header
}

/// Reads a matrix of `f4` or `f8`, row after row; the ids and labels beside it
/// where they are.
pub(super) fn read(path: &Path, limits: &Limits) -> Result<Vectors> {
    let refused =
        |problem: String, fix: &'static str| Error::input(path, Place::Whole, problem, fix);
    let bytes = text::bytes_of(path, limits)?;
    let parsed = parse_header(&bytes).map_err(|problem| {
        refused(
            format!("this is no matrix of numbers that NumPy wrote: {problem}"),
            "save it with numpy.save, as a two-dimensional array of float32 or float64",
        )
    })?;
    let Header { width, rows, dim, start } = parsed;
    let expected = rows.checked_mul(dim).and_then(|n| n.checked_mul(width));
    if expected != Some(bytes.len() - start) {
        let problem = format!(
            "its header says {rows} × {dim} numbers of {width} bytes, but {} bytes follow",
            bytes.len() - start
        );
        return Err(refused(problem, "it may be cut short; write it again"));
    }
    // Nothing follows, so nothing would bound the rows.
    if dim == 0 && rows > 0 {
        let problem = format!("its header says {rows} vectors of no numbers");
        return Err(refused(problem, "save vectors of at least one number"));
    }
    let values = match width {
        4 => bytes[start..]
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect(),
        _ => bytes[start..]
            .chunks_exact(8)
            .map(|b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]) as f32)
            .collect(),
    };
    let keys = keys_path(path);
    let (ids, labels, model) = if fs::exists(&keys).unwrap_or(false) {
        let keys_read = text::read_csv(&keys, limits)?;
        if keys_read.ids.len() != rows {
            let problem = format!("{} rows for the {rows} vectors beside it", keys_read.ids.len());
            let fix = "write both again, or remove this file";
            return Err(Error::input(keys, Place::Whole, problem, fix));
        }
        (keys_read.ids, keys_read.labels, keys_read.model)
    } else {
        ((0..rows as i64).map(Scalar::Int).collect(), vec![None; rows], None)
    };
    Ok(Vectors { dim, values, ids, labels, model })
}

struct Header {
    /// Bytes a number.
    width: usize,
    rows: usize,
    dim: usize,
    /// Where the numbers begin.
    start: usize,
}

fn parse_header(bytes: &[u8]) -> std::result::Result<Header, String> {
    let (length, from) = match bytes {
        magic if !magic.starts_with(MAGIC) => {
            return Err("it does not begin with \\x93NUMPY".to_owned());
        }
        [_, _, _, _, _, _, 1, _, a, b, ..] => (usize::from(u16::from_le_bytes([*a, *b])), 10),
        [_, _, _, _, _, _, 2 | 3, _, a, b, c, d, ..] => {
            (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 12)
        }
        _ => return Err("its header is cut short".to_owned()),
    };
    let start = from + length;
    let text = bytes.get(from..start).ok_or("its header is cut short")?;
    let text = std::str::from_utf8(text).map_err(|_| "its header is not text".to_owned())?;
    let after =
        |key: &str| text.split_once(key).map(|(_, rest)| rest.trim_start_matches([':', ' ']));
    let descr = after("'descr'").ok_or("its header says no 'descr'")?;
    let width = match descr {
        _ if descr.starts_with("'<f4'") => 4,
        _ if descr.starts_with("'<f8'") => 8,
        other => {
            let kind: String = other.chars().take_while(|c| *c != ',').collect();
            return Err(format!("its numbers are of type {}", shown(&kind)));
        }
    };
    if after("'fortran_order'").is_none_or(|rest| !rest.starts_with("False")) {
        return Err("it is stored column by column".to_owned());
    }
    let shape = after("'shape'")
        .and_then(|rest| rest.strip_prefix('('))
        .and_then(|rest| rest.split_once(')'))
        .map(|(shape, _)| shape)
        .ok_or("its header says no 'shape'")?;
    let sizes: Vec<usize> = shape
        .split(',')
        .map(str::trim)
        .filter(|size| !size.is_empty())
        .map(|size| size.parse().map_err(|_| format!("its shape is ({})", shown(shape))))
        .collect::<std::result::Result<_, _>>()?;
    let [rows, dim] = sizes[..] else {
        return Err(format!("it has {} dimensions, not 2", sizes.len()));
    };
    Ok(Header { width, rows, dim, start })
}
