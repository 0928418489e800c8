//! `hg2v completions`: what a shell needs to finish commands.

use std::io;

use clap_complete::Shell;
use serde_json::json;

use crate::context::Context;

/// What a shell needs to finish commands and options by Tab
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v completions bash > ~/.local/share/bash-completion/completions/hg2v
  hg2v completions zsh > ~/.zfunc/_hg2v
  hg2v completions fish > ~/.config/fish/completions/hg2v.fish")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "hg2v", &mut script);
    let text = String::from_utf8_lossy(&script);
    match context.tell(json!({ "shell": args.shell.to_string(), "script": text }))? {
        true => Ok(()),
        false => Ok(io::Write::write_all(&mut io::stdout().lock(), &script)?),
    }
}
