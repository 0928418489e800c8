//! One method on one dataset.

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use hg2v::graph::EdgeChoice;
use hg2v::prepare::{Needs, Run};
use hg2v::saved::DataNote;
use hg2v_baselines::prepared::default_features;
use hg2v_baselines::registry::{Entry, Judged};
use hg2v_eval::classifiers::Classifier;
use hg2v_eval::goal::{Goal, Task};
use hg2v_eval::regress;
use hg2v_eval::study::{Mode, Study, StudyResult};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::environment::{Environment, Event};
use crate::error::Result;
use crate::host::Host;
use crate::store::{self, FORMAT, ResultFile, Store};

/// A cell of the table, by the places of its collection and method in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellPosition {
    /// The place of its collection.
    pub set: usize,
    /// The place of its method.
    pub method: usize,
}

impl fmt::Display for CellPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.set, self.method)
    }
}

impl FromStr for CellPosition {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<CellPosition, String> {
        let places = text.split_once('/').map(|(set, method)| (set.parse(), method.parse()));
        match places {
            Some((Ok(set), Ok(method))) => Ok(CellPosition { set, method }),
            _ => Err("it must be the places of a set and a method, such as 0/2".to_owned()),
        }
    }
}

/// Everything that results depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CellIdentity {
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
    /// The classifier and how its settings are chosen, or the regression.
    protocol: Value,
    seed: u64,
    /// What is predicted, where it is not one class of each graph.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) targets: Vec<TargetIdentity>,
}

/// A target, and what it is taken for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TargetIdentity {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<String>,
    pub(super) task: Task,
    /// Graphs that have it.
    known: usize,
}

impl TargetIdentity {
    /// Those of all goals, if there is more to say than that every graph has one class.
    fn of(goals: &[Goal]) -> Vec<TargetIdentity> {
        let plain = |goal: &Goal| {
            let whole = goal.known.iter().all(|&known| known);
            goal.name.is_none() && goal.task() == Task::Classes && whole
        };
        match goals {
            [goal] if plain(goal) => Vec::new(),
            _ => goals
                .iter()
                .map(|goal| TargetIdentity {
                    target: goal.name.clone(),
                    task: goal.task(),
                    known: goal.graphs(),
                })
                .collect(),
        }
    }
}

/// What a method gave on a dataset, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CellRecord {
    #[serde(flatten)]
    pub(crate) identity: CellIdentity,
    /// How many classes, and the share of the largest.
    classes: usize,
    majority: f64,
    pub(crate) splits: usize,
    machine: Host,
    /// The most memory that run held, where the system tells.
    pub(super) peak_bytes: Option<u64>,
    /// Of the only target, or of the first.
    pub(crate) result: StudyResult,
    /// Of the others, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<StudyResult>,
}

impl CellRecord {
    /// The results, target by target.
    pub(super) fn each(&self) -> impl Iterator<Item = (Option<&TargetIdentity>, &StudyResult)> {
        let results = [&self.result].into_iter().chain(&self.others);
        results.enumerate().map(|(at, result)| (self.identity.targets.get(at), result))
    }

    /// Whether these judges were asked beside the first, target by target.
    fn judged_by(&self, beside: &[Vec<Classifier>]) -> bool {
        let asked = |(result, judges): (&StudyResult, &Vec<Classifier>)| {
            let did = |judge: &Classifier| result.also.iter().any(|also| also.classifier == *judge);
            judges.iter().all(did)
        };
        self.each().map(|(_, result)| result).zip(beside).all(asked)
    }
}

/// There is one row a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct OnlyRow {}

impl ResultFile for CellRecord {
    type Identity = CellIdentity;
    type Row = OnlyRow;

    fn stem(identity: &CellIdentity) -> String {
        format!("{}.{}", identity.set, identity.method)
    }

    fn results(&self) -> Vec<(OnlyRow, &StudyResult)> {
        self.each().map(|(_, result)| (OnlyRow {}, result)).collect()
    }
}

/// A cell that could not be filled.
#[derive(Debug, Clone, Serialize)]
pub struct CellFailure {
    /// The dataset.
    pub set: String,
    /// The method.
    pub method: String,
    /// Why.
    #[serde(rename = "error")]
    pub why: String,
}

