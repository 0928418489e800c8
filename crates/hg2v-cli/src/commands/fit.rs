//! `hg2v fit`: train a model.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hg2v::error::{Action, Error, Place};
use hg2v::output::overwrite::replace_folder;
use hg2v::output::{OutputFile, OutputFolder, is_occupied};
use hg2v::prepare::Run;
use hg2v::saved::{self, Config, LogLine, RunNote};
use hg2v::train::{End, Flow, State, Step};
use hg2v::{Failure, Fit, Hg2v, Hg2vParams};
use serde_json::json;

use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::{self, Asks, CacheArgs, say_findings};
use crate::interrupt::{self, Farewell, Stopped};
use crate::network::NetworkArgs;
use crate::out::ForceArgs;
use crate::progress::Progress;
use crate::table::counted;
use crate::words::Command;

/// Train a model on a collection of graphs; labels are not used
///
/// The model is a folder: config.json (everything about it), model.safetensors
/// (its parameters), log.jsonl (the loss of every level, a line an epoch) and
/// run.json (on what, where and how long it was trained). A run that was stopped,
/// by Ctrl-C or by force, goes on with --resume and ends in the same bits.
///
/// With --force the model takes the place of one that is there. Until it is trained it
/// stands beside that, as MODEL.new; --force and --resume go on there. A folder that holds
/// anything but a model is not replaced.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v fit MUTAG.zip --out mutag.model                    the default model
  hg2v fit graphs.jsonl --out m --dim 256 --epochs 20     a larger one, for longer
  hg2v fit graphs.jsonl --out m --preset paper            the paper's reading
  hg2v fit graphs.jsonl --out m --device cuda             on an NVIDIA card
  hg2v fit graphs.jsonl --out m --resume                  go on after a stop, on any device")]
pub(crate) struct Args {
    /// The graphs
    data: PathBuf,
    /// The model's folder; a new or empty one
    #[arg(long, short, value_name = "MODEL")]
    out: PathBuf,
    /// Go on with the run that was stopped in MODEL
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    force: ForceArgs,
    /// Where the run is kept until it is done
    #[arg(skip)]
    folder: PathBuf,
    /// How much work a kill may cost; ends of epochs are kept ten times as often
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    checkpoint_every: Duration,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "it must be a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|_| "it must be 0 or more".to_owned())
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let started = Instant::now();
    let args = Args { folder: folder_of_run(&args)?, ..args };
    let stored = stored_run(&args)?;
    let params = match &stored {
        Some(config) => resumed_params(&args, config, context)?,
        None => args.network.params(context.seed())?,
    };
    params.check()?;
    let new = if stored.is_none() { new_folder(&args.folder)? } else { None };
    let (path, fit) = prepare(&args, &params, stored.as_ref(), context)?;
    if stored.is_none() {
        begin(&args.folder, new, &fit.config)?;
    }
    // Before, there is nothing to keep; from here on a step has a moment to come to its end.
    let _farewell = Farewell::after_the_step(continuation(&args, "stopped"));
    let trained = train(&args, &fit, context)?;
    let note = RunNote {
        // Standard input is nowhere afterwards.
        data: match path.as_os_str() == "-" {
            true => path,
            false => std::path::absolute(&path).unwrap_or(path),
        },
        device: args.device.describe(),
        threads: rayon::current_num_threads(),
        training_seconds: trained.took.as_secs_f64(),
        whole_seconds: started.elapsed().as_secs_f64(),
    };
    saved::write_run(&args.folder, &note).map_err(|error| unfinished(&args, &error))?;
    trained.model.save_into(&args.folder).map_err(|error| unfinished(&args, &error))?;
    saved::remove_checkpoint(&args.folder)?;
    if args.folder != args.out {
        replace_folder(&args.folder, &args.out)?;
    }
    report(&args, &params, &fit, &trained, context)
}

