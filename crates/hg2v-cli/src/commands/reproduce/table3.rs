//! Table 3: trained on one set, judged on another without being trained again.
//!
//! The two sets' features line up by kind: images have row, column and luminosity, graphs
//! without features their degree and structure. As in the paper, the numbers of each set
//! are centred and normalised by its own, here by those of the split's training part: a
//! pixel in the middle of an image is in the middle whatever the image's size.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hg2v::context::Machine;
use hg2v::error::{Action, Error, shown};
use hg2v::graph::GraphRecord;
use hg2v::prepare::Run;
use hg2v::saved::DataNote;
use hg2v::{Hg2v, Method, Untrained};
use hg2v_eval::controls::Transferred;
use hg2v_eval::method::Candidate;
use hg2v_eval::select;
use hg2v_eval::study::{Mode, Study, StudyResult};
use hg2v_eval::tables::{TABLE2, TABLE3, Transfer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::{self, Kind};
use super::table::markdown_of;
use super::{Args, QUICK_SPLITS, SPLITS, none_found, sets, tell, there_already, value_name};
use crate::context::Context;
use crate::graphs;
use crate::host::Host;
use crate::store::{self, FORMAT, Kept, Store};
use crate::table::Table;
use crate::watch::Watch;

/// Graphs of each set in a quick run, evenly spaced.
const QUICK_GRAPHS: usize = 300;

/// Everything that results depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Identity {
    /// [`FORMAT`].
    format: u32,
    /// The version of hg2v.
    hg2v: String,
    /// The set that was trained on, and the one that is judged on, with their contents.
    from: String,
    from_data: DataNote,
    to: String,
    to_data: DataNote,
    /// Whether the sets were cut.
    quick: bool,
    preset: String,
    /// Everything about the model.
    configuration: Value,
    mode: Mode,
    /// The classifier and how its settings are chosen.
    protocol: Value,
    seed: u64,
}

/// Who made the vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Who {
    /// HG2V, trained on the other set.
    Transferred,
    /// The same network, never trained.
    Untrained,
}

/// Which row of a file a result belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Line {
    who: Who,
}

/// A finished file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    identity: Identity,
    splits: usize,
    machine: Host,
    transferred: StudyResult,
    untrained: StudyResult,
}

impl Kept for Record {
    type Identity = Identity;
    type Row = Line;

    fn stem(identity: &Identity) -> String {
        let Identity { from, to, preset, quick, .. } = identity;
        format!("{from}-{to}.{preset}{}", if *quick { ".quick" } else { "" })
    }

    fn results(&self) -> Vec<(Line, &StudyResult)> {
        vec![
            (Line { who: Who::Transferred }, &self.transferred),
            (Line { who: Who::Untrained }, &self.untrained),
        ]
    }
}

pub(super) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    if args.grid.is_some() {
        return Err(Error::parameter("grid", "given", "it is for table2").into());
    }
    let folder = args.out.join("table3");
    if args.markdown {
        let mut records: Vec<Record> = store::read_all(&folder)?;
        records.sort_by_key(place);
        let rows: Vec<[String; 8]> =
            records.iter().map(|record| cells(record, &args.out)).collect::<hg2v::Result<_>>()?;
        let rows = rows.into_iter().map(Vec::from);
        return context.print(markdown_of(&HEADER.map(str::to_owned), rows).trim_end());
    }
    let machine = args.device.open()?;
    let mut transfers =
        Transfers { args, context, machine, folder: &folder, models: BTreeMap::new() };
    let mut records = Vec::new();
    for transfer in chosen(args)? {
        match transfers.record(transfer) {
            Ok(record) => records.push(record),
            // Sets that nobody asked for by name may be missing.
            Err(error) if args.sets.is_empty() && error.downcast_ref::<Missing>().is_some() => {
                context.say(format!("{} → {}: left out, {error}", transfer.from, transfer.to));
            }
            Err(error) => return Err(error),
        }
    }
    if records.is_empty() {
        return Err(none_found(context).into());
    }
    let graphs = records.iter().map(|record| record.identity.to_data.graphs).sum();
    if tell(args, graphs, &records, &[], context)? {
        return Ok(());
    }
    let mut table = Table::new(2);
    table.row(HEADER);
    for record in &records {
        table.row(cells(record, &args.out)?);
    }
    context.print(table.lines().join("\n"))?;
    context.print(
        "\naccuracy in percent on the test parts of 80/20 splits of the second set: mean ± \
         deviation; `own` is table2's model, trained on the second set itself",
    )
}

/// A set that is not there.
#[derive(Debug)]
struct Missing(String);

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

/// The rows whose two sets are both asked for, or all.
fn chosen(args: &Args) -> anyhow::Result<Vec<&'static Transfer>> {
    let asked = |set: &str| {
        args.sets.is_empty() || args.sets.iter().any(|name| name.eq_ignore_ascii_case(set))
    };
    let rows: Vec<&Transfer> =
        TABLE3.iter().filter(|row| asked(row.from) && asked(row.to)).collect();
    if rows.is_empty() {
        let all: Vec<String> =
            TABLE3.iter().map(|row| format!("{},{}", row.from, row.to)).collect();
        let requirement = format!("it must name both sets of a row: {}", all.join("; "));
        return Err(Error::parameter("sets", shown(&args.sets.join(",")), requirement).into());
    }
    Ok(rows)
}

