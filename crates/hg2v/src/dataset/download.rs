//! Fetching known sets over HTTP, so that only what is right gets its name.
//!
//! `BASE/NAME.zip` is written to `NAME.zip.part`. A connection that is cut is
//! taken up where it stopped (`Range`, with the server's validator in `If-Range`
//! so that two versions are never mixed; a server that answers with the whole
//! file starts the part again). When all bytes are there the content is read and
//! compared with the [catalog](super::catalog); only then is it renamed to
//! `NAME.zip`. What arrived but is wrong is kept as `NAME.zip.bad`, to be looked at.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use ureq::Agent;
use ureq::http::{HeaderMap, StatusCode};

use super::Limits;
use super::catalog::{KnownSet, Origin};
use crate::error::{Action, Advice, Error, Fix, Limit, Opt, Result};
use crate::output::overwrite::{Destination, Overwrite, rename_new};

/// Where the TU Dortmund collection is kept.
pub const DEFAULT_BASE: &str = "https://www.chrsmrrs.com/graphkerneldatasets";

/// How patient a download is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Patience {
    /// How long a connection may take to be made, once the system has found the host.
    pub connect: Duration,
    /// How long the server may be silent.
    pub silence: Duration,
    /// Attempts in a row that may bring nothing new.
    pub attempts: u32,
    /// The pause before the second attempt; each later one is twice as long.
    pub pause: Duration,
}

hg2v_math::setters!(Patience {
    connect: Duration,
    silence: Duration,
    attempts: u32,
    pause: Duration,
});

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            connect: Duration::from_secs(15),
            silence: Duration::from_secs(30),
            attempts: 4,
            pause: Duration::from_secs(1),
        }
    }
}

/// How a set came to be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Got {
    /// It was there already, and right.
    Already(PathBuf),
    /// It was fetched and is right.
    Fetched {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        bytes: u64,
        /// Those of them that were there from an earlier run.
        resumed_from: u64,
    },
}

/// Makes sure that `set` is in `folder`, fetching it from `base` if need be.
/// What is there but wrong is an error, unless it is [always](Overwrite::Always) replaced.
/// `progress` hears how many bytes are there, and how many there will be.
///
/// # Errors
/// When the set is not one to download, the address cannot be reached or does
/// not have it, the disk refuses, or the content is not what the catalog says.
pub fn get<'a>(
    set: &KnownSet,
    folder: impl Into<Destination<'a>>,
    base: &str,
    limits: &Limits,
    patience: &Patience,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Got> {
    if set.origin == Origin::Made {
        return Err(Error::argument("the set", set.name, "this one is made, not downloaded"));
    }
    let Destination { path: folder, overwrite } = folder.into();
    let path = folder.join(format!("{}.zip", set.name));
    let url = format!("{}/{}.zip", base.trim_end_matches('/'), set.name);
    if path.exists() {
        match set.verify(&path, limits) {
            Ok(()) => return Ok(Got::Already(path)),
            Err(problem) if overwrite != Overwrite::Always => {
                let problem = format!("it is there already, but {problem}");
                return Err(Error::exists(&path, problem, true));
            }
            Err(_) => {}
        }
    }
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, Action::Create, e))?;
    let mut part = Part::open(folder, set.name)?;
    let resumed_from = part.length;
    let fetch = Fetch {
        url: &url,
        patience,
        by_hand: Fix::from("try again (what has arrived is kept)")
            .or(Advice::Do(format!("download it by hand to {}", path.display()).into()))
            .or(Advice::Give(Opt::BASE)),
    };
    if let Err(error) = fetch.run(&mut part, limits, progress) {
        part.remove_if_empty();
        return Err(error);
    }
    if let Err(problem) = set.verify(&part.path, limits) {
        let bad = folder.join(format!("{}.zip.bad", set.name));
        part.rename(&bad, Overwrite::Files)?;
        return Err(Error::Download {
            url,
            problem: format!(
                "it was downloaded, but {problem}; what arrived is kept as {}",
                bad.display()
            ),
            fix: Fix::from("try again").or(Advice::Give(Opt::BASE)),
        });
    }
    let bytes = part.length;
    part.rename(&path, overwrite)?;
    Ok(Got::Fetched { path, bytes, resumed_from })
}

/// The part of a file that has arrived, and the server's name for its version.
struct Part {
    path: PathBuf,
    file: File,
    length: u64,
    validator_path: PathBuf,
    validator: Option<String>,
}