/// Reads and coarsens the graphs, until all that is left is to train; also where they came from.
fn prepare(
    args: &Args,
    params: &Hg2vParams,
    stored: Option<&Config>,
    context: &Context,
) -> anyhow::Result<(PathBuf, Fit)> {
    let started = Instant::now();
    // Before the graphs are read: a card that is not there is said at once.
    let machine = args.device.open()?;
    let graphs::Read { path, records, .. } =
        graphs::read(&args.data, Asks::Weights(params.weights), context)?;
    let run = Run::of(&records, &path);
    let collection = graphs::coarsened(params, run, args.cache.open().as_ref(), context)?;
    let fit = Fit { machine, ..params.prepare(&collection, None)? };
    if stored.is_some_and(|stored| stored.data != fit.config.data) {
        return Err(Error::input(
            &path,
            Place::Whole,
            "these are not the graphs that the run in the folder was started with",
            format!("give the same DATA, or another folder than {}", args.out.display()),
        )
        .into());
    }
    say_findings(&fit.notes.found, context);
    context.say(format!(
        "{} graphs, {} nodes; features: {}; {} parameters; coarsened in {:.2} s{}",
        fit.notes.graphs,
        fit.notes.nodes,
        fit.config.preparation.features,
        fit.network.layout.len,
        started.elapsed().as_secs_f64(),
        if fit.notes.from_cache > 0 { " (from the cache)" } else { "" },
    ));
    Ok((path, fit))
}

/// What training gave: a model, its last epoch's end, and how long it took.
struct Trained {
    model: Hg2v,
    last: Option<Step>,
    took: Duration,
}