struct Transfers<'a> {
    args: &'a Args,
    context: &'a Context,
    machine: Machine,
    folder: &'a Path,
    /// Models by what they were trained on.
    models: BTreeMap<&'static str, Hg2v>,
}

impl Transfers<'_> {
    fn graphs(&self, set: &str) -> anyhow::Result<Vec<GraphRecord>> {
        let origin = sets::find(set, sets::folder(self.context))
            .map_err(|why| Missing(format!("{set} is {why}")))?;
        let (_, mut records) = origin.records(self.context)?;
        if self.args.quick && records.len() > QUICK_GRAPHS {
            let every = records.len() / QUICK_GRAPHS;
            records = records.into_iter().step_by(every).take(QUICK_GRAPHS).collect();
        }
        Ok(records)
    }

    fn record(&mut self, transfer: &'static Transfer) -> anyhow::Result<Record> {
        let Transfer { from, to, .. } = *transfer;
        let (args, context) = (self.args, self.context);
        let params = args.preset.params().seed(context.seed());
        let protocol = select::Protocol { seed: context.seed(), ..select::Protocol::default() };
        let mut configuration = serde_json::to_value(&params)?;
        if let Some(device) = args.device.note() {
            configuration["device"] = device.into();
        }
        let (sources, targets) = (self.graphs(from)?, self.graphs(to)?);
        let identity = Identity {
            format: FORMAT,
            hg2v: env!("CARGO_PKG_VERSION").to_owned(),
            from: from.to_owned(),
            from_data: DataNote::of(&sources),
            to: to.to_owned(),
            to_data: DataNote::of(&targets),
            quick: args.quick,
            preset: value_name(&args.preset),
            configuration,
            mode: Mode::Inductive,
            protocol: serde_json::to_value(&protocol)?,
            seed: context.seed(),
        };
        fs::create_dir_all(self.folder).map_err(|e| Error::io(self.folder, Action::Create, e))?;
        let store: Store<Record> = Store::open(self.folder, identity.clone(), args.fresh)?;
        let asked = args.splits.unwrap_or(if args.quick { QUICK_SPLITS } else { SPLITS });
        if let Some(record) = store.finished().filter(|record| record.splits >= asked) {
            context.say(there_already(&format!("{from} → {to}"), record.splits, &store));
            return Ok(record.clone());
        }
        let cache = args.cache.open();
        if !self.models.contains_key(from) {
            context.say(format!("{from}: training on {} graphs", sources.len()));
            let run = Run::of(&sources, Path::new(from));
            let needs = params.needs();
            let collection = graphs::collected(run, &needs, cache.clone(), context)?;
            let fit = params.prepare(&collection, &collection.all())?;
            let watch = Watch::new(context);
            let trained = fit.train(&graphs::on(&self.machine).watched_by(&watch))?;
            self.models.insert(from, trained);
        }
        let run = Run::of(&targets, Path::new(to));
        let collection = graphs::collected(run, &params.needs(), cache, context)?;
        let mut study = Study::new(&collection, Mode::Inductive, asked, protocol)?;
        study.context = graphs::on(&self.machine);
        let model = self.models[from].clone();
        let transferred = Transferred { params: params.clone(), model };
        let untrained = Untrained(params);
        let judge = |who: Who, method: &dyn Method| -> anyhow::Result<StudyResult> {
            let line = Line { who };
            let bar = context.progress("evaluating", Some(study.splits.len() as u64));
            let result = study.judge(Candidate::Method(method), &store.known(&line), |split| {
                store.add(&line, split)?;
                bar.inc(1);
                Ok(())
            })?;
            bar.finish_and_clear();
            let who = if who == Who::Transferred { "transferred" } else { "untrained" };
            context.say(format!("{from} → {to}: {who} {}", result.test));
            Ok(result)
        };
        let record = Record {
            transferred: judge(Who::Transferred, &transferred)?,
            untrained: judge(Who::Untrained, &untrained)?,
            identity,
            splits: asked,
            machine: Host::here(),
        };
        store.finish(&record)?;
        Ok(record)
    }
}

const HEADER: [&str; 8] =
    ["trained on", "judged on", "HG2V", "untrained", "own", "paper", "paper's own", "splits"];

fn place(record: &Record) -> (Option<usize>, String) {
    let own = |row: &Transfer| row.from == record.identity.from && row.to == record.identity.to;
    (TABLE3.iter().position(own), Record::stem(&record.identity))
}

fn cells(record: &Record, out: &Path) -> hg2v::Result<[String; 8]> {
    let none = || "–".to_owned();
    let Identity { from, to, quick, preset, .. } = &record.identity;
    let known = TABLE3.iter().find(|row| row.from == from && row.to == to);
    let baseline = TABLE2.iter().find(|row| row.set == to);
    // A model trained on a part of a set is nothing to compare whole sets with.
    let path = out.join(format!("table2/{to}.{preset}.json"));
    let own = match !quick && path.exists() {
        true => Some(store::read::<record::Record>(&path)?),
        false => None,
    };
    let own = own.and_then(|own| own.row(Kind::Hg2v).map(|row| row.test.to_string()));
    Ok([
        from.clone(),
        if *quick { format!("{to}, {QUICK_GRAPHS} graphs of each") } else { to.clone() },
        record.transferred.test.to_string(),
        record.untrained.test.to_string(),
        own.unwrap_or_else(none),
        known.map_or_else(none, |row| format!("{:.1}", row.accuracy)),
        baseline.map_or_else(none, |row| format!("{:.1}", row.mean)),
        record.splits.to_string(),
    ])
}
