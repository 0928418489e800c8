//! Tables of several methods: the columns of table 2 beside HG2V's, and table 4, the
//! ablations. Results are `hg2v compare`'s, kept where it keeps them.

use std::fs;
use std::path::Path;

use hg2v::Preset;
use hg2v::dataset::catalog;
use hg2v::error::{Action, Error};
use hg2v::prepare::Run;
use hg2v_baselines::registry;
use hg2v_eval::study::Mode;
use hg2v_eval::tables::{Reported, TABLE2, TABLE2_RIVALS, TABLE4};

use super::super::compare::cell::{Job, Record};
use super::table::markdown_of;
use super::{Args, Failure, QUICK_SPLITS, SPLITS, all_done, none_found, sets, tell};
use crate::context::Context;
use crate::store;
use crate::table::Table;
use crate::words::told;

/// A table of methods and sets.
pub(super) struct Methods {
    /// The names of `hg2v compare`.
    columns: &'static [&'static str],
    rows: Vec<&'static str>,
    paper: Vec<Reported>,
    /// Sets of more nodes in all are left out of a quick run.
    quick_nodes: f64,
}

/// All columns of table 2.
pub(super) fn table2() -> Methods {
    let own = |row: &hg2v_eval::tables::Published| Reported {
        set: row.set,
        method: "hg2v",
        accuracy: Some(row.mean),
    };
    Methods {
        columns: &["hg2v", "graph2vec", "infograph", "diffpool", "gin", "mincut", "wl-oa", "wwl"],
        rows: TABLE2.iter().map(|row| row.set).collect(),
        paper: TABLE2.iter().map(own).chain(TABLE2_RIVALS).collect(),
        quick_nodes: 6_000.0,
    }
}

/// The ablations.
pub(super) fn table4() -> Methods {
    let mut rows: Vec<&str> = TABLE4.iter().map(|cell| cell.set).collect();
    rows.dedup();
    Methods {
        columns: &["hg2v", "graph2vec-gnn", "graph2vec-loukas", "graph2vec"],
        rows,
        paper: TABLE4.to_vec(),
        quick_nodes: 20_000.0,
    }
}

/// What became of a method on a set.
enum Outcome {
    Judged(Box<Record>),
    Failed(String),
    /// Nobody has run it.
    Unknown,
}

impl Outcome {
    fn record(&self) -> Option<&Record> {
        match self {
            Outcome::Judged(record) => Some(record),
            Outcome::Failed(_) | Outcome::Unknown => None,
        }
    }
}

