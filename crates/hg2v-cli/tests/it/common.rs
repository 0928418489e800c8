//! The command in a folder of its own.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The command, to be run in `folder` with the cache there.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("hg2v"));
    command
        .current_dir(folder)
        .env_remove("HG2V_DATA")
        .env("HG2V_CACHE", folder.join("cache"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Its exit code, and what it said on standard output and standard error.
pub(crate) fn output_of(mut command: Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

pub(crate) fn hg2v(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    output_of(command(folder, arguments))
}

/// As [`hg2v`], where it must succeed.
pub(crate) fn done(folder: &Path, arguments: &[&str]) -> (String, String) {
    let (code, out, err) = hg2v(folder, arguments);
    assert_eq!(code, 0, "{arguments:?}: {err}");
    (out, err)
}

/// A folder with graphs of two kinds, `graphs.jsonl`: sixty of forty nodes, where
/// `options` do not say otherwise.
pub(crate) fn folder_with_graphs(options: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut make = vec!["generate", "dla", "--out", "graphs.jsonl"];
    make.extend(if options.is_empty() { &["--graphs", "60", "--nodes", "40"] } else { options });
    done(folder.path(), &make);
    folder
}

/// Writes one image, `images`, and its label, `labels`, as idx files.
pub(crate) fn write_idx(folder: &Path) {
    let idx = |dims: &[u32], bytes: &[u8]| {
        let mut all = vec![0, 0, 8, dims.len() as u8];
        all.extend(dims.iter().flat_map(|dim| dim.to_be_bytes()));
        all.extend(bytes);
        all
    };
    fs::write(folder.join("images"), idx(&[1, 2, 2], &[0, 9, 9, 9])).unwrap();
    fs::write(folder.join("labels"), idx(&[1], &[7])).unwrap();
}

/// Waits until the run in `model` has a checkpoint.
pub(crate) fn wait_for_checkpoint(child: &mut Child, model: &Path) {
    let started = Instant::now();
    while !model.join("checkpoint.safetensors").exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "no checkpoint appeared");
        assert!(child.try_wait().unwrap().is_none(), "the run ended before its checkpoint");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Kills a command as soon as a file that it writes has so many lines.
pub(crate) fn kill_after_lines(child: &mut Child, path: &Path, lines: usize) {
    let started = Instant::now();
    while fs::read_to_string(path).unwrap_or_default().lines().count() < lines {
        assert!(started.elapsed() < Duration::from_secs(60), "no split was judged");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
