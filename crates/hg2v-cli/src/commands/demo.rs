//! `hg2v demo`.

use crate::context::Context;

/// (not there yet)
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> anyhow::Result<()> {
    anyhow::bail!("not there yet")
}
