//! Table 3: trained on one dataset, judged on another without being trained again.
//!
//! The two datasets' features line up by kind: images have row, column and luminosity, graphs
//! without features their degree and structure. As in the paper, the numbers of each dataset
//! are centred and normalised by its own, here by those of the split's training part: a
//! pixel in the middle of an image is in the middle whatever the image's size.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use hg2v::error::{Action, shown};
use hg2v::graph::GraphRecord;
use hg2v::prepare::Run;
use hg2v::saved::DataNote;
use hg2v::{Hg2v, Method, Untrained};
use hg2v_eval::controls::Transferred;
use hg2v_eval::method::Candidate;
use hg2v_eval::study::{Mode, StudyResult};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::accuracies;
use super::accuracy_record::{AccuracyRecord, RowKind};
use super::{Plan, Reproduction};
use crate::config::{self, Table3, Table3Row};
use crate::datasets;
use crate::environment::{Environment, Event};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::store::{self, FORMAT, ResultFile, Store};
use crate::table::{TextTable, none};

/// Where results are, below the folder of all.
const FOLDER: &str = "table3";

/// Everything that results depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TransferIdentity {
    /// [`FORMAT`].
    format: u32,
    /// The version of hg2v.
    hg2v: String,
    /// The dataset that was trained on, and the one that is judged on, with their contents.
    from: String,
    from_data: DataNote,
    to: String,
    to_data: DataNote,
    /// Whether the datasets were cut.
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
enum TransferKind {
    /// HG2V, trained on the other dataset.
    Transferred,
    /// The same network, never trained.
    Untrained,
}

impl fmt::Display for TransferKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TransferKind::Transferred => "transferred",
            TransferKind::Untrained => "untrained",
        })
    }
}

/// Which row of a file a result belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TransferKey {
    who: TransferKind,
}

/// A finished file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TransferRecord {
    #[serde(flatten)]
    identity: TransferIdentity,
    splits: usize,
    machine: Host,
    transferred: StudyResult,
    untrained: StudyResult,
}

impl ResultFile for TransferRecord {
    type Identity = TransferIdentity;
    type Row = TransferKey;

    fn stem(identity: &TransferIdentity) -> String {
        let TransferIdentity { from, to, preset, quick, .. } = identity;
        format!("{from}-{to}.{preset}{}", if *quick { ".quick" } else { "" })
    }

    fn results(&self) -> Vec<(TransferKey, &StudyResult)> {
        vec![
            (TransferKey { who: TransferKind::Transferred }, &self.transferred),
            (TransferKey { who: TransferKind::Untrained }, &self.untrained),
        ]
    }
}

pub(super) fn run(plan: &Plan, environment: &Environment<'_>) -> Result<Reproduction> {
    let config = config::table3()?;
    let folder = plan.out.join(FOLDER);
    let models = BTreeMap::new();
    let mut transfers = Transfers { config: &config, plan, environment, folder: &folder, models };
    let mut records = Vec::new();
    for transfer in chosen(&config, plan)? {
        match transfers.record(transfer) {
            Ok(record) => records.push(record),
            // Datasets that nobody asked for by name may be missing.
            Err(why @ Error::MissingDataset { .. }) if plan.datasets.is_empty() => {
                (environment.tell)(&Event::LeftOut { what: &name(transfer), why: &why });
            }
            Err(error) => return Err(error),
        }
    }
    if records.is_empty() {
        return Err(Error::NoDatasets { folder: environment.datasets().to_path_buf() });
    }
    Ok(Reproduction {
        graphs: records.iter().map(|record| record.identity.to_data.graphs).sum(),
        tables: vec![table(&config, &records, &plan.out)?],
        records: super::values(&records),
        ..Reproduction::default()
    })
}

pub(super) fn known(out: &Path) -> Result<TextTable> {
    let config = config::table3()?;
    let mut records: Vec<TransferRecord> = store::read_all(&out.join(FOLDER))?;
    let place = |TransferIdentity { from, to, .. }: &TransferIdentity| {
        config.rows.iter().position(|row| row.from == *from && row.to == *to)
    };
    records.sort_by_key(|record| (place(&record.identity), TransferRecord::stem(&record.identity)));
    table(&config, &records, out)
}

/// The rows whose two datasets are both asked for, or all.
fn chosen<'a>(config: &'a Table3, plan: &Plan) -> Result<Vec<&'a Table3Row>> {
    let asked = |dataset: &str| {
        let names = &plan.datasets;
        names.is_empty() || names.iter().any(|name| name.eq_ignore_ascii_case(dataset))
    };
    let both = |row: &&Table3Row| asked(&row.from) && asked(&row.to);
    let rows: Vec<&Table3Row> = config.rows.iter().filter(both).collect();
    if rows.is_empty() {
        let all: Vec<String> =
            config.rows.iter().map(|row| format!("{},{}", row.from, row.to)).collect();
        let requirement = format!("it must name both sets of a row: {}", all.join("; "));
        let given = shown(&plan.datasets.join(","));
        return Err(hg2v::Error::parameter("sets", given, requirement).into());
    }
    Ok(rows)
}