/// A method to judge on a dataset.
pub(crate) struct CellPlan<'a> {
    pub(crate) method: &'static Entry,
    pub(crate) dataset: &'a str,
    pub(crate) graphs: Run<'a>,
    pub(crate) mode: Mode,
    pub(crate) splits: usize,
    /// Whether to forget what there is.
    pub(crate) fresh: bool,
    /// Whether this process does nothing else, so that its memory is the method's.
    pub(crate) alone: bool,
    /// What targets are taken for.
    pub(crate) task: Task,
    /// What is seen of edges.
    pub(crate) edges: EdgeChoice,
    /// Judges of vectors beside the first.
    pub(crate) also: &'a [Classifier],
    /// Whether a method that learns classes is left out where there are numbers, instead of
    /// failing.
    pub(crate) if_fit: bool,
}

impl CellPlan<'_> {
    /// What `folder` knows of it, and what has to be run; it is in `folder` afterwards. `None`
    /// where the method was left out.
    pub(crate) fn judge(
        &self,
        folder: &Path,
        environment: &Environment<'_>,
    ) -> Result<Option<CellRecord>> {
        let CellPlan { method, mode, .. } = *self;
        let judged = method.judged(environment.seed, self.edges)?;
        let goals = Goal::all(self.graphs.records, self.task)?;
        let identity = self.identity(&judged, &goals, environment);
        let store: Store<CellRecord> = Store::open(folder, identity.clone(), self.fresh)?;
        let numbers = goals.iter().find(|goal| goal.task() == Task::Numbers);
        if let (Some(goal), Judged::Learner(learner)) = (numbers, &judged)
            && !learner.knows_numbers()
        {
            let refused = hg2v_eval::Error::LearnsClasses { target: goal.called() };
            return if self.if_fit { Ok(None) } else { Err(refused.into()) };
        }
        let beside: Vec<Vec<Classifier>> =
            goals.iter().map(|goal| judged.candidate().beside(goal, self.also)).collect();
        let enough = |record: &&CellRecord| {
            let splits = mode == Mode::Tenfold || record.splits >= self.splits;
            splits && record.judged_by(&beside)
        };
        let what = format!("{}: {}", self.dataset, method.name);
        if let Some(record) = store.finished().filter(enough) {
            let (splits, path) = (record.splits, store.path());
            (environment.tell)(&Event::Kept { what: &what, splits, path });
            return Ok(Some(record.clone()));
        }
        let needs = match &judged {
            Judged::Method(method) => method.needs(),
            Judged::Learner(_) => Needs::default().features(Some(default_features())),
            Judged::Kernel(_) => Needs::default(),
        };
        let collection = environment.collect(self.graphs, &needs)?;
        let mut study = Study::of(&collection, goals, mode, self.splits, environment.protocol())?;
        study.context = environment.context.unwatched();
        study.also = self.also.to_vec();
        write_splits(&identity, &study, folder)?;
        let mut results =
            environment.judge_each(&what, &study, judged.candidate(), &store, &OnlyRow {})?;
        let result = results.remove(0);
        let record = CellRecord {
            identity,
            classes: study.classes().len(),
            majority: study.majority(),
            splits: study.splits.len(),
            machine: Host::here(),
            peak_bytes: if self.alone { peak_bytes() } else { None },
            result,
            others: results,
        };
        store.finish(&record)?;
        Ok(Some(record))
    }

    fn identity(
        &self,
        judged: &Judged,
        goals: &[Goal],
        environment: &Environment<'_>,
    ) -> CellIdentity {
        let protocol = environment.protocol();
        let numbers = goals.iter().any(|goal| goal.task() == Task::Numbers);
        let classes = goals.iter().any(|goal| goal.task() == Task::Classes);
        let regression = || json!(regress::Protocol::like(&protocol));
        let protocol = match (classes, numbers) {
            (_, false) => json!(protocol),
            (false, true) => regression(),
            (true, true) => json!({ "classes": protocol, "numbers": regression() }),
        };
        CellIdentity {
            format: FORMAT,
            hg2v: env!("CARGO_PKG_VERSION").to_owned(),
            set: self.dataset.to_owned(),
            data: DataNote::of(self.graphs.records),
            method: self.method.name.to_owned(),
            settings: judged.settings(),
            mode: self.mode,
            protocol,
            seed: environment.seed,
            targets: TargetIdentity::of(goals),
        }
    }
}

/// Keeps who was tested when; all others were trained on. Every method of a set writes the
/// same.
fn write_splits(identity: &CellIdentity, study: &Study<'_>, folder: &Path) -> Result<()> {
    let CellIdentity { set, data, mode, seed, .. } = identity;
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
