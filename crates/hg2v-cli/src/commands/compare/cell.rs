//! One method on one set, in a process of its own.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::str::FromStr;

use anyhow::Context as _;
use hg2v::dataset::name_of;
use hg2v::error::Error;
use hg2v::graph::WeightPolicy;
use hg2v::prepare::{Needs, Run};
use hg2v::saved::DataNote;
use hg2v_baselines::prepared::default_features;
use hg2v_baselines::registry::{self, Entry, Judged};
use hg2v_eval::select;
use hg2v_eval::study::{Mode, Study, StudyResult};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Args;
use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::{self, Asks, CacheArgs};
use crate::host::Host;
use crate::interrupt;
use crate::store::{self, FORMAT, Kept, Store};

/// A cell of the table, by the places of its set and method among the arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) set: usize,
    pub(super) method: usize,
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        let places = text.split_once('/').map(|(set, method)| (set.parse(), method.parse()));
        match places {
            Some((Ok(set), Ok(method))) => Ok(Place { set, method }),
            _ => Err("it must be the places of a set and a method, such as 0/2".to_owned()),
        }
    }
}

/// Everything that results depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// [`FORMAT`].
    format: u32,
    /// The version of hg2v.
    hg2v: String,
    /// The set's name and content.
    pub(crate) set: String,
    pub(crate) data: DataNote,
    /// The method and its settings.
    pub(crate) method: String,
    /// All settings of the method, by name.
    settings: Value,
    /// Who sees what.
    pub(super) mode: Mode,
    /// The classifier and how its settings are chosen.
    protocol: Value,
    seed: u64,
}

/// What a method gave on a set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    #[serde(flatten)]
    pub(crate) identity: Identity,
    /// How many classes, and the share of the largest.
    classes: usize,
    majority: f64,
    pub(crate) splits: usize,
    machine: Host,
    /// The most memory that run held, where the system tells.
    pub(super) peak_bytes: Option<u64>,
    pub(crate) result: StudyResult,
}

/// There is one row a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Only {}

impl Kept for Record {
    type Identity = Identity;
    type Row = Only;

    fn stem(identity: &Identity) -> String {
        format!("{}.{}", identity.set, identity.method)
    }

    fn results(&self) -> Vec<(Only, &StudyResult)> {
        vec![(Only {}, &self.result)]
    }
}

/// Fills a cell in another process; inside, why it could not be filled.
pub(super) fn child(
    place: Place,
    set: &str,
    method: &str,
    folder: &Path,
) -> anyhow::Result<Result<Record, Failure>> {
    let mut command = Command::new(env::current_exe()?);
    command
        .args(env::args_os().skip(1))
        .env("HG2V_COMPARE_CELL", format!("{}/{}", place.set, place.method))
        .env("HG2V_COMPARE_FOLDER", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let ran = interrupt::ending_with_us(command);
    let (status, said) = ran.with_context(|| {
        format!("cannot run {method} in a process of its own; is there room for one (ulimit -u)?")
    })?;
    if status.success() {
        return Ok(Ok(store::read(&folder.join(format!("{set}.{method}.json")))?));
    }
    let why = why(status, &said);
    Ok(Err(Failure { set: set.to_owned(), method: method.to_owned(), why }))
}

/// A cell that could not be filled.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Failure {
    pub(super) set: String,
    pub(super) method: String,
    #[serde(rename = "error")]
    pub(super) why: String,
}

