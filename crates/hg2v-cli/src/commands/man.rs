//! `hg2v man`: manual pages.

use std::io::Write;
use std::path::PathBuf;

use clap_mangen::Man;
use hg2v::error::Error;
use hg2v::output::OutputFile;

use crate::context::Context;

/// Manual pages, one a command
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v man ~/.local/share/man/man1 && man hg2v-fit")]
pub(crate) struct Args {
    /// The folder to write them to; it is made where it is missing
    folder: PathBuf,
}

/// A command, its subcommands, and theirs.
fn with_subcommands(command: &clap::Command) -> Vec<&clap::Command> {
    let below = command.get_subcommands().filter(|command| command.get_name() != "help");
    [command].into_iter().chain(below.flat_map(with_subcommands)).collect()
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    std::fs::create_dir_all(&args.folder).map_err(|e| Error::io(&args.folder, "write", e))?;
    let mut command = crate::command();
    // Names subcommands in full.
    command.build();
    let commands = with_subcommands(&command);
    for &command in &commands {
        let page = Man::new(command.clone());
        let path = args.folder.join(page.get_filename());
        let mut text = Vec::new();
        page.render(&mut text)?;
        let mut file = OutputFile::create(&path)?;
        file.write_all(&text).map_err(|e| Error::io(&path, "write", e))?;
        file.commit()?;
    }
    let count = commands.len();
    context.say(format!("{count} pages in {}", args.folder.display()));
    Ok(())
}
