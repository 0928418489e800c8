//! Outputs that appear whole or not at all.
//!
//! An output is written under a temporary name in the folder it belongs to,
//! synced, and renamed: a crash, a full disk or a Ctrl-C leaves what was there.

mod temporary;

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use crate::error::{Error, Result};
use temporary::Unfinished;
pub use temporary::{clear_run, discard_unfinished};

/// A file that takes its name only when [`commit`](OutputFile::commit) succeeds;
/// `-` is standard output. What a link points to is replaced, not the link, and keeps its
/// permissions; pipes and devices are written to as it goes.
pub struct OutputFile {
    path: PathBuf,
    to: Target,
}

enum Target {
    Stdout(BufWriter<io::Stdout>),
    /// What is no file, and cannot be replaced by one.
    Stream(BufWriter<File>),
    File(BufWriter<NamedTempFile>, Replaced, Unfinished),
}

/// The name that a file takes at the end, and who may read what stands there.
struct Replaced {
    path: PathBuf,
    permissions: Option<Permissions>,
}

impl OutputFile {
    /// Begins writing `path`.
    ///
    /// # Errors
    /// When its folder does not exist or cannot be written, or it is a folder itself.
    pub fn create(path: &Path) -> Result<OutputFile> {
        let to = if path == Path::new("-") {
            Ok(Target::Stdout(BufWriter::with_capacity(1 << 16, io::stdout())))
        } else {
            Target::new(path)
        };
        let to = to.map_err(|e| Error::io(path, "create", e))?;
        Ok(OutputFile { path: path.to_path_buf(), to })
    }

    /// Syncs the content and gives it its name.
    ///
    /// # Errors
    /// When the disk refuses; the old content, if any, is then still there.
    pub fn commit(self) -> Result<()> {
        let failed = |e| Error::io(&self.path, "write", e);
        match self.to {
            Target::Stdout(mut out) => out.flush().map_err(failed),
            Target::Stream(mut out) => out.flush().map_err(failed),
            Target::File(out, replaced, _name) => {
                let file = out.into_inner().map_err(|e| failed(e.into_error()))?;
                if let Some(permissions) = replaced.permissions {
                    file.as_file().set_permissions(permissions).map_err(failed)?;
                }
                file.as_file().sync_all().map_err(failed)?;
                file.persist(&replaced.path).map_err(|e| failed(e.error))?;
                Ok(())
            }
        }
    }

    /// What is written so far, to be read back.
    ///
    /// # Errors
    /// On standard output and pipes, which keep nothing; or when the disk refuses.
    pub fn reopen(&mut self) -> Result<File> {
        let failed = |e| Error::io(&self.path, "write", e);
        match &mut self.to {
            Target::File(out, ..) => {
                out.flush().and_then(|()| out.get_ref().reopen()).map_err(failed)
            }
            Target::Stdout(_) | Target::Stream(_) => Err(failed(io::Error::new(
                io::ErrorKind::Unsupported,
                "what is on standard output or in a pipe cannot be changed any more; write to a file",
            ))),
        }
    }

    /// The name this output will have.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Target {
    fn new(path: &Path) -> io::Result<Target> {
        let replaced = match fs::metadata(path) {
            Ok(there) if there.is_dir() => {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
            }
            Ok(there) if !there.is_file() => {
                let stream = File::options().write(true).open(path)?;
                return Ok(Target::Stream(BufWriter::with_capacity(1 << 16, stream)));
            }
            Ok(there) => {
                let permissions = Some(there.permissions());
                Replaced { path: fs::canonicalize(path)?, permissions }
            }
            Err(_) => Replaced { path: path.to_path_buf(), permissions: None },
        };
        let (file, name) = temporary::file(folder_of(&replaced.path))?;
        Ok(Target::File(BufWriter::with_capacity(1 << 18, file), replaced, name))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            Target::Stdout(out) => out.write(bytes),
            Target::Stream(out) => out.write(bytes),
            Target::File(out, ..) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            Target::Stdout(out) => out.flush(),
            Target::Stream(out) => out.flush(),
            Target::File(out, ..) => out.flush(),
        }
    }
}

/// A folder for what goes into an output, beside it; gone when it is dropped.
pub struct ScratchFolder {
    folder: TempDir,
    _name: Unfinished,
}

