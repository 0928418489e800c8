//! `hg2v fit`: train a model.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use clap::builder::PossibleValuesParser;
use hg2v::context::Machine;
use hg2v::error::{Action, Error, Place};
use hg2v::graph::Aspects;
use hg2v::output::overwrite::replace_folder;
use hg2v::output::{OutputFolder, is_occupied};
use hg2v::prepare::{Notes, Run};
use hg2v::saved::{self, RunNote};
use hg2v::{
    CHECKPOINT_EVERY, Fit, Fitted, Hg2vParams, Method, Model, Resumable, TrainingFolder,
    is_unfinished,
};
use hg2v_baselines::registry::{self, METHODS};
use serde_json::json;

use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::{self, Asks, CacheArgs, say_findings, say_uses, uses};
use crate::interrupt::{self, Farewell, Stopped};
use crate::method::{DEFAULT_METHOD, MethodArgs};
use crate::out::ForceArgs;
use crate::table::counted;
use crate::vocabulary::words;
use crate::watch::Watch;
use crate::words::Command;

/// Train a model on a collection of graphs; labels are not used
///
/// The model is a folder: config.json (everything about it), model.safetensors
/// (its parameters), log.jsonl (the loss of every level, a line an epoch) and
/// run.json (on what, where and how long it was trained). A run of hg2v or graph2vec-gnn
/// that was stopped, by Ctrl-C or by force, goes on with --resume and ends in the same bits.
///
/// With --force the model takes the place of one that is there. Until it is trained it
/// stands beside that, as MODEL.new; --force and --resume go on there. A folder that holds
/// anything but a model is not replaced.
///
/// --method takes another method than HG2V. Every command takes any model. A kernel's model
/// compares a graph with landmarks, training graphs chosen at random, and turns that into
/// --dim numbers whose inner products are the kernel.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v fit MUTAG.zip --out mutag.model                    the default model
  hg2v fit graphs.jsonl --out m --dim 256 --epochs 20     a larger one, for longer
  hg2v fit graphs.jsonl --out m --preset paper            the paper's reading
  hg2v fit graphs.jsonl --out m --method wl-oa            a graph kernel as vectors
  hg2v fit graphs.jsonl --out m --device cuda             on an NVIDIA GPU
  hg2v fit graphs.jsonl --out m --resume                  go on after a stop, on any device")]
pub(crate) struct Args {
    /// The graphs
    data: PathBuf,
    /// The model's folder; a new or empty one
    #[arg(long, short, value_name = "MODEL")]
    out: PathBuf,
    #[arg(long, value_name = "NAME", value_parser = methods(), help = format!(
        "What learns the vectors [default: {DEFAULT_METHOD}, or the one that was stopped]"
    ))]
    method: Option<String>,
    /// Go on with the run that was stopped in MODEL
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    force: ForceArgs,
    /// Where the run is kept until it is done
    #[arg(skip)]
    folder: PathBuf,
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help = format!(
        "How much work a kill may cost; ends of epochs are kept ten times as often [default: {}]",
        *EVERY
    ))]
    checkpoint_every: Option<Duration>,
    #[command(flatten)]
    options: MethodArgs,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

/// Seconds between checkpoints, unless somebody says otherwise.
pub(super) static EVERY: LazyLock<String> =
    LazyLock::new(|| CHECKPOINT_EVERY.as_secs_f64().to_string());

/// The methods that learn vectors.
fn methods() -> PossibleValuesParser {
    let learning = METHODS.iter().filter(|entry| entry.vectors.is_some());
    words(learning.map(|entry| (entry.name, entry.about)))
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "it must be a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|_| "it must be 0 or more".to_owned())
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let started = Instant::now();
    let args = Args { folder: folder_of_run(&args)?, ..args };
    if let Some(name) = &args.method
        && args.options.method(name, context.seed())?.resumable().is_none()
    {
        return fit(&args, name, started, context);
    }
    train(&args, started, context)
}

