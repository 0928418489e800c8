//! Table 2: the accuracy of HG2V, beside the same network untrained and statistics counted by
//! hand.

use std::fs;
use std::path::Path;

use hg2v::error::Action;
use hg2v::prepare::Run;
use hg2v::saved::DataNote;
use hg2v::{Hg2vParams, Method, Untrained};
use hg2v_baselines::embedders::statistics::Statistics;
use hg2v_eval::method::Candidate;
use hg2v_eval::model_grid::{ModelShape, best};
use hg2v_eval::study::{Mode, StudyResult};
use serde_json::json;

use super::accuracy_record::{AccuracyIdentity, AccuracyRecord, AccuracyRow, RowKey, RowKind};
use super::{FailedRun, Plan, Reproduction};
use crate::config::{self, Table2};
use crate::datasets::{self, Provenance};
use crate::environment::{Environment, Event};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::store::{self, FORMAT, Store};
use crate::table::{TextTable, none};

/// Where results are, below the folder of all.
pub(super) const FOLDER: &str = "table2";

pub(super) fn run(plan: &Plan, environment: &Environment<'_>) -> Result<Reproduction> {
    let config = config::table2()?;
    let folder = plan.out.join(FOLDER);
    let found = found(&config, plan, environment)?;
    fs::create_dir_all(&folder).map_err(|e| hg2v::Error::io(&folder, Action::Create, e))?;
    let mut records = Vec::new();
    let mut failed = Vec::new();
    for (dataset, provenance) in found {
        let run = AccuracyRun { dataset: &dataset, folder: &folder, config: &config, plan };
        match provenance.and_then(|provenance| run.record(&provenance, environment)) {
            Ok(record) => records.push(record),
            Err(stop) if stop.is_stop() => return Err(stop),
            Err(error) => {
                (environment.tell)(&Event::Failed { what: &dataset });
                failed.push(FailedRun { dataset, error });
            }
        }
    }
    Ok(Reproduction {
        graphs: records.iter().map(|record| record.identity.data.graphs).sum(),
        tables: vec![table(&config, &records)],
        records: super::values(&records),
        failed,
        ..Reproduction::default()
    })
}

pub(super) fn known(out: &Path) -> Result<TextTable> {
    let config = config::table2()?;
    let mut records: Vec<AccuracyRecord> = store::read_all(&out.join(FOLDER))?;
    let place = |record: &AccuracyRecord| {
        config.rows.iter().position(|row| row.dataset == record.identity.set)
    };
    // As the paper does, and models of a dataset by their names.
    records.sort_by_key(|record| (place(record), model(record)));
    Ok(table(&config, &records))
}

/// The datasets that are asked for, or all that there are, in the paper's order.
fn found(
    config: &Table2,
    plan: &Plan,
    environment: &Environment<'_>,
) -> Result<Vec<(String, Result<Provenance>)>> {
    let names: Vec<String> = config.rows.iter().map(|row| row.dataset.clone()).collect();
    let mut found = Vec::new();
    for name in datasets::asked(&names, &plan.datasets)? {
        if plan.quick && !datasets::has_at_most(config.quick.most_nodes, &name) {
            continue;
        }
        match datasets::find(&name, environment.datasets()) {
            Err(why) if plan.datasets.is_empty() => {
                (environment.tell)(&Event::LeftOut { what: &name, why: &why });
            }
            provenance => found.push((name, provenance)),
        }
    }
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    match found.is_empty() || plan.datasets.is_empty() && !datasets::are_some(&names) {
        true => Err(Error::NoDatasets { folder: environment.datasets().to_path_buf() }),
        false => Ok(found),
    }
}

/// Everything about one dataset.
struct AccuracyRun<'a> {
    dataset: &'a str,
    folder: &'a Path,
    config: &'a Table2,
    plan: &'a Plan,
}

