//! Vectors that are done, kept beside the output until all of them are, so that a run that was
//! stopped goes on where it was.
//!
//! `OUT.partial` is a folder with a file for each chunk of graphs. A file's name is the SHA-256 of
//! everything that its vectors depend on; its last 32 bytes are the SHA-256 of the rest: one that
//! was cut or flipped is made again. The folder is removed when the output is there; a run that
//! was killed between the two leaves it marked as complete, and the next one removes it.
//!
//! ```text
//! "hg2v-part" | bytes of notes: u32 | notes, as JSON | vectors: f32 … | sha256
//! ```
//! All numbers are little-endian.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::chunks::Chunk;
use crate::dataset::jsonl;
use crate::error::{Action, Error, Result};
use crate::input::open_regular;
use crate::output::{self, OutputFile};
use crate::prepare::Notes;
use crate::vectors;

const MAGIC: &[u8] = b"hg2v-part";

/// The file that says that every vector is made, and only the output is left to put in its place.
const COMPLETE: &str = "complete";

/// Where vectors are kept until all are there.
#[derive(Debug)]
pub struct Partial {
    folder: PathBuf,
    /// Everything that vectors depend on but the graphs.
    identity: Sha256,
    /// When work is worth keeping.
    from: Instant,
    /// Whether something of this run, or of one before it, is kept.
    is_used: AtomicBool,
}

/// The vectors of a chunk, row after row, and what preparing its graphs met.
pub(super) struct Part {
    pub(super) rows: Vec<f32>,
    pub(super) notes: Notes,
}

impl Partial {
    /// Those of an output that takes longer than `spared`; `identity` tells all that vectors
    /// depend on but the graphs. There are none where the output is no file.
    pub fn beside(out: &Path, identity: &[String], spared: Duration) -> Option<Partial> {
        let is_file = fs::metadata(out).map_or(out.as_os_str() != "-", |there| there.is_file());
        let mut name = out.file_name().filter(|_| is_file)?.to_owned();
        name.push(".partial");
        let folder = out.with_file_name(name);
        let mut hash = Sha256::new();
        hash.update(MAGIC);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        for part in std::iter::once(&version).chain(identity) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let is_used = AtomicBool::new(folder.is_dir());
        let partial = Partial { folder, identity: hash, from: Instant::now() + spared, is_used };
        let marked = partial.folder.join(COMPLETE).is_file();
        if marked && !out.exists() {
            // A run that was killed while its output took its names: the vectors come anew.
            vectors::remove_half(out);
        }
        if out.exists() {
            // Killed at the very end of removing it, a run leaves an empty folder.
            let gone = match marked {
                true => partial.remove().is_ok(),
                false => fs::remove_dir(&partial.folder).is_ok(),
            };
            partial.is_used.fetch_and(!gone, Ordering::Relaxed);
        }
        Some(partial)
    }

    /// The folder, if something is kept there.
    pub fn used(&self) -> Option<&Path> {
        self.is_used.load(Ordering::Relaxed).then_some(&*self.folder)
    }

    /// What is kept of a chunk.
    pub(super) fn find(&self, chunk: &Chunk) -> Option<Part> {
        self.used()?;
        let mut bytes = Vec::new();
        open_regular(&self.file(chunk)?).ok()?.read_to_end(&mut bytes).ok()?;
        decode(&bytes)
    }

    /// Keeps the vectors of a chunk, if the work is worth it by now.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(super) fn keep(&self, chunk: &Chunk, part: &Part) -> Result<()> {
        if self.used().is_none() && Instant::now() < self.from {
            return Ok(());
        }
        let Some(path) = self.file(chunk) else { return Ok(()) };
        let failed = |e| Error::io(&self.folder, Action::Write, e);
        fs::create_dir_all(&self.folder).map_err(failed)?;
        self.is_used.store(true, Ordering::Relaxed);
        // Whoever writes to a pipe waits for somebody to read it.
        if fs::symlink_metadata(&path).is_ok_and(|there| !there.is_file()) {
            let kind = "what is kept there is no file; remove it";
            return Err(Error::io(&path, Action::Write, std::io::Error::other(kind)));
        }
        let mut file = OutputFile::create(&path)?;
        file.write_all(&encode(part).map_err(failed)?).map_err(failed)?;
        file.commit()
    }

    /// Says that all vectors are made: from the moment the output is there, nobody needs these.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(super) fn complete(&self) -> Result<()> {
        let Some(folder) = self.used() else { return Ok(()) };
        let path = folder.join(COMPLETE);
        fs::write(&path, []).map_err(|e| Error::io(path, Action::Write, e))
    }

    /// Removes all of them, and the folder if there is nothing else in it.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(super) fn remove(&self) -> Result<()> {
        let Some(folder) = self.used() else { return Ok(()) };
        let failed = |e| Error::io(folder, Action::Remove, e);
        let part = |name: &str| name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit());
        let mark = folder.join(COMPLETE);
        output::clear_run(folder).map_err(failed)?;
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name().to_str().is_some_and(part) {
                fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
        // Last, so that one who is killed meanwhile leaves them marked.
        let unmarked = if mark.exists() { fs::remove_file(mark) } else { Ok(()) };
        match unmarked.and_then(|()| fs::remove_dir(folder)) {
            Err(e) if e.kind() != ErrorKind::DirectoryNotEmpty => Err(failed(e)),
            _ => Ok(()),
        }
    }

    /// The file of a chunk; its name tells the graphs as a file of them would.
    fn file(&self, chunk: &Chunk) -> Option<PathBuf> {
        let mut hash = self.identity.clone();
        for record in &chunk.records {
            hash.update(record.folded_repeats.to_le_bytes());
            hash.update(jsonl::line_of(record).ok()?);
        }
        let name: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Some(self.folder.join(name))
    }
}