/// Trains in the model's folder, where it can be stopped and resumed.
fn train(args: &Args, started: Instant, context: &Context) -> anyhow::Result<()> {
    let folder = match args.resume {
        true => TrainingFolder::resume(&args.folder)?,
        false => TrainingFolder::new(&args.folder)?,
    };
    let begun = folder.method().map(str::to_owned);
    let name = args.method.clone().or(begun.clone());
    let name = name.unwrap_or_else(|| DEFAULT_METHOD.to_owned());
    let method = match (folder.params(), begun) {
        (Some(stored), Some(begun)) => {
            check_resumed(args, &stored, name == begun, context)?;
            registry::find(&name)?.of_settings(stored.settings())?
        }
        _ => args.options.method(&name, context.seed())?,
    };
    let resumable = method.resumable();
    let resumable = resumable.ok_or_else(|| in_one_go("resume", &name))?;
    let (path, machine, fit) = prepare(args, resumable, context)?;
    // Before, there is nothing to keep; from here on a step has a moment to come to its end.
    let _farewell = Farewell::after_the_step(continuation(args, "stopped"));
    let watch = Watch::new(context);
    let work = graphs::on(&machine).watched_by(&watch);
    if let Some(step) = folder.resumes_after(&fit)? {
        context.say(format!("going on after step {step}"));
    }
    let trained = folder.train(&fit, args.checkpoint_every.unwrap_or(CHECKPOINT_EVERY), &work);
    drop(watch);
    let trained = trained.map_err(|error| match error {
        Error::Stopped => {
            let signal = interrupt::asked().unwrap_or_default();
            Stopped { signal, words: continuation(args, "stopped") }.into()
        }
        Error::Io { .. } => anyhow::anyhow!(continuation(args, &error.worded(&Command))),
        error => anyhow::Error::from(error),
    })?;
    saved::write_run(&args.folder, &note(args, path, trained.took, started))?;
    put_in_place(args)?;
    let last = trained.last.iter().flat_map(|step| &step.mean);
    let losses: Vec<f64> = last.map(|loss| loss.total()).collect();
    let made = Made {
        method: &name,
        notes: fit.notes,
        sees: trained.model.sees(),
        dim: trained.model.dim(),
        epochs: Some(fit.config.model.recipe.epochs),
        losses,
        took: trained.took,
    };
    report(args, &made, context)
}

/// Of a method that cannot go on after a stop.
fn in_one_go(option: &'static str, method: &str) -> Error {
    let requirement = format!("a model of {method} is fitted in one go: leave it out");
    Error::parameter(option, "given", requirement)
}

/// Fits a method that cannot go on after a stop.
fn fit(args: &Args, name: &str, started: Instant, context: &Context) -> anyhow::Result<()> {
    let given = [("resume", args.resume), ("checkpoint-every", args.checkpoint_every.is_some())];
    if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(in_one_go(option, name).into());
    }
    let method = args.options.method(name, context.seed())?;
    if is_occupied(&args.folder).map_err(|e| Error::io(&args.folder, Action::Read, e))? {
        return Err(Error::exists(&args.folder, "the folder is not empty", true).into());
    }
    let folder = OutputFolder::create_with_parents(&args.folder)?;
    let machine = args.device.open()?;
    let needs = method.needs();
    let graphs::Read { path, records, .. } =
        graphs::read(&args.data, Asks::Weights(needs.weights), context)?;
    let collection =
        graphs::collected(Run::of(&records, &path), &needs, args.cache.open(), context)?;
    if collection.is_empty() {
        let fix = "give a collection of at least one graph";
        return Err(
            Error::input(&path, Place::Whole, "there are no graphs to train on", fix).into()
        );
    }
    say_findings(&collection.notes.found, &needs, context);
    let watch = Watch::new(context);
    let fitted = Fitted::new(&*method, &collection, &graphs::on(&machine).watched_by(&watch))?;
    drop(watch);
    say_uses(collection.notes.brought, fitted.model.sees(), context);
    let note = note(args, path.clone(), fitted.took, started);
    let to = folder.working_path();
    let written = fitted.save_into(to).and_then(|()| saved::write_run(to, &note));
    written.map_err(|error| folder.named(error))?;
    folder.commit()?;
    put_in_place(args)?;
    let last = fitted.log.last();
    let made = Made {
        method: name,
        notes: collection.notes,
        sees: fitted.model.sees(),
        dim: fitted.model.dim(),
        epochs: last.map(|line| line.epoch),
        losses: last.map(|line| line.loss).into_iter().collect(),
        took: fitted.took,
    };
    report(args, &made, context)
}

/// How it was made.
fn note(args: &Args, path: PathBuf, took: Duration, started: Instant) -> RunNote {
    RunNote {
        // Standard input is nowhere afterwards.
        data: match path.as_os_str() == "-" {
            true => path,
            false => std::path::absolute(&path).unwrap_or(path),
        },
        device: args.device.describe(),
        threads: rayon::current_num_threads(),
        training_seconds: took.as_secs_f64(),
        whole_seconds: started.elapsed().as_secs_f64(),
    }
}

/// Puts the model in the place of the one that it replaces.
fn put_in_place(args: &Args) -> hg2v::Result<()> {
    if args.folder != args.out {
        replace_folder(&args.folder, &args.out)?;
    }
    Ok(())
}

