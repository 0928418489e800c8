//! What an output may take the place of, and how it does so without a moment in which neither
//! is there.

use std::fs::{self, DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};

use super::temporary::PREFIX;
use crate::error::{Action, Error, Result};

/// What becomes of something that stands where an output is to go. Pipes and devices are written
/// to in any case, and an empty folder may become one that is not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overwrite {
    /// A file is replaced; a folder is not.
    #[default]
    Files,
    /// Nothing is replaced.
    Never,
    /// A file is replaced, and a folder that holds nothing but what is written anew.
    Always,
}

/// Where an output goes. A path alone has the default [`Overwrite`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination<'a> {
    /// The name of the output.
    pub path: &'a Path,
    /// What it may replace.
    pub overwrite: Overwrite,
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for Destination<'a> {
    fn from(path: &'a P) -> Destination<'a> {
        Destination { path: path.as_ref(), overwrite: Overwrite::default() }
    }
}

impl<'a> Destination<'a> {
    /// The same for another output.
    pub fn beside<'b>(&self, path: &'b Path) -> Destination<'b> {
        Destination { path, overwrite: self.overwrite }
    }
}

/// Refuses a folder that holds something else than `own` entries: replacing it would lose that.
///
/// # Errors
/// When there is such an entry, or the folder cannot be looked into.
#[doc(hidden)]
pub fn check_replaceable(folder: &Path, own: &dyn Fn(&DirEntry) -> bool) -> Result<()> {
    let failed = |e| Error::io(folder, Action::Read, e);
    let mut foreign = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // What somebody who was killed left half written is nobody's.
        if !own(&entry) && !name.starts_with(PREFIX) {
            foreign.push(name);
        }
    }
    // Folders list their entries in any order.
    foreign.sort_unstable();
    match foreign.first() {
        None => Ok(()),
        Some(name) => {
            let name = crate::error::shown(name);
            let problem = format!("this folder is not replaced, because it holds {name}, too");
            Err(Error::exists(folder, problem, false))
        }
    }
}

/// Puts the folder `new` where the folder `old` is, in one step where the system has one, and
/// removes the old one.
///
/// # Errors
/// When the system refuses; both are then where they were.
#[doc(hidden)]
pub fn replace_folder(new: &Path, old: &Path) -> Result<()> {
    let failed = |e| Error::io(old, Action::Write, e);
    // What a link leads to is replaced, not the link.
    let place = fs::canonicalize(old).map_err(failed)?;
    exchange(new, &place).map_err(failed)?;
    fs::remove_dir_all(new).map_err(|e| Error::io(new, Action::Remove, e))
}

/// Each gets the other's name.
pub(crate) fn exchange(new: &Path, old: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE) {
            // A file system that cannot.
            Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {}
            done => return Ok(done?),
        }
    }
    let mut aside = new.as_os_str().to_owned();
    aside.push(".old");
    let aside = PathBuf::from(aside);
    fs::rename(old, &aside)?;
    if let Err(refused) = fs::rename(new, old) {
        fs::rename(&aside, old)?;
        return Err(refused);
    }
    fs::rename(&aside, new)
}

/// Renames a file unless something has that name.
///
/// # Errors
/// [`AlreadyExists`](io::ErrorKind::AlreadyExists) where something has; when the system refuses.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {}
            done => return Ok(done?),
        }
    }
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(e),
        // No second names there: who makes the file first has the name.
        Err(_) => {
            File::create_new(to)?;
            fs::rename(from, to)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_stays_taken() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("new"), "new").unwrap();
        fs::write(at("old"), "old").unwrap();
        let refused = rename_new(&at("new"), &at("old")).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(at("old")).unwrap(), "old");
        assert_eq!(fs::read_to_string(at("new")).unwrap(), "new");
        rename_new(&at("new"), &at("free")).unwrap();
        assert_eq!(fs::read_to_string(at("free")).unwrap(), "new");
        assert!(!at("new").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_is_replaced_behind_its_link() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["new", "old"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("file"), name).unwrap();
        }
        std::os::unix::fs::symlink("old", at("link")).unwrap();
        replace_folder(&at("new"), &at("link")).unwrap();
        assert!(at("link").is_symlink() && !at("new").exists());
        assert_eq!(fs::read_to_string(at("old/file")).unwrap(), "new");
    }
}
