//! Outputs that appear whole or not at all.
//!
//! An output is written under a temporary name in the folder it belongs to,
//! synced, and renamed: a crash, a full disk or a Ctrl-C leaves what was there.
//!
//! A [`Destination`] says where an output goes and what it may replace. The files and folders
//! themselves are hidden: the command and the other crates write theirs by them, which must be
//! cleared away together when a process ends, but they are no part of what the library is for.

pub mod overwrite;
mod temporary;

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use crate::error::{Action, Error, Result};
use overwrite::{Destination, Overwrite, check_replaceable, exchange, rename_new};
use temporary::Unfinished;
#[doc(hidden)]
pub use temporary::{clear_run, discard_unfinished};

/// A file that takes its name only when [`commit`](OutputFile::commit) succeeds;
/// `-` is standard output. What a link points to is replaced, not the link, and keeps its
/// permissions; pipes and devices are written to as it goes.
#[doc(hidden)]
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
    overwrite: Overwrite,
}

impl OutputFile {
    /// Begins writing a file.
    ///
    /// # Errors
    /// When its folder does not exist or cannot be written, it is a folder itself, or a file that
    /// is not to be replaced.
    pub fn create<'a>(to: impl Into<Destination<'a>>) -> Result<OutputFile> {
        let to = to.into();
        let target = if to.path == Path::new("-") {
            Target::Stdout(BufWriter::with_capacity(1 << 16, io::stdout()))
        } else {
            Target::new(to)?
        };
        Ok(OutputFile { path: to.path.to_path_buf(), to: target })
    }

    /// Begins writing the same file once more, in the place of this one.
    ///
    /// # Errors
    /// As [`create`](OutputFile::create).
    #[cfg(feature = "parquet")]
    pub(crate) fn again(&self) -> Result<OutputFile> {
        let overwrite = match &self.to {
            Target::File(_, replaced, _) => replaced.overwrite,
            Target::Stdout(_) | Target::Stream(_) => Overwrite::default(),
        };
        OutputFile::create(Destination { path: &self.path, overwrite })
    }

    /// Syncs the content and gives it its name.
    ///
    /// # Errors
    /// When the disk refuses, or a file that is not to be replaced has appeared there; that, or the
    /// old content, is then still there.
    pub fn commit(self) -> Result<()> {
        let failed = |e| Error::io(&self.path, Action::Write, e);
        match self.to {
            Target::Stdout(mut out) => out.flush().map_err(failed),
            Target::Stream(mut out) => out.flush().map_err(failed),
            Target::File(out, replaced, _name) => {
                let file = out.into_inner().map_err(|e| failed(e.into_error()))?;
                if let Some(permissions) = replaced.permissions.clone() {
                    file.as_file().set_permissions(permissions).map_err(failed)?;
                }
                file.as_file().sync_all().map_err(failed)?;
                replaced.give_name(file)
            }
        }
    }

    /// What is written so far, to be read back.
    ///
    /// # Errors
    /// On standard output and pipes, which keep nothing; or when the disk refuses.
    pub fn reopen(&mut self) -> Result<File> {
        let failed = |e| Error::io(&self.path, Action::Write, e);
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

impl Replaced {
    /// Gives a file the name.
    fn give_name(&self, file: NamedTempFile) -> Result<()> {
        let failed = |e| Error::io(&self.path, Action::Write, e);
        if self.overwrite != Overwrite::Never {
            return file.persist(&self.path).map(|_| ()).map_err(|e| failed(e.error));
        }
        // Open until it has its name.
        let (_open, temporary) = file.into_parts();
        rename_new(&temporary, &self.path).map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => {
                Error::exists(&self.path, "a file has appeared there meanwhile", true)
            }
            _ => failed(e),
        })?;
        // The temporary name is gone; there is nothing left to remove.
        let _ = temporary.keep();
        Ok(())
    }
}