impl Methods {
    pub(super) fn run(&self, args: &Args, context: &Context) -> anyhow::Result<()> {
        if args.grid.is_some() {
            let requirement = "it is for table2's HG2V alone; leave it, or --rivals, out";
            return Err(Error::parameter("grid", "given", requirement).into());
        }
        // `compare` runs methods with their default settings.
        if args.preset != Preset::Default {
            let requirement = "methods are compared with their default settings";
            return Err(Error::parameter("preset", args.preset, requirement).into());
        }
        let folder = args.out.join("compare");
        if args.markdown {
            let rows: Vec<_> = self
                .rows
                .iter()
                .map(|&set| Ok((set, self.known(set, &folder)?)))
                .collect::<hg2v::Result<_>>()?;
            let some = |row: &&(&str, Vec<Outcome>)| {
                row.1.iter().any(|cell| !matches!(cell, Outcome::Unknown))
            };
            let lines: Vec<Vec<String>> =
                rows.iter().filter(some).map(|(set, row)| self.cells(set, row)).collect();
            return context.print(markdown_of(&self.header(), lines).trim_end());
        }
        let chosen = self.chosen(args, context)?;
        fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, Action::Create, e))?;
        let mut rows = Vec::new();
        for set in chosen {
            rows.push((set, self.judged(set, &folder, args, context)?));
        }
        self.report(&rows, args, context)
    }

    fn chosen(&self, args: &Args, context: &Context) -> anyhow::Result<Vec<&'static str>> {
        let data = sets::folder(context);
        let small = |set: &&str| {
            let nodes = catalog::find(set).map(|set| set.graphs as f64 * set.mean_nodes);
            !args.quick || nodes.is_some_and(|nodes| nodes <= self.quick_nodes)
        };
        let mut chosen = Vec::new();
        for set in sets::asked(&self.rows, &args.sets)?.into_iter().filter(small) {
            match sets::find(set, data) {
                Ok(_) => chosen.push(set),
                Err(missing) if args.sets.is_empty() => {
                    context.say(format!("{set}: left out, {missing}"));
                }
                Err(missing) => anyhow::bail!("{set}: {missing}"),
            }
        }
        // DLA is always there, but alone it is not what was meant.
        match chosen[..] {
            [] => Err(none_found(context).into()),
            ["DLA"] if args.sets.is_empty() => Err(none_found(context).into()),
            _ => Ok(chosen),
        }
    }

    /// What is known of a set.
    ///
    /// # Errors
    /// A file that is damaged, or of another version.
    fn known(&self, set: &str, folder: &Path) -> hg2v::Result<Vec<Outcome>> {
        let known = |method: &&str| {
            let path = folder.join(format!("{set}.{method}.json"));
            Ok(match path.exists() {
                true => Outcome::Judged(Box::new(store::read::<Record>(&path)?)),
                false => Outcome::Unknown,
            })
        };
        self.columns.iter().map(known).collect()
    }

    /// Judges all methods on a set; one that fails does not stop the others.
    fn judged(
        &self,
        set: &str,
        folder: &Path,
        args: &Args,
        context: &Context,
    ) -> anyhow::Result<Vec<Outcome>> {
        let origin = sets::find(set, sets::folder(context)).map_err(anyhow::Error::msg)?;
        let (file, records) = origin.records(context)?;
        let bar = context.progress("judging", Some(self.columns.len() as u64));
        let mut row = Vec::new();
        for &name in self.columns {
            let Ok(entry) = registry::find(name) else {
                row.push(Outcome::Unknown);
                continue;
            };
            bar.set_message(format!("{set}: {name}"));
            let job = Job {
                entry,
                set,
                graphs: Run::of(&records, &file),
                mode: Mode::Inductive,
                splits: args.splits.unwrap_or(if args.quick { QUICK_SPLITS } else { SPLITS }),
                fresh: args.fresh,
                alone: false,
                device: &args.device,
                cache: &args.cache,
            };
            let outcome = match job.judge(folder, context) {
                Ok(record) => Outcome::Judged(Box::new(record)),
                Err(error) => Outcome::Failed(told(&error)),
            };
            bar.suspend(|| context.say(format!("{set}: {name}: {}", shown_of(&outcome))));
            bar.inc(1);
            row.push(outcome);
        }
        bar.finish_and_clear();
        Ok(row)
    }

    fn header(&self) -> Vec<String> {
        ["set"].iter().chain(self.columns).map(|&name| name.to_owned()).collect()
    }

    /// Ours, and the paper's in brackets.
    fn cells(&self, set: &str, row: &[Outcome]) -> Vec<String> {
        let cell = |(outcome, method): (&Outcome, &&str)| {
            let paper = self.paper.iter().find(|cell| cell.set == set && cell.method == *method);
            let paper = paper.map_or_else(String::new, |cell| match cell.accuracy {
                Some(accuracy) => format!(" ({accuracy:.1})"),
                None => " (out of memory)".to_owned(),
            });
            format!("{}{paper}", shown_of(outcome))
        };
        let cells = row.iter().zip(self.columns).map(cell);
        std::iter::once(set.to_owned()).chain(cells).collect()
    }

    fn report(
        &self,
        rows: &[(&'static str, Vec<Outcome>)],
        args: &Args,
        context: &Context,
    ) -> anyhow::Result<()> {
        let all = || rows.iter().flat_map(|(set, row)| row.iter().map(move |cell| (*set, cell)));
        let failed: Vec<Failure> = all()
            .filter_map(|(set, cell)| match cell {
                Outcome::Failed(why) => Some((set, why.clone())),
                _ => None,
            })
            .collect();
        let records: Vec<&Record> = all().filter_map(|(_, cell)| cell.record()).collect();
        let of_set = rows.iter().filter_map(|(_, row)| row.iter().find_map(Outcome::record));
        let graphs = of_set.map(|record| record.identity.data.graphs).sum();
        if !tell(args, graphs, &records, &failed, context)? {
            let mut table = Table::new(1);
            table.row(self.header());
            rows.iter().for_each(|(set, row)| table.row(self.cells(set, row)));
            context.print(table.lines().join("\n"))?;
            context.print(
                "\naccuracy in percent on the test parts: mean ± deviation over 80/20 splits, \
                 methods trained on the 80 alone, as `hg2v compare` has it; in brackets the \
                 paper's, most of whose columns have other protocols",
            )?;
        }
        all_done(&failed, records.len())
    }
}

fn shown_of(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Judged(record) if record.splits == SPLITS => record.result.test.to_string(),
        Outcome::Judged(record) => format!("{} [{}]", record.result.test, record.splits),
        Outcome::Failed(_) => "failed".to_owned(),
        Outcome::Unknown => "–".to_owned(),
    }
}