fn name(row: &Table3Row) -> String {
    format!("{} → {}", row.from, row.to)
}

struct Transfers<'a> {
    config: &'a Table3,
    plan: &'a Plan,
    environment: &'a Environment<'a>,
    folder: &'a Path,
    /// Models by what they were trained on.
    models: BTreeMap<&'a str, Hg2v>,
}

impl<'a> Transfers<'a> {
    fn graphs(&self, dataset: &str) -> Result<Vec<GraphRecord>> {
        let provenance = datasets::find(dataset, self.environment.datasets())?;
        let (_, mut records) = provenance.records(self.environment)?;
        let most = self.config.quick.graphs;
        if self.plan.quick && records.len() > most {
            let every = records.len() / most;
            records = records.into_iter().step_by(every).take(most).collect();
        }
        Ok(records)
    }

    fn record(&mut self, transfer: &'a Table3Row) -> Result<TransferRecord> {
        let Table3Row { from, to, .. } = transfer;
        let (config, plan, environment) = (self.config, self.plan, self.environment);
        let params = plan.model(environment);
        let (sources, targets) = (self.graphs(from)?, self.graphs(to)?);
        let identity = TransferIdentity {
            format: FORMAT,
            hg2v: env!("CARGO_PKG_VERSION").to_owned(),
            from: from.clone(),
            from_data: DataNote::of(&sources),
            to: to.clone(),
            to_data: DataNote::of(&targets),
            quick: plan.quick,
            preset: plan.model_name.clone(),
            configuration: environment.with_device(json!(params)),
            mode: Mode::Inductive,
            protocol: json!(environment.protocol()),
            seed: environment.seed,
        };
        let created = fs::create_dir_all(self.folder);
        created.map_err(|e| hg2v::Error::io(self.folder, Action::Create, e))?;
        let store: Store<TransferRecord> = Store::open(self.folder, identity.clone(), plan.fresh)?;
        let asked = plan.splits(config.splits, config.quick.splits);
        let row = name(transfer);
        if let Some(record) = store.finished().filter(|record| record.splits >= asked) {
            let (splits, path) = (record.splits, store.path());
            (environment.tell)(&Event::Kept { what: &row, splits, path });
            return Ok(record.clone());
        }
        if !self.models.contains_key(from.as_str()) {
            (environment.tell)(&Event::Training { dataset: from, graphs: sources.len() });
            let run = Run::of(&sources, Path::new(from));
            let collection = environment.collect(run, &params.needs())?;
            let fit = params.prepare(&collection, &collection.all())?;
            self.models.insert(from, fit.train(environment.context)?);
        }
        let run = Run::of(&targets, Path::new(to));
        let collection = environment.collect(run, &params.needs())?;
        let study = environment.study(&collection, Mode::Inductive, asked)?;
        let model = self.models[from.as_str()].clone();
        let transferred = Transferred { params: params.clone(), model };
        let untrained = Untrained(params);
        let judge = |who: TransferKind, method: &dyn Method| {
            let what = format!("{row}: {who}");
            let candidate = Candidate::Method(method);
            environment.judge(&what, &study, candidate, &store, &TransferKey { who })
        };
        let record = TransferRecord {
            transferred: judge(TransferKind::Transferred, &transferred)?,
            untrained: judge(TransferKind::Untrained, &untrained)?,
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

fn table(config: &Table3, records: &[TransferRecord], out: &Path) -> Result<TextTable> {
    let of_table2 = config::table2()?;
    let mut table = TextTable::new(2, HEADER);
    for record in records {
        let TransferIdentity { from, to, quick, .. } = &record.identity;
        let reported = config.rows.iter().find(|row| row.from == *from && row.to == *to);
        let baseline = of_table2.rows.iter().find(|row| row.dataset == *to);
        let cut = config.quick.graphs;
        table.row([
            from.clone(),
            if *quick { format!("{to}, {cut} graphs of each") } else { to.clone() },
            record.transferred.test.to_string(),
            record.untrained.test.to_string(),
            own(&record.identity, out)?.unwrap_or_else(none),
            reported.map_or_else(none, |row| format!("{:.1}", row.paper)),
            baseline.map_or_else(none, |row| format!("{:.1}", row.hg2v.mean)),
            record.splits.to_string(),
        ]);
    }
    Ok(table.noting(
        "accuracy in percent on the test parts of 80/20 splits of the second set: mean ± \
         deviation; `own` is table2's model, trained on the second set itself",
    ))
}

/// What table 2 has of the dataset that is judged on. A model trained on a part of a dataset is
/// nothing to compare whole datasets with.
fn own(identity: &TransferIdentity, out: &Path) -> Result<Option<String>> {
    let TransferIdentity { to, quick, preset, .. } = identity;
    let path = out.join(accuracies::FOLDER).join(format!("{to}.{preset}.json"));
    if *quick || !path.exists() {
        return Ok(None);
    }
    let record: AccuracyRecord = store::read(&path)?;
    Ok(record.row(RowKind::Hg2v).map(|row| row.test.to_string()))
}