/// Trains, from the folder's checkpoint where the run is resumed; checkpoints and the log are kept
/// in the folder on the way.
fn train(args: &Args, fit: &Fit, context: &Context) -> anyhow::Result<Trained> {
    let state = match args.resume {
        true => saved::read_checkpoint(&args.folder, &fit.network.layout)?,
        false => None,
    };
    let mut log = Log::open(&args.folder, state.as_ref().map_or(0, |state| state.step))?;
    if let Some(state) = &state {
        context.say(format!("going on after step {}", state.step));
    }
    let started = Instant::now();
    let mut saved = Instant::now();
    let mut saved_step = 0;
    let mut last = None;
    let bar = context.progress("training", Some(1));
    let ended = fit.train_keeping(state.as_ref(), |state: &dyn Fn() -> State, step: &Step| {
        show(&bar, step);
        if step.ends_epoch {
            log.add(step, started.elapsed())?;
            last = Some(step.clone());
        }
        let stopping = interrupt::asked().is_some();
        let every =
            if step.ends_epoch { args.checkpoint_every / 10 } else { args.checkpoint_every };
        if stopping || saved.elapsed() >= every {
            saved::write_checkpoint(&args.folder, &state())?;
            saved = Instant::now();
            saved_step = step.step + 1;
        }
        Ok(if stopping { Flow::Pause } else { Flow::Continue })
    });
    bar.finish_and_clear();
    match ended {
        Ok((model, End::Done)) => Ok(Trained { model, last, took: started.elapsed() }),
        Ok((_, End::Paused)) => {
            let signal = interrupt::asked().unwrap_or_default();
            Err(Stopped { signal, words: continuation(args, "stopped") }.into())
        }
        // The last checkpoint and the log up to it are what the run goes on from.
        Err(Failure { error: error @ Error::Io { .. }, .. }) => Err(unfinished(args, &error)),
        Err(Failure { error, good }) => {
            // A card that fails spoils nothing that was saved before.
            let later = matches!(error, Error::Device { .. }).then_some(saved_step);
            if let Some(good) = good.filter(|good| later.is_none_or(|step| step <= good.step)) {
                saved::write_checkpoint(&args.folder, &good)?;
            }
            Err(error.into())
        }
    }
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

fn is_unfinished(folder: &Path) -> bool {
    saved::read_config(folder).is_ok_and(|config| config.parameters_sha256.is_none())
}

/// The run that stands in the folder, where one is to be resumed.
fn stored_run(args: &Args) -> anyhow::Result<Option<Config>> {
    let occupied =
        is_occupied(&args.folder).map_err(|e| Error::io(&args.folder, Action::Read, e))?;
    if !args.resume {
        if occupied {
            let problem = match is_unfinished(&args.folder) {
                true => "a training stands there that is not finished (--resume goes on with it)",
                false => "the folder is not empty",
            };
            return Err(Error::exists(&args.folder, problem, true).into());
        }
        return Ok(None);
    }
    if !occupied {
        return Ok(None);
    }
    let config = saved::read_config(&args.folder)?;
    if config.parameters_sha256.is_some() {
        return Err(Error::input(
            &args.folder,
            Place::Whole,
            "the training of this model is finished",
            "use it, name another folder, or train another in its place with --force",
        )
        .into());
    }
    Ok(Some(config))
}

/// What the stored run was started with; options given again must agree.
fn resumed_params(args: &Args, config: &Config, context: &Context) -> anyhow::Result<Hg2vParams> {
    let stored = Hg2vParams {
        architecture: config.architecture.clone(),
        recipe: config.recipe,
        coarsening: config.preparation.coarsening,
        weights: config.preparation.weights,
        features: config.feature_choice,
    };
    let given = args.network.again(&stored)?;
    let seed = context.global.seed.unwrap_or(stored.recipe.seed);
    if given != stored || seed != stored.recipe.seed {
        return Err(Error::input(
            args.folder.join(saved::CONFIG),
            Place::Whole,
            "the run in this folder was started with other options",
            "leave the options out, or name another folder",
        )
        .into());
    }
    Ok(stored)
}

/// The folder of a new run, unless an empty one is there; one that cannot be written is refused
/// before anything is computed.
fn new_folder(path: &Path) -> hg2v::Result<Option<OutputFolder>> {
    // An empty one may be a disk of its own, or where we stand: it stays.
    if path.is_dir() {
        return OutputFile::create(&path.join(saved::CONFIG)).map(|_| None);
    }
    OutputFolder::create_with_parents(path).map(Some)
}

/// Begins a run in a folder: a new one appears with its configuration in it.
fn begin(path: &Path, new: Option<OutputFolder>, config: &Config) -> hg2v::Result<()> {
    let Some(new) = new else { return saved::write_config(path, config) };
    saved::write_config(new.working_path(), config).map_err(|error| new.named(error))?;
    new.commit()
}

/// Why a run stopped, and how it goes on.
fn unfinished(args: &Args, why: &Error) -> anyhow::Error {
    anyhow::anyhow!(continuation(args, &why.worded(&Command)))
}

fn continuation(args: &Args, why: &str) -> String {
    let (data, out) = (args.data.display(), args.out.display());
    let force = if args.folder == args.out { "" } else { " --force" };
    format!("{why}; the run goes on where it is with: hg2v fit {data} --out {out} --resume{force}")
}

fn show(bar: &Progress, step: &Step) {
    if !bar.is_shown() {
        return;
    }
    let losses: Vec<String> = step.mean.iter().map(|loss| format!("{:.3}", loss.total())).collect();
    bar.set_length(step.total);
    bar.set_position(step.step + 1);
    bar.set_message(format!("training, epoch {}, loss {}", step.epoch + 1, losses.join(" ")));
}

/// `log.jsonl`, a line an epoch.
struct Log {
    path: PathBuf,
    file: fs::File,
}

impl Log {
    /// Keeps the lines up to `step`, which a resumed run will not write again.
    fn open(folder: &Path, step: u64) -> hg2v::Result<Log> {
        let path = folder.join(saved::LOG);
        let failed = |e| Error::io(&path, Action::Write, e);
        let mut kept = saved::read_log(folder)?;
        kept.retain(|line| line.step <= step);
        saved::write_log(folder, &kept)?;
        let file = OpenOptions::new().append(true).open(&path).map_err(failed)?;
        Ok(Log { path, file })
    }

    fn add(&mut self, step: &Step, elapsed: Duration) -> hg2v::Result<()> {
        let failed = |e| Error::io(&self.path, Action::Write, e);
        let line = LogLine::of(step, elapsed).text().map_err(failed)?;
        self.file.write_all(line.as_bytes()).map_err(failed)
    }
}

fn report(
    args: &Args,
    params: &Hg2vParams,
    fit: &Fit,
    trained: &Trained,
    context: &Context,
) -> anyhow::Result<()> {
    let last = trained.last.iter().flat_map(|step| &step.mean);
    let losses: Vec<f64> = last.map(|loss| loss.total()).collect();
    let training = trained.took.as_secs_f64();
    context.tell(json!({
        "data": args.data, "out": args.out, "graphs": fit.notes.graphs, "nodes": fit.notes.nodes,
        "dim": fit.network.layout.embedding_dim(), "epochs": params.recipe.epochs,
        "losses": losses, "timings": {"training": training},
    }))?;
    let losses: Vec<String> = losses.iter().map(|loss| format!("{loss:.4}")).collect();
    context.say(format!(
        "trained {} in {:.2} s; the last epoch's loss, level by level: {}",
        counted(params.recipe.epochs, "epoch"),
        training,
        losses.join(", ")
    ));
    context.say(format!(
        "wrote {0}; embed any graphs with: hg2v embed {0} DATA --out vectors.parquet",
        args.out.display()
    ));
    Ok(())
}