impl AccuracyRun<'_> {
    /// From what is known and what has to be run.
    fn record(
        &self,
        provenance: &Provenance,
        environment: &Environment<'_>,
    ) -> Result<AccuracyRecord> {
        let AccuracyRun { dataset, folder, config, plan } = *self;
        let params = plan.model(environment);
        let (file, records) = provenance.records(environment)?;
        let identity = AccuracyIdentity {
            format: FORMAT,
            hg2v: env!("CARGO_PKG_VERSION").to_owned(),
            set: dataset.to_owned(),
            data: DataNote::of(&records),
            preset: plan.model_name.clone(),
            grid: plan.grid.map(|grid| grid.to_string()),
            configuration: environment.with_device(json!(params)),
            mode: Mode::Inductive,
            protocol: json!(environment.protocol()),
            seed: environment.seed,
        };
        let store: Store<AccuracyRecord> = Store::open(folder, identity.clone(), plan.fresh)?;
        let asked = plan.splits(config.splits, config.quick.splits);
        if let Some(record) = store.finished().filter(|record| record.splits >= asked) {
            let (splits, path) = (record.splits, store.path());
            (environment.tell)(&Event::Kept { what: dataset, splits, path });
            return Ok(record.clone());
        }
        if store.len() > 0 {
            (environment.tell)(&Event::GoesOn { what: dataset, results: store.len() });
        }

        let collection = environment.collect(Run::of(&records, &file), &params.needs())?;
        let study = environment.study(&collection, Mode::Inductive, asked)?;
        let judge = |kind: RowKind, method: &dyn Method, params: Option<&Hg2vParams>| {
            let key = RowKey { kind, shape: params.map(ModelShape::of) };
            let what = format!("{dataset}: {key}");
            let candidate = Candidate::Method(method);
            let result = environment.judge(&what, &study, candidate, &store, &key)?;
            Ok::<_, Error>(AccuracyRow { key, result })
        };
        let candidates =
            plan.grid.map_or_else(|| vec![params.clone()], |grid| grid.candidates(&params));
        let mut rows = Vec::new();
        for candidate in &candidates {
            rows.push(judge(RowKind::Hg2v, candidate, Some(candidate))?);
        }
        let chosen = &candidates[best(rows.iter().map(|row| &row.result))];
        rows.push(judge(RowKind::Untrained, &Untrained(chosen.clone()), Some(chosen))?);
        rows.push(judge(RowKind::Statistics, &Statistics::default(), None)?);
        let record = AccuracyRecord {
            identity,
            classes: study.classes().len(),
            majority: study.majority(),
            splits: asked,
            machine: Host::here(),
            chosen: ModelShape::of(chosen),
            rows,
        };
        store.finish(&record)?;
        Ok(record)
    }
}

const HEADER: [&str; 8] =
    ["set", "model", "paper", "HG2V", "untrained", "statistics", "largest class", "splits"];

/// Results beside the paper's.
fn table(config: &Table2, records: &[AccuracyRecord]) -> TextTable {
    let mut table = TextTable::new(2, HEADER);
    records.iter().for_each(|record| table.row(cells(config, record)));
    table.noting(
        "accuracy in percent on the test part: mean ± deviation over 80/20 splits, the model \
         trained on the 80 alone; C-SVM, settings chosen by 5-fold cross-validation; `paper` is \
         what the paper reports of HG2V",
    )
}

fn model(record: &AccuracyRecord) -> String {
    let AccuracyRecord { identity, chosen, .. } = record;
    match &identity.grid {
        None => identity.preset.clone(),
        Some(grid) => format!("{}, grid {grid}: {chosen}", identity.preset),
    }
}

fn cells(config: &Table2, record: &AccuracyRecord) -> [String; 8] {
    let of = |kind| record.row(kind).map_or_else(none, |row: &StudyResult| row.test.to_string());
    let paper = config.rows.iter().find(|row| row.dataset == record.identity.set);
    [
        record.identity.set.clone(),
        model(record),
        paper.map_or_else(none, |row| format!("{:.1} ± {:.1}", row.hg2v.mean, row.hg2v.std)),
        of(RowKind::Hg2v),
        of(RowKind::Untrained),
        of(RowKind::Statistics),
        format!("{:.1}", 100.0 * record.majority),
        record.splits.to_string(),
    ]
}