/// Reads and coarsens the graphs, until all that is left is to train; also where they came from.
fn prepare(
    args: &Args,
    method: &dyn Resumable,
    context: &Context,
) -> anyhow::Result<(PathBuf, Machine, Fit)> {
    let started = Instant::now();
    // Before the graphs are read: a GPU that is not there is said at once.
    let machine = args.device.open()?;
    let needs = method.needs();
    let graphs::Read { path, records, .. } =
        graphs::read(&args.data, Asks::Weights(needs.weights), context)?;
    let run = Run::of(&records, &path);
    let collection = graphs::collected(run, &needs, args.cache.open(), context)?;
    let fit = method.prepare(&collection, &collection.all())?;
    say_findings(&fit.notes.found, &needs, context);
    say_uses(fit.notes.brought, fit.config.model.preparation.features.sees(), context);
    context.say(format!(
        "{} graphs, {} nodes; features: {}; {} parameters; coarsened in {:.2} s{}",
        fit.notes.graphs,
        fit.notes.nodes,
        fit.config.model.preparation.features,
        fit.num_parameters(),
        started.elapsed().as_secs_f64(),
        if fit.notes.from_cache > 0 { " (from the cache)" } else { "" },
    ));
    Ok((path, machine, fit))
}

/// Where the run is kept until it is done: in MODEL, or beside one that it is to replace.
fn folder_of_run(args: &Args) -> hg2v::Result<PathBuf> {
    let occupied =
        |folder: &Path| is_occupied(folder).map_err(|e| Error::io(folder, Action::Read, e));
    let out = args.out.clone();
    if !args.force.force || !occupied(&out)? {
        return Ok(out);
    }
    saved::check_replaceable(&out)?;
    let beside = beside(&out)?;
    match (args.resume, occupied(&beside)?) {
        (true, false) if is_unfinished(&out) => return Ok(out),
        // A run that was stopped, and is not gone on with.
        (false, true) => {
            saved::check_replaceable(&beside)?;
            fs::remove_dir_all(&beside).map_err(|e| Error::io(&beside, Action::Remove, e))?;
        }
        _ => {}
    }
    Ok(beside)
}

/// `MODEL.new`, beside the folder itself and not beside a link to it: on the same disk.
fn beside(model: &Path) -> hg2v::Result<PathBuf> {
    // Without a slash at the end.
    let model: PathBuf = model.components().collect();
    let model = match model.file_name() {
        Some(_) if !model.is_symlink() => model,
        _ => fs::canonicalize(&model).map_err(|e| Error::io(&model, Action::Read, e))?,
    };
    let mut name = model.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    Ok(model.with_file_name(name))
}

/// Refuses options given again that do not agree with what the stored run was started with.
fn check_resumed(
    args: &Args,
    stored: &Hg2vParams,
    same_method: bool,
    context: &Context,
) -> anyhow::Result<()> {
    let given = args.options.again(stored)?;
    let seed = context.global.seed.unwrap_or(stored.recipe.seed);
    if !same_method || given != *stored || seed != stored.recipe.seed {
        return Err(Error::input(
            args.folder.join(saved::CONFIG),
            Place::Whole,
            "the run in this folder was started with other options",
            "leave the options out, or name another folder",
        )
        .into());
    }
    Ok(())
}

fn continuation(args: &Args, why: &str) -> String {
    let (data, out) = (args.data.display(), args.out.display());
    let force = if args.folder == args.out { "" } else { " --force" };
    format!("{why}; the run goes on where it is with: hg2v fit {data} --out {out} --resume{force}")
}

/// What was made, to be reported.
struct Made<'a> {
    method: &'a str,
    notes: Notes,
    sees: Aspects,
    dim: usize,
    epochs: Option<u64>,
    losses: Vec<f64>,
    took: Duration,
}

fn report(args: &Args, made: &Made<'_>, context: &Context) -> anyhow::Result<()> {
    let training = made.took.as_secs_f64();
    let [used, unused] = uses(made.notes.brought, made.sees);
    context.tell(json!({
        "data": args.data, "out": args.out, "method": made.method, "graphs": made.notes.graphs,
        "nodes": made.notes.nodes, "dim": made.dim, "epochs": made.epochs,
        "losses": made.losses, "timings": {"training": training},
        "used": used, "unused": unused,
    }))?;
    context.say(match made.epochs {
        Some(epochs) => {
            let losses: Vec<String> = made.losses.iter().map(|loss| format!("{loss:.4}")).collect();
            format!(
                "trained {} in {training:.2} s; the last epoch's loss{}: {}",
                counted(epochs, "epoch"),
                if losses.len() > 1 { ", level by level" } else { "" },
                losses.join(", ")
            )
        }
        None => format!(
            "fitted {} to {} in {training:.2} s; vectors of {} numbers",
            made.method,
            counted(made.notes.graphs, "graph"),
            made.dim
        ),
    });
    context.say(format!(
        "wrote {0}; embed any graphs with: hg2v embed {0} DATA --out vectors.parquet",
        args.out.display()
    ));
    Ok(())
}