impl Part {
    fn open(folder: &Path, name: &str) -> Result<Part> {
        let path = folder.join(format!("{name}.zip.part"));
        let failed = |e| Error::io(&path, Action::Write, e);
        let file = OpenOptions::new().append(true).create(true).open(&path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let validator_path = folder.join(format!("{name}.zip.part.etag"));
        let validator = fs::read_to_string(&validator_path).ok();
        Ok(Part { path, file, length, validator_path, validator })
    }

    /// Forgets what has arrived; what follows has the given validator.
    fn restart(&mut self, validator: Option<String>) -> Result<()> {
        self.file.set_len(0).map_err(|e| self.failed(e))?;
        self.length = 0;
        match &validator {
            Some(text) => fs::write(&self.validator_path, text),
            None => remove_if_there(&self.validator_path),
        }
        .map_err(|e| self.failed(e))?;
        self.validator = validator;
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|e| self.failed(e))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn rename(self, to: &Path, overwrite: Overwrite) -> Result<()> {
        let rename = |from: &Path| match overwrite {
            Overwrite::Never => rename_new(from, to),
            Overwrite::Files | Overwrite::Always => fs::rename(from, to),
        };
        self.file
            .sync_all()
            .and_then(|()| rename(&self.path))
            .and_then(|()| remove_if_there(&self.validator_path))
            .map_err(|e| match e.kind() {
                ErrorKind::AlreadyExists => {
                    Error::exists(to, "a file has appeared there meanwhile", true)
                }
                _ => Error::io(to, Action::Write, e),
            })
    }

    /// Leaves nothing behind where nothing arrived.
    fn remove_if_empty(self) {
        if self.length == 0 {
            // The error that is on its way says more than one about this file.
            let _ =
                fs::remove_file(&self.path).and_then(|()| remove_if_there(&self.validator_path));
        }
    }

    fn failed(&self, error: std::io::Error) -> Error {
        Error::io(&self.path, Action::Write, error)
    }
}

fn remove_if_there(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// One address, asked as often as it takes.
struct Fetch<'a> {
    url: &'a str,
    patience: &'a Patience,
    /// What the user can do when it fails.
    by_hand: Fix,
}

/// How an attempt ended.
enum Attempt {
    Complete,
    /// Worth trying again; why it stopped.
    Stopped(String),
}

impl Fetch<'_> {
    fn run(
        &self,
        part: &mut Part,
        limits: &Limits,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<()> {
        /// However little each attempt brings, an end.
        const MOST_ATTEMPTS: u32 = 100;
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            // No bound on finding the host: ureq would start a thread for it, and panic where there
            // is none left. The system's resolver gives up by itself.
            .timeout_connect(Some(self.patience.connect))
            .timeout_recv_response(Some(self.patience.silence))
            .timeout_per_read(Some(self.patience.silence))
            // A range counts the bytes of the file, not of an encoding of it.
            .accept_encoding("identity")
            .user_agent(concat!("hg2v/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        let mut most = part.length;
        let mut fruitless = 0;
        let mut why = String::new();
        for _ in 0..MOST_ATTEMPTS {
            match self.attempt(&agent, part, limits, progress)? {
                Attempt::Complete => return Ok(()),
                Attempt::Stopped(reason) => why = reason,
            }
            if part.length > most {
                most = part.length;
                fruitless = 0;
            } else {
                fruitless += 1;
                if fruitless >= self.patience.attempts {
                    break;
                }
            }
            thread::sleep(self.patience.pause * 2u32.pow(fruitless.min(10)));
        }
        Err(self.gave_up(why))
    }

    fn attempt(
        &self,
        agent: &Agent,
        part: &mut Part,
        limits: &Limits,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Attempt> {
        let mut request = agent.get(self.url);
        if part.length > 0 {
            request = request.header("Range", format!("bytes={}-", part.length));
            if let Some(validator) = &part.validator {
                request = request.header("If-Range", validator);
            }
        }
        let response = match request.call() {
            Ok(response) => response,
            Err(error) if is_permanent(&error) => return Err(self.gave_up(error.to_string())),
            Err(error) => return Ok(Attempt::Stopped(in_words(&error))),
        };
        let status = response.status();
        let headers = response.headers();
        match status {
            StatusCode::OK => part.restart(validator(headers))?,
            StatusCode::PARTIAL_CONTENT => {
                let first = content_range(headers).and_then(|range| range.first);
                if first != Some(part.length) {
                    part.restart(None)?;
                    return Ok(Attempt::Stopped(
                        "the server sent another range than was asked".to_owned(),
                    ));
                }
            }
            // Nothing follows what is there: either it is all there, or it is
            // not a part of this file.
            StatusCode::RANGE_NOT_SATISFIABLE if part.length > 0 => {
                let total = content_range(headers).and_then(|range| range.total);
                if total == Some(part.length) {
                    return Ok(Attempt::Complete);
                }
                part.restart(None)?;
                return Ok(Attempt::Stopped("the server refused to resume".to_owned()));
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
                return Ok(Attempt::Stopped(format!("the server answered {status}")));
            }
            _ if status.is_server_error() => {
                return Ok(Attempt::Stopped(format!("the server answered {status}")));
            }
            _ => return Err(self.gave_up(format!("the server answered {status}"))),
        }
        let announced = number(headers, "content-length");
        let total = announced.and_then(|more| part.length.checked_add(more));
        self.receive(response.into_body().into_reader(), part, total, limits, progress)
    }

    /// Appends the body to the part.
    fn receive(
        &self,
        mut body: impl Read,
        part: &mut Part,
        total: Option<u64>,
        limits: &Limits,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Attempt> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            progress(part.length, total);
            match body.read(&mut buffer) {
                Ok(0) if total.is_some_and(|total| part.length < total) => {
                    return Ok(Attempt::Stopped("the connection was cut".to_owned()));
                }
                Ok(0) => return Ok(Attempt::Complete),
                Ok(read) => part.append(buffer.get(..read).unwrap_or_default())?,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    let error = ureq::Error::from(e);
                    return Ok(Attempt::Stopped(in_words(&error)));
                }
            }
            // A zip is not larger than what it may unfold to.
            if part.length > limits.max_unpacked_bytes {
                part.restart(None)?;
                let allowed = limits.max_unpacked_bytes;
                return Err(Error::Download {
                    url: self.url.to_owned(),
                    problem: format!("the server sent more than the {allowed} bytes allowed"),
                    fix: self.by_hand.clone().or(Advice::Raise(Limit::UnpackedBytes)),
                });
            }
        }
    }

    fn gave_up(&self, problem: String) -> Error {
        Error::Download { url: self.url.to_owned(), problem, fix: self.by_hand.clone() }
    }
}

/// Whether asking again cannot help.
fn is_permanent(error: &ureq::Error) -> bool {
    matches!(
        error,
        ureq::Error::BadUri(_)
            | ureq::Error::Http(_)
            | ureq::Error::TooManyRedirects
            | ureq::Error::InvalidProxyUrl
    )
}

/// What went wrong on the way, for a person.
fn in_words(error: &ureq::Error) -> String {
    match error {
        ureq::Error::HostNotFound => "the host is not known here (is this machine offline?)".into(),
        ureq::Error::ConnectionFailed => "no connection could be made".into(),
        ureq::Error::Timeout(_) => "the server is silent".into(),
        ureq::Error::Io(e) => match e.kind() {
            ErrorKind::ConnectionRefused => "the connection was refused".into(),
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => {
                "the connection was cut".into()
            }
            ErrorKind::TimedOut | ErrorKind::WouldBlock => "the server is silent".into(),
            _ => format!("it cannot be reached ({e})"),
        },
        other => other.to_string(),
    }
}

/// The name of this version of the file that `If-Range` may carry: a strong
/// entity tag, else the date of the last change.
fn validator(headers: &HeaderMap) -> Option<String> {
    text(headers, "etag")
        .filter(|tag| !tag.starts_with("W/"))
        .or_else(|| text(headers, "last-modified"))
        .map(str::to_owned)
}

/// `Content-Range: bytes FIRST-LAST/TOTAL`, or `bytes */TOTAL`.
struct ContentRange {
    first: Option<u64>,
    total: Option<u64>,
}

fn content_range(headers: &HeaderMap) -> Option<ContentRange> {
    let (range, total) = text(headers, "content-range")?.strip_prefix("bytes ")?.split_once('/')?;
    Some(ContentRange {
        first: range.split_once('-').and_then(|(first, _)| first.parse().ok()),
        total: total.parse().ok(),
    })
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    text(headers, name)?.trim().parse().ok()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