impl ScratchFolder {
    /// Makes one beside `path`.
    ///
    /// # Errors
    /// When its folder does not exist or cannot be written.
    pub fn beside(path: &Path) -> Result<ScratchFolder> {
        let (folder, _name) =
            temporary::folder(folder_of(path), true).map_err(|e| Error::io(path, "create", e))?;
        Ok(ScratchFolder { folder, _name })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Whether something stands in the folder `path`.
///
/// # Errors
/// When `path` is no folder, or cannot be looked into.
pub fn is_occupied(path: &Path) -> io::Result<bool> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// A folder that takes its name only when [`commit`](OutputFolder::commit) succeeds.
pub struct OutputFolder {
    path: PathBuf,
    temporary: TempDir,
    _name: Unfinished,
}

impl OutputFolder {
    /// Begins filling the folder `path`.
    ///
    /// # Errors
    /// When something that is not an empty folder stands there already, or the
    /// parent folder cannot be written.
    pub fn create(path: &Path) -> Result<OutputFolder> {
        if is_occupied(path).map_err(|e| Error::io(path, "create", e))? {
            let taken = io::Error::new(
                io::ErrorKind::AlreadyExists,
                "the folder is not empty; name a new one, or remove it first",
            );
            return Err(Error::io(path, "create", taken));
        }
        OutputFolder::begin(path, folder_of(path))
    }

    /// As [`create`](OutputFolder::create), where the folders that `path` stands in may be
    /// missing: they appear together with it.
    ///
    /// # Errors
    /// As [`create`](OutputFolder::create).
    pub fn create_with_parents(path: &Path) -> Result<OutputFolder> {
        let mut places = path.ancestors().skip(1).filter(|place| place.exists());
        OutputFolder::begin(path, places.next().unwrap_or(Path::new(".")))
    }

    fn begin(path: &Path, place: &Path) -> Result<OutputFolder> {
        let (temporary, _name) =
            temporary::folder(place, false).map_err(|e| Error::io(path, "create", e))?;
        Ok(OutputFolder { path: path.to_path_buf(), temporary, _name })
    }

    /// Where to write files until the folder is committed.
    pub fn working_path(&self) -> &Path {
        self.temporary.path()
    }

    /// The name this folder will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error about a file where it is written, as one about the file it would be.
    pub fn named(&self, error: Error) -> Error {
        match error {
            Error::Io { path, action, source } => {
                let within = path.strip_prefix(self.working_path());
                let path = within.map_or_else(|_| path.clone(), |file| self.path.join(file));
                Error::Io { path, action, source }
            }
            other => other,
        }
    }

    /// Syncs every file and gives the folder its name.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn commit(self) -> Result<()> {
        let failed = |e| Error::io(&self.path, "write", e);
        for entry in fs::read_dir(self.temporary.path()).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            File::open(entry.path()).and_then(|file| file.sync_all()).map_err(failed)?;
        }
        fs::create_dir_all(folder_of(&self.path)).map_err(failed)?;
        // An empty folder of that name may be replaced by `rename`.
        fs::rename(self.temporary.path(), &self.path).map_err(failed)?;
        // The temporary name is gone; there is nothing left to remove.
        let _ = self.temporary.keep();
        Ok(())
    }
}

/// The folder `path` stands in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_appears_before_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        fs::write(&path, "old").unwrap();
        let mut out = OutputFile::create(&path).unwrap();
        out.write_all(b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        drop(out);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let mut out = OutputFile::create(&path).unwrap();
        out.write_all(b"new").unwrap();
        out.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay_and_what_is_no_file_is_written_to() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let write = |name: &str| {
            let mut out = OutputFile::create(&at(name)).unwrap();
            out.write_all(b"new").unwrap();
            out.commit().unwrap();
        };
        fs::write(at("file"), "old").unwrap();
        fs::set_permissions(at("file"), Permissions::from_mode(0o600)).unwrap();
        symlink("file", at("link")).unwrap();
        write("link");
        assert!(at("link").is_symlink());
        assert_eq!(fs::read_to_string(at("file")).unwrap(), "new");
        assert_eq!(fs::metadata(at("file")).unwrap().permissions().mode() & 0o777, 0o600);

        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        let pipe = at("pipe");
        let reader = std::thread::spawn(move || fs::read_to_string(pipe).unwrap());
        write("pipe");
        assert_eq!(reader.join().unwrap(), "new");
        assert!(!fs::metadata(at("pipe")).unwrap().is_file());

        fs::create_dir(at("folder")).unwrap();
        let refused = OutputFile::create(&at("folder")).err().unwrap().to_string();
        assert!(refused.contains("it is a folder"), "{refused}");
    }

    #[test]
    fn a_folder_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set");
        let out = OutputFolder::create(&path).unwrap();
        fs::write(out.working_path().join("a"), "1").unwrap();
        assert!(!path.exists());
        out.commit().unwrap();
        assert_eq!(fs::read_to_string(path.join("a")).unwrap(), "1");
        let refused = OutputFolder::create(&path).err().unwrap().to_string();
        assert!(refused.contains("not empty"), "{refused}");
    }

    #[test]
    fn missing_parents_appear_with_their_folder_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/set");
        let missing = OutputFolder::create(&path).err().unwrap().to_string();
        assert!(missing.contains("make the folder"), "{missing}");
        drop(OutputFolder::create_with_parents(&path).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let out = OutputFolder::create_with_parents(&path).unwrap();
        fs::write(out.working_path().join("x"), "1").unwrap();
        assert!(!folder.path().join("a").exists());
        out.commit().unwrap();
        assert_eq!(fs::read_to_string(path.join("x")).unwrap(), "1");
    }
}
