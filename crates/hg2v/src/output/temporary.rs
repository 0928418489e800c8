//! Temporary names, and whose they are.
//!
//! Whoever writes holds a lock on the file or folder until it is done. The system lets go of
//! locks when a process ends, however it ends: what has a temporary name and no lock belongs to
//! nobody, and the next who writes in the same folder removes it.
//!
//! Some disks on a network keep locks to the machine that took them. So a name also tells the
//! machine's start that it comes from; what comes from another is removed only when nobody has
//! touched it for a week. Where there are no locks, nothing is removed.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tempfile::{Builder, NamedTempFile, TempDir};

/// How temporary names begin.
pub(super) const PREFIX: &str = ".hg2v-";

/// Letters of the tag that follows, and of what makes a name unique after it.
const TAG: usize = 8;
const UNIQUE: usize = 6;

/// How long what comes from another machine stays untouched before it counts as abandoned.
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What is being written, by its temporary name.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Folders that were cleared since this process began.
static CLEARED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// This start of this machine, where the system tells.
static HERE: LazyLock<Option<String>> = LazyLock::new(|| {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let tag: String = id.chars().filter(char::is_ascii_hexdigit).take(TAG).collect();
    (tag.len() == TAG).then_some(tag)
});

fn locked<T>(names: &Mutex<T>) -> MutexGuard<'_, T> {
    // A set of names is whole whoever panicked.
    names.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes everything that is being written, for a process that is about to end: who
/// writes on afterwards finds nothing to write to, and nobody begins anything more.
pub fn discard_unfinished() {
    let names = locked(&UNFINISHED);
    for path in names.iter() {
        let _ = remove(path, path.is_dir());
    }
    std::mem::forget(names);
}

/// A temporary name that is in use.
pub(super) struct Unfinished {
    path: PathBuf,
    /// Holds the lock on a folder; a file holds its own.
    _lock: Option<File>,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        locked(&UNFINISHED).remove(&self.path);
    }
}

/// A new file in `folder`, and its name.
pub(super) fn file(folder: &Path) -> io::Result<(NamedTempFile, Unfinished)> {
    clear_once(folder);
    loop {
        // No signal finds it there and unknown.
        let mut names = locked(&UNFINISHED);
        let file = builder().ordinary_file().tempfile_in(folder)?;
        if is_taken(file.as_file(), file.path()) {
            continue;
        }
        let path = file.path().to_path_buf();
        names.insert(path.clone());
        return Ok((file, Unfinished { path, _lock: None }));
    }
}

/// A new folder in `folder`, and its name; its content is everybody's to read, or the user's
/// alone.
pub(super) fn folder(folder: &Path, private: bool) -> io::Result<(TempDir, Unfinished)> {
    clear_once(folder);
    loop {
        let mut names = locked(&UNFINISHED);
        let mut builder = builder();
        let made = if private { &mut builder } else { builder.ordinary_folder() };
        let made = made.tempdir_in(folder)?;
        let lock = File::open(made.path()).ok();
        if lock.as_ref().is_some_and(|lock| is_taken(lock, made.path())) {
            continue;
        }
        let path = made.path().to_path_buf();
        names.insert(path.clone());
        return Ok((made, Unfinished { path, _lock: lock }));
    }
}

fn builder() -> Builder<'static, 'static> {
    static PREFIXED: LazyLock<String> = LazyLock::new(|| {
        let tag = HERE.as_deref().unwrap_or("00000000");
        format!("{PREFIX}{tag}-")
    });
    let mut builder = Builder::new();
    builder.prefix(PREFIXED.as_str()).rand_bytes(UNIQUE);
    builder
}

/// Locks what was just made; whether somebody who clears the folder was there first.
fn is_taken(made: &File, path: &Path) -> bool {
    match lock(made) {
        Some(true) => !path.exists(),
        Some(false) => true,
        None => false,
    }
}

/// Whether the lock could be had; nothing where there are no locks.
#[cfg(unix)]
fn lock(file: &File) -> Option<bool> {
    match file.try_lock() {
        Ok(()) => Some(true),
        Err(fs::TryLockError::WouldBlock) => Some(false),
        Err(fs::TryLockError::Error(_)) => None,
    }
}

/// Elsewhere a lock keeps its own process from writing, too.
#[cfg(not(unix))]
fn lock(_: &File) -> Option<bool> {
    None
}

/// Removes what nobody writes any more, the first time that this process writes in `folder`.
fn clear_once(folder: &Path) {
    let known = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    if locked(&CLEARED).insert(known) {
        // What cannot be removed harms nobody.
        let _ = clear(folder, is_abandoned);
    }
}

/// Removes what nobody writes any more in a `folder` that belongs to one run: whichever machine
/// began it.
///
/// # Errors
/// When the disk refuses.
pub fn clear_run(folder: &Path) -> io::Result<()> {
    let begins = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with(PREFIX);
    clear(folder, |entry| begins(entry) && is_plain(entry))
}