/// Why a process ended as it did, from what it said.
fn why(status: ExitStatus, said: &str) -> String {
    if let Some((_, error)) = said.rsplit_once("error: ") {
        return error.trim().to_owned();
    }
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    // A panic says where in one line and what in the next.
    let telling = [("panicked at", 2), ("memory allocation of", 1)];
    let told = telling.iter().find_map(|&(words, count)| {
        let at = lines.iter().position(|line| line.contains(words))?;
        Some(lines[at..].iter().take(count).copied().collect::<Vec<_>>().join(" "))
    });
    let last = || lines.last().copied().unwrap_or("it said nothing").to_owned();
    let last = told.unwrap_or_else(last);
    match signal(status) {
        Some(9) => "killed, as systems do when memory runs out (signal 9)".to_owned(),
        Some(signal) => format!("{last} (signal {signal})"),
        None => last,
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

/// Fills a cell in this process: its result is in `folder` afterwards.
pub(super) fn fill(
    place: Place,
    folder: &Path,
    methods: &[String],
    args: &Args,
    context: &Context,
) -> anyhow::Result<()> {
    interrupt::end_with_parent()?;
    let named = methods.get(place.method).and_then(|name| registry::find(name).ok());
    let (Some(data), Some(entry)) = (args.data.get(place.set), named) else {
        return Err(Error::parameter("cell", format!("{place:?}"), "it is not there").into());
    };
    let graphs::Read { path, records, .. } =
        graphs::read(data, Asks::Weights(WeightPolicy::default()), context)?;
    let job = Job {
        entry,
        set: &name_of(data),
        graphs: Run::of(&records, &path),
        mode: args.protocol.into(),
        splits: args.protocol.splits(args.splits)?,
        fresh: args.fresh,
        alone: true,
        device: &args.device,
        cache: &args.cache,
    };
    job.judge(folder, context).map(|_| ())
}

/// A method to judge on a set.
pub(crate) struct Job<'a> {
    pub(crate) entry: &'static Entry,
    pub(crate) set: &'a str,
    pub(crate) graphs: Run<'a>,
    pub(crate) mode: Mode,
    pub(crate) splits: usize,
    /// Whether to forget what there is.
    pub(crate) fresh: bool,
    /// Whether this process does nothing else, so that its memory is the method's.
    pub(crate) alone: bool,
    pub(crate) device: &'a DeviceArgs,
    pub(crate) cache: &'a CacheArgs,
}

impl Job<'_> {
    /// What `folder` knows of it, and what has to be run; it is in `folder` afterwards.
    pub(crate) fn judge(&self, folder: &Path, context: &Context) -> anyhow::Result<Record> {
        let Job { entry, mode, .. } = *self;
        let seed = context.seed();
        let machine = self.device.open()?;
        let judged = entry.judged(seed)?;
        let protocol = select::Protocol { seed, ..select::Protocol::default() };
        let identity = Identity {
            format: FORMAT,
            hg2v: env!("CARGO_PKG_VERSION").to_owned(),
            set: self.set.to_owned(),
            data: DataNote::of(self.graphs.records),
            method: entry.name.to_owned(),
            settings: judged.settings(),
            mode,
            protocol: serde_json::to_value(&protocol)?,
            seed,
        };
        let store: Store<Record> = Store::open(folder, identity.clone(), self.fresh)?;
        let enough = |record: &&Record| mode == Mode::Tenfold || record.splits >= self.splits;
        if let Some(record) = store.finished().filter(enough) {
            return Ok(record.clone());
        }
        let needs = match &judged {
            Judged::Method(method) => method.needs(),
            Judged::Learner(_) => Needs::default().features(Some(default_features())),
            Judged::Kernel(_) => Needs::default(),
        };
        let collection = graphs::collected(self.graphs, &needs, self.cache.open(), context)?;
        let mut study = Study::new(&collection, mode, self.splits, protocol)?;
        study.context = graphs::on(&machine);
        write_splits(&identity, &study, folder)?;
        let known = store.known(&Only {});
        let result =
            study.judge(judged.candidate(), &known, |split| Ok(store.add(&Only {}, split)?))?;
        let record = Record {
            identity,
            classes: study.classes.len(),
            majority: study.majority(),
            splits: study.splits.len(),
            machine: Host::here(),
            peak_bytes: if self.alone { peak_bytes() } else { None },
            result,
        };
        store.finish(&record)?;
        Ok(record)
    }
}

/// Keeps who was tested when; all others were trained on. Every method of a set writes the
/// same.
fn write_splits(identity: &Identity, study: &Study<'_>, folder: &Path) -> anyhow::Result<()> {
    let Identity { set, data, mode, seed, .. } = identity;
    let test: Vec<&[usize]> = study.splits.iter().map(|split| &split.test[..]).collect();
    let splits = json!({ "set": set, "data": data, "mode": mode, "seed": seed, "test": test });
    Ok(store::write_text(&folder.join(format!("{set}.splits.json")), &splits.to_string())?)
}

/// The most memory this process has held so far, as Linux tells it.
fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024 * line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}
