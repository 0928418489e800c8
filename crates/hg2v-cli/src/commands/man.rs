//! `hg2v man`: manual pages.

use std::io::Write;
use std::path::PathBuf;

use clap_mangen::Man;
use hg2v::error::{Action, Error};
use hg2v::output::OutputFile;
use serde_json::json;

use crate::context::Context;
use crate::out::ForceArgs;

/// Manual pages, one a command
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v man ~/.local/share/man/man1 && man hg2v-fit")]
pub(crate) struct Args {
    /// The folder to write them to; it is made where it is missing
    folder: PathBuf,
    #[command(flatten)]
    force: ForceArgs,
}

/// A command, its subcommands, and theirs.
fn with_subcommands(command: &clap::Command) -> Vec<&clap::Command> {
    let below = command.get_subcommands().filter(|command| command.get_name() != "help");
    [command].into_iter().chain(below.flat_map(with_subcommands)).collect()
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    std::fs::create_dir_all(&args.folder).map_err(|e| Error::io(&args.folder, Action::Write, e))?;
    let mut command = crate::command();
    // Names subcommands in full.
    command.build();
    let mut pages = Vec::new();
    // All of them are begun before the first gets its name.
    for command in with_subcommands(&command) {
        let page = Man::new(command.clone());
        let path = args.folder.join(page.get_filename());
        let mut text = Vec::new();
        page.render(&mut text)?;
        let mut file = OutputFile::create(args.force.at(&path))?;
        file.write_all(&text).map_err(|e| Error::io(&path, Action::Write, e))?;
        pages.push((path, file));
    }
    let mut written = Vec::new();
    for (path, file) in pages {
        file.commit()?;
        written.push(path);
    }
    context.say(format!("{} pages in {}", written.len(), args.folder.display()));
    context.tell(json!({ "out": args.folder, "pages": written }))?;
    Ok(())
}
