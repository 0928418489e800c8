//! The `hg2v` command as a program of its own.

use std::env;
use std::process::ExitCode;

use hg2v_cli::Invocation;

/// Graphs are read on one thread and forgotten on another, many small pieces each; the system's
/// allocator spent a fifth of embedding molecules on that, and threads waited for each other.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let words: Vec<_> = env::args_os().collect();
    // A system that does not say which program this is knows it by its name.
    let program = env::current_exe().map(Into::into).unwrap_or_else(|_| "hg2v".into());
    let again = [program].into_iter().chain(words.iter().skip(1).cloned()).collect();
    ExitCode::from(hg2v_cli::run(&Invocation { words, again }))
}
