//! Which files are of molecules.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::table::Layout;
use crate::dataset::gzip::{self, Gunzip};
use crate::dataset::{Format, folder, read_up_to};
use crate::error::{Action, Error, Result};

/// How the names of files of molecules end.
pub(in crate::dataset) const ENDINGS: [&str; 8] =
    [".smi", ".smiles", ".smi.gz", ".smiles.gz", ".sdf", ".sdf.gz", ".sd", ".mol"];

const SDF: [&str; 6] = [".sdf", ".sd", ".mol", ".sdf.gz", ".sd.gz", ".mol.gz"];
const SMILES: [&str; 4] = [".smi", ".smiles", ".smi.gz", ".smiles.gz"];
const TABLES: [&str; 6] = [".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"];

/// Bytes within which a header ends.
const HEADER: usize = 1 << 16;

/// The format of a file of molecules: by its name, and of tables by their headers.
pub(in crate::dataset) fn detect(path: &Path) -> Result<Option<Format>> {
    if folder::ends_in(path, &SDF) {
        return Ok(Some(Format::Sdf));
    }
    if folder::ends_in(path, &SMILES) {
        return Ok(Some(Format::Smiles));
    }
    if !folder::ends_in(path, &TABLES) {
        return Ok(None);
    }
    let failed = |e| Error::io(path, Action::Read, e);
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let mut head = vec![0; gzip::MAGIC.len()];
    let length = read_up_to(&mut reader, &mut head).map_err(failed)?;
    let packed = head[..length] == gzip::MAGIC;
    let start = std::io::Cursor::new(head).take(length as u64).chain(reader);
    let mut head = vec![0; HEADER];
    let length = match packed {
        // What cannot be unpacked is the reader's to tell.
        true => read_up_to(&mut Gunzip::new(BufReader::new(start)), &mut head).unwrap_or(0),
        false => read_up_to(&mut { start }, &mut head).map_err(failed)?,
    };
    let head = String::from_utf8_lossy(&head[..length]);
    let head = head.trim_start_matches('\u{feff}');
    let first = head.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    Ok(Layout::of_header(first).map(|_| Format::Smiles))
}
