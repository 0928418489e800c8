//! The `hg2v` command: parse, call, print. One file a command under `commands/`.
//!
//! The binary is a few lines around [`run`], and so is the command that comes with the Python wheel.

mod commands;
mod context;
mod device;
mod distances;
mod experiments;
mod graphs;
mod interrupt;
mod json;
mod judgements;
mod method;
mod out;
mod predictions;
mod progress;
mod table;
mod threads;
mod vocabulary;
mod watch;
mod words;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};

use commands::Command;
use context::{Context, Global};
use json::Failed;

/// Graphs into vectors, without labels, and new graphs afterwards.
///
/// DATA is a TU folder or zip, a JSONL file (also .gz, or `-` for standard
/// input), a folder with edges.csv (+ nodes.csv, graphs.csv), a Parquet or GraphML file or a
/// folder of them, or the NAME of a known set found under --data-dir.
#[derive(Parser)]
#[command(name = "hg2v", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "\
Exit codes:
  0    done
  1    failed
  2    wrong usage or unreadable input
  129  stopped because its terminal went away (SIGHUP)
  130  stopped by Ctrl-C (SIGINT)
  143  stopped by SIGTERM")]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// How this process was started, and would be again.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// What was said to the command; the first is its own name.
    pub words: Vec<OsString>,
    /// The program and all its arguments, by which a method gets a process of its own.
    pub again: Vec<OsString>,
}

/// Runs the command, and says with which code the process is to end.
///
/// Its results and messages go to the standard streams. It listens for signals, and ends the process
/// itself where one asks for an end: to be called once a process, by a program that does nothing else.
pub fn run(invocation: &Invocation) -> u8 {
    let code = answer(invocation);
    // Only a binary of Rust does so by itself.
    let _ = io::stdout().flush();
    code
}

fn answer(invocation: &Invocation) -> u8 {
    let parsed = lenient(command()).try_get_matches_from(&invocation.words);
    let parsed = parsed.and_then(|m| Ok((Cli::from_arg_matches(&m)?, words(&m).join(" "))));
    let (cli, name) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return refuse(&error, &invocation.words),
    };
    let run = || {
        let context = Context::new(&cli.global, name, &invocation.again)?;
        let result = cli.command.run(&context);
        context.say_skipped();
        result
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => context::report(&error, cli.global.json),
        // What happened was said where it happened.
        Err(_) => {
            let bug = anyhow::anyhow!("hg2v broke down: this is a bug in hg2v; please report it");
            context::report(&bug, cli.global.json)
        }
    }
}

/// All that can be said to the command, as its help tells it.
fn command() -> clap::Command {
    Cli::command()
}

/// The words that name the command: `fit`, `datasets get`.
fn words(matches: &ArgMatches) -> Vec<&str> {
    match matches.subcommand() {
        Some((name, below)) => [vec![name], words(below)].concat(),
        None => Vec::new(),
    }
}

/// An option takes `-1` for its value, so that it can say what is wrong with that. What a variable
/// says is an option's default: usage lines, which tell what was typed, do not name it; and a
/// variable that is empty says nothing.
fn lenient(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| {
            let takes_value = !arg.is_positional() && arg.get_action().takes_values();
            let arg = arg.allow_negative_numbers(takes_value);
            let said = arg.get_env().and_then(std::env::var_os);
            let arg = arg.env(None::<&str>);
            match said.filter(|value| !value.is_empty()) {
                // A few bytes, once.
                Some(value) => arg.default_value(&*Box::leak(value.into_boxed_os_str())),
                None => arg,
            }
        })
        .mut_subcommands(lenient)
}

/// What the standard library says of a number that is none, in words that help.
const IN_WORDS: [(&str, &str); 3] = [
    ("invalid digit found in string", "it must be a whole number of at least 0"),
    ("invalid float literal", "it must be a number"),
    ("number too large to fit in target type", "it is too large"),
];

/// Says what is wrong with the command line (or what was asked: the help).
fn refuse(error: &clap::Error, said: &[OsString]) -> u8 {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // Help names the variables.
        let told = command().try_get_matches_from(said);
        return told.err().map_or(0, |help| help.print().map_or(1, |()| 0));
    }
    let in_words =
        |text: String| IN_WORDS.iter().fold(text, |text, (from, to)| text.replace(from, to));
    let text = error.render();
    let terminal = io::stderr().is_terminal();
    let shown = if terminal { text.ansi().to_string() } else { text.to_string() };
    let _ = write!(io::stderr(), "{}", in_words(shown));
    let text = in_words(text.to_string());
    let message = text.split("\n\n").next().unwrap_or_default();
    let failed = Failed::new(2, "usage", message.trim_start_matches("error: ").trim());
    if said.iter().any(|word| word == "--json") {
        failed.tell();
    }
    failed.code
}