fn encode(part: &Part) -> std::io::Result<Vec<u8>> {
    let notes = serde_json::to_vec(&part.notes)?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend((notes.len() as u32).to_le_bytes());
    bytes.extend(notes);
    bytes.extend(part.rows.iter().flat_map(|value| value.to_le_bytes()));
    let digest = Sha256::digest(&bytes);
    bytes.extend_from_slice(&digest);
    Ok(bytes)
}

/// The part in a file, if it is whole.
fn decode(bytes: &[u8]) -> Option<Part> {
    let (content, digest) = bytes.split_last_chunk::<32>()?;
    if Sha256::digest(content).as_slice() != digest {
        return None;
    }
    let (length, rest) = content.strip_prefix(MAGIC)?.split_first_chunk::<4>()?;
    let (notes, numbers) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let (words, []) = numbers.as_chunks::<4>() else { return None };
    Some(Part {
        rows: words.iter().map(|word| f32::from_le_bytes(*word)).collect(),
        notes: serde_json::from_slice(notes).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn nobody_waits_for_a_pipe_where_vectors_are_kept() {
        let place = tempfile::tempdir().unwrap();
        let partial = Partial::beside(&place.path().join("v.csv"), &[], Duration::ZERO).unwrap();
        let chunk = Chunk { records: vec![], first: 0, step: 1, passed: 0 };
        let path = partial.file(&chunk).unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let part = Part { rows: vec![1.0], notes: Notes::default() };
        let refused = partial.keep(&chunk, &part).unwrap_err().to_string();
        assert!(refused.contains("no file"), "{refused}");
        assert!(partial.find(&chunk).is_none());
    }

    #[test]
    fn what_nobody_needs_any_more_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("v.csv");
        let beside = || Partial::beside(&out, &[], Duration::ZERO).unwrap();
        let chunk = Chunk { records: vec![], first: 0, step: 1, passed: 0 };
        let part = Part { rows: vec![1.0], notes: Notes::default() };
        beside().keep(&chunk, &part).unwrap();
        // An output that was there before: what is kept is not yet in it.
        fs::write(&out, "0").unwrap();
        assert!(beside().find(&chunk).is_some());
        fs::remove_file(&out).unwrap();
        beside().complete().unwrap();
        assert!(beside().find(&chunk).is_some());
        // Killed before it was removed.
        fs::write(&out, "1").unwrap();
        assert!(beside().used().is_none() && beside().find(&chunk).is_none());
        let folder = place.path().join("v.csv.partial");
        assert!(!folder.exists());
        // Killed when the mark was gone and the folder was not.
        fs::create_dir(&folder).unwrap();
        assert!(beside().used().is_none() && !folder.exists());
    }

    #[test]
    fn ids_whose_vectors_never_came_do_not_stand_in_the_way() {
        let place = tempfile::tempdir().unwrap();
        let (out, ids) = (place.path().join("v.npy"), place.path().join("v.ids.csv"));
        let beside = || Partial::beside(&out, &[], Duration::ZERO).unwrap();
        let chunk = Chunk { records: vec![], first: 0, step: 1, passed: 0 };
        let part = Part { rows: vec![1.0], notes: Notes::default() };
        beside().keep(&chunk, &part).unwrap();
        fs::write(&ids, "id,y\n").unwrap();
        // Somebody else's, as long as no run was about to end.
        beside();
        assert!(ids.exists());
        beside().complete().unwrap();
        assert!(beside().find(&chunk).is_some() && !ids.exists());
    }

    #[test]
    fn what_was_cut_or_flipped_is_made_again() {
        let notes = Notes { graphs: 2, nodes: 7, ..Notes::default() };
        let part = Part { rows: vec![1.5, -0.0, f32::MIN_POSITIVE], notes };
        let bytes = encode(&part).unwrap();
        let read = decode(&bytes).unwrap();
        assert_eq!(read.notes, notes);
        let bits = |rows: &[f32]| rows.iter().map(|row| row.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&read.rows), bits(&part.rows));
        for at in 0..bytes.len() {
            assert!(decode(&bytes[..at]).is_none());
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert!(decode(&flipped).is_none());
        }
    }
}
