//! `hg2v datasets`: the known sets, and how to get them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use hg2v::dataset::catalog::{self, KNOWN, KnownSet, Origin};
use hg2v::dataset::download::{self, DEFAULT_BASE, Got, Patience};
use hg2v::dataset::locate;
use serde::Serialize;
use serde_json::json;

use hg2v::error::{Error, Opt};

use crate::context::Context;
use crate::out::ForceArgs;
use crate::words::made;

/// The known sets: list them, download them
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hg2v datasets list
  hg2v datasets get MUTAG ENZYMES --data-dir data && hg2v info MUTAG --data-dir data")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the sets of the paper, and which are under --data-dir
    List,
    /// Download sets into --data-dir (or the current folder)
    ///
    /// A download that was cut is taken up where it stopped. What arrives is read and compared
    /// with the published statistics and the fingerprint of the content before it gets its name.
    /// A set that is there and right is left as it is.
    Get {
        /// Names of sets, as `hg2v datasets list` shows them
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Address that has NAME.zip
        #[arg(long, value_name = "URL", env = "HG2V_BASE_URL", default_value = DEFAULT_BASE)]
        base: String,
        #[command(flatten)]
        force: ForceArgs,
    },
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    match args.command {
        Command::List => list(context),
        Command::Get { names, base, force } => get(&names, &base, force, context),
    }
}

/// A set, and where it is.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    set: &'static KnownSet,
    /// The file or folder that NAME would open.
    path: Option<PathBuf>,
    /// How it is made, where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<&'static str>,
}

fn list(context: &Context) -> anyhow::Result<()> {
    let folder = context.global.data_dir.as_deref();
    let listed: Vec<Listed> = KNOWN
        .iter()
        .map(|set| Listed {
            set,
            path: folder.and_then(|_| locate(Path::new(set.name), folder).ok()),
            made: (set.origin == Origin::Made).then(|| made(set.name)),
        })
        .collect();
    if context.tell(json!({ "sets": listed }))? {
        return Ok(());
    }
    let mut table = format!(
        "{:<16} {:>6} {:>7} {:>9} {:>9}  {:<7} about\n",
        "name", "graphs", "classes", "nodes", "edges", "present"
    );
    for Listed { set, path, .. } in &listed {
        writeln!(
            table,
            "{:<16} {:>6} {:>7} {:>9.2} {:>9.2}  {:<7} {}",
            set.name,
            set.graphs,
            set.classes,
            set.mean_nodes,
            set.mean_edges,
            if path.is_some() { "yes" } else { "no" },
            set.about,
        )?;
    }
    table.push_str("\nnodes and edges are averages a graph: as published, or as made\n");
    for set in KNOWN.iter().filter(|set| set.origin == Origin::Made) {
        writeln!(table, "{}: {}", set.name, made(set.name))?;
    }
    context.print(table.trim_end())
}

/// What `get` did for one set.
#[derive(Serialize)]
struct Fetched {
    name: &'static str,
    path: PathBuf,
    already_there: bool,
    bytes: Option<u64>,
}

fn get(names: &[String], base: &str, force: ForceArgs, context: &Context) -> anyhow::Result<()> {
    // All names are checked before the first byte is fetched.
    let sets: Vec<&KnownSet> = names.iter().map(|name| known(name)).collect::<Result<_, _>>()?;
    if let Some(set) = sets.iter().find(|set| set.origin == Origin::Made) {
        let requirement = format!("this set is made, not downloaded: {}", made(set.name));
        return Err(Error::argument("the set", set.name, requirement).into());
    }
    let folder = context.global.data_dir.as_deref().unwrap_or(Path::new("."));
    let mut fetched = Vec::new();
    for set in sets {
        let bar = context.progress(set.name, Some(0));
        let mut progress = |done, total: Option<u64>| {
            bar.set_length(total.unwrap_or(done));
            bar.set_position(done);
        };
        let (to, patience) = (force.at(folder), Patience::default());
        let got = download::get(set, to, base, &context.limits, &patience, &mut progress);
        bar.finish_and_clear();
        let (path, bytes) = match got? {
            Got::Already(path) => {
                context.say(format!("{}: already there and right", path.display()));
                (path, None)
            }
            Got::Fetched { path, bytes, resumed_from } => {
                let resumed = match resumed_from {
                    0 => String::new(),
                    earlier => format!(", {earlier} of them from an earlier run"),
                };
                context.say(format!("{}: {bytes} bytes{resumed}; content checked", path.display()));
                (path, Some(bytes))
            }
        };
        fetched.push(Fetched { name: set.name, path, already_there: bytes.is_none(), bytes });
    }
    context.tell(json!({ "sets": fetched }))?;
    Ok(())
}

fn known(name: &str) -> hg2v::Result<&'static KnownSet> {
    catalog::find(name).ok_or_else(|| hg2v::Error::Unknown {
        option: Opt::new("NAME"),
        name: name.to_owned(),
        known: catalog::KNOWN.iter().map(|set| set.name.to_owned()).collect(),
    })
}