fn clear(folder: &Path, is_old: impl Fn(&DirEntry) -> bool) -> io::Result<()> {
    let mut outcome = Ok(());
    for entry in fs::read_dir(folder)?.flatten().filter(is_old) {
        let path = entry.path();
        let is_folder = path.is_dir();
        // Not every disk lets files be locked that are open to be read alone.
        let opened = OpenOptions::new().read(true).write(!is_folder).open(&path);
        // Held until it is gone: nobody takes it for their own meanwhile.
        let Ok(held) = opened else { continue };
        if lock(&held) == Some(true) {
            outcome = outcome.and(remove(&path, is_folder));
        }
    }
    outcome
}

/// Whether a temporary name is old enough that only a lock would show that somebody writes.
fn is_abandoned(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let Some(tag) = name.to_str().and_then(tag_of) else { return false };
    let untouched = || {
        let modified = entry.metadata().and_then(|there| there.modified()).ok()?;
        SystemTime::now().duration_since(modified).ok()
    };
    is_plain(entry) && (HERE.as_deref() == Some(tag) || untouched().is_some_and(|time| time > WEEK))
}

/// No link and no pipe, which others may have put there.
fn is_plain(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir())
}

/// The tag of a name that this program made.
fn tag_of(name: &str) -> Option<&str> {
    let (tag, unique) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let ours = tag.len() == TAG
        && tag.bytes().all(|b| b.is_ascii_hexdigit())
        && unique.len() == UNIQUE
        && unique.bytes().all(|b| b.is_ascii_alphanumeric());
    ours.then_some(tag)
}

fn remove(path: &Path, is_folder: bool) -> io::Result<()> {
    if !is_folder {
        return fs::remove_file(path);
    }
    // Whoever still writes into it may fill it again once or twice.
    let mut removed = fs::remove_dir_all(path);
    for _ in 0..3 {
        if removed.is_ok() {
            break;
        }
        removed = fs::remove_dir_all(path);
    }
    removed
}

/// `tempfile` makes private files (0600); outputs get the permissions that any
/// other new file of the user would have.
trait OrdinaryPermissions {
    fn ordinary_file(&mut self) -> &mut Self;
    fn ordinary_folder(&mut self) -> &mut Self;
}

impl OrdinaryPermissions for Builder<'_, '_> {
    #[cfg(unix)]
    fn ordinary_file(&mut self) -> &mut Self {
        use std::os::unix::fs::PermissionsExt;
        self.permissions(fs::Permissions::from_mode(0o666))
    }

    #[cfg(unix)]
    fn ordinary_folder(&mut self) -> &mut Self {
        use std::os::unix::fs::PermissionsExt;
        self.permissions(fs::Permissions::from_mode(0o777))
    }

    #[cfg(not(unix))]
    fn ordinary_file(&mut self) -> &mut Self {
        self
    }

    #[cfg(not(unix))]
    fn ordinary_folder(&mut self) -> &mut Self {
        self
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_somebody_writes_stays_and_what_nobody_writes_goes() {
        let place = tempfile::tempdir().unwrap();
        let at = place.path();
        let (file, _name) = file(at).unwrap();
        let (within, _other) = folder(at, true).unwrap();
        fs::write(within.path().join("content"), "1").unwrap();
        let tag = HERE.as_deref().unwrap();
        let elsewhere = if tag == "00000000" { "11111111" } else { "00000000" };
        let [dead, folder, link, foreign, old, own] = [
            format!("{PREFIX}{tag}-abcdef"),
            format!("{PREFIX}{tag}-ABCDEF"),
            format!("{PREFIX}{tag}-linked"),
            format!("{PREFIX}{elsewhere}-abcdef"),
            format!("{PREFIX}{elsewhere}-older0"),
            format!("{PREFIX}notes"),
        ];
        for name in [&dead, &foreign, &old, &own] {
            fs::write(at.join(name), "half").unwrap();
        }
        let long_ago = SystemTime::now() - WEEK - Duration::from_secs(60);
        File::options().write(true).open(at.join(&old)).unwrap().set_modified(long_ago).unwrap();
        fs::create_dir_all(at.join(&folder).join("deep")).unwrap();
        std::os::unix::fs::symlink("nowhere", at.join(&link)).unwrap();

        clear(at, is_abandoned).unwrap();
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut left = vec![name(file.path()), name(within.path()), link.clone(), foreign, own];
        left.sort();
        assert_eq!(names(at), left);

        // In the folder of a run, whoever made it; links are nobody's.
        clear_run(at).unwrap();
        let mut left = vec![name(file.path()), name(within.path()), link];
        left.sort();
        assert_eq!(names(at), left);
    }

    #[test]
    fn names_that_others_made_are_not_ours() {
        assert_eq!(tag_of(".hg2v-0123abcd-Ab3dE9"), Some("0123abcd"));
        for name in [
            ".hg2v-config",
            ".hg2v-0123abcd",
            ".hg2v-0123abcd-",
            ".hg2v-0123abcx-Ab3dE9",
            ".hg2v-0123abcd-Ab3dE9.bak",
            "hg2v-0123abcd-Ab3dE9",
        ] {
            assert_eq!(tag_of(name), None, "{name}");
        }
    }
}