impl Target {
    fn new(Destination { path, overwrite }: Destination<'_>) -> Result<Target> {
        let failed = |e| Error::io(path, Action::Create, e);
        let taken = |problem| Err(Error::exists(path, problem, true));
        let replaced = match fs::metadata(path) {
            Ok(there) if there.is_dir() => {
                let problem = "it is a folder, and a file is to be written";
                return Err(Error::exists(path, problem, false));
            }
            Ok(there) if !there.is_file() => {
                let stream = File::options().write(true).open(path).map_err(failed)?;
                return Ok(Target::Stream(BufWriter::with_capacity(1 << 16, stream)));
            }
            Ok(_) if overwrite == Overwrite::Never => return taken("it exists already"),
            Ok(there) => {
                let path = fs::canonicalize(path).map_err(failed)?;
                Replaced { path, permissions: Some(there.permissions()), overwrite }
            }
            Err(_) if overwrite == Overwrite::Never && path.is_symlink() => {
                return taken("it is a link that leads nowhere");
            }
            Err(_) => Replaced { path: path.to_path_buf(), permissions: None, overwrite },
        };
        let (file, name) = temporary::file(folder_of(&replaced.path)).map_err(failed)?;
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
#[doc(hidden)]
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
        let (folder, _name) = temporary::folder(folder_of(path), true)
            .map_err(|e| Error::io(path, Action::Create, e))?;
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
#[doc(hidden)]
pub fn is_occupied(path: &Path) -> io::Result<bool> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// A folder that takes its name only when [`commit`](OutputFolder::commit) succeeds.
#[doc(hidden)]
pub struct OutputFolder {
    path: PathBuf,
    /// Whether it takes the place of another.
    replaces: bool,
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
        OutputFolder::create_over(path.into(), &|_| false)
    }

    /// As [`create`](OutputFolder::create); but where everything is to be replaced, a folder that
    /// holds nothing but `own` entries is.
    ///
    /// # Errors
    /// As there.
    pub fn create_over(
        to: Destination<'_>,
        own: &dyn Fn(&fs::DirEntry) -> bool,
    ) -> Result<OutputFolder> {
        let path = to.path;
        let occupied = is_occupied(path).map_err(|e| match e.kind() {
            io::ErrorKind::NotADirectory => {
                let problem = "it is a file, and a folder is to be written";
                Error::exists(path, problem, false)
            }
            _ => Error::io(path, Action::Create, e),
        })?;
        match (occupied, to.overwrite) {
            (false, _) => {}
            (true, Overwrite::Always) => check_replaceable(path, own)?,
            (true, _) => return Err(Error::exists(path, "the folder is not empty", true)),
        }
        // What a link leads to is replaced, not the link.
        let place = match occupied {
            true => fs::canonicalize(path).map_err(|e| Error::io(path, Action::Create, e))?,
            false => path.to_path_buf(),
        };
        OutputFolder::begin(path, folder_of(&place), occupied)
    }

    /// As [`create`](OutputFolder::create), where the folders that `path` stands in may be
    /// missing: they appear together with it.
    ///
    /// # Errors
    /// As [`create`](OutputFolder::create).
    pub fn create_with_parents(path: &Path) -> Result<OutputFolder> {
        let mut places = path.ancestors().skip(1).filter(|place| place.exists());
        OutputFolder::begin(path, places.next().unwrap_or(Path::new(".")), false)
    }

    fn begin(path: &Path, place: &Path, replaces: bool) -> Result<OutputFolder> {
        let (temporary, _name) =
            temporary::folder(place, false).map_err(|e| Error::io(path, Action::Create, e))?;
        Ok(OutputFolder { path: path.to_path_buf(), replaces, temporary, _name })
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
        let failed = |e| Error::io(&self.path, Action::Write, e);
        for entry in fs::read_dir(self.temporary.path()).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            File::open(entry.path()).and_then(|file| file.sync_all()).map_err(failed)?;
        }
        if self.replaces {
            let place = fs::canonicalize(&self.path).map_err(failed)?;
            exchange(self.temporary.path(), &place).map_err(failed)?;
            // What has the temporary name now is the old one.
            return self.temporary.close().map_err(failed);
        }
        fs::create_dir_all(folder_of(&self.path)).map_err(failed)?;
        // An empty folder of that name may be replaced by `rename`, and no other.
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

    #[test]
    fn what_is_to_stay_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        let never = Destination { path: &path, overwrite: Overwrite::Never };
        let mut out = OutputFile::create(never).unwrap();
        out.write_all(b"new").unwrap();
        // Somebody else is faster.
        fs::write(&path, "theirs").unwrap();
        let late = out.commit().unwrap_err().to_string();
        assert!(late.contains("appeared there meanwhile"), "{late}");
        let early = OutputFile::create(never).err().unwrap().to_string();
        assert!(early.contains("it exists already"), "{early}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::remove_file(&path).unwrap();
        let mut out = OutputFile::create(never).unwrap();
        out.write_all(b"new").unwrap();
        out.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
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

        // Unless that is asked for, and it holds nothing else.
        let over = Destination { path: &path, overwrite: Overwrite::Always };
        let own = |entry: &fs::DirEntry| entry.file_name() == "a";
        let out = OutputFolder::create_over(over, &own).unwrap();
        fs::write(out.working_path().join("a"), "2").unwrap();
        assert_eq!(fs::read_to_string(path.join("a")).unwrap(), "1");
        out.commit().unwrap();
        assert_eq!(fs::read_to_string(path.join("a")).unwrap(), "2");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::write(path.join("mine"), "").unwrap();
        let refused = OutputFolder::create_over(over, &own).err().unwrap().to_string();
        assert!(refused.contains("holds `mine`"), "{refused}");
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
