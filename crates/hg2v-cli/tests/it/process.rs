//! Signals, kills and threads that are not to be had: what a process leaves, and how it ends.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{command, done, folder_with_graphs, hg2v, output_of};
use crate::server::{Serve, Server};

const SMALL: [&str; 8] = ["--dim", "8", "--hops", "2", "--levels", "2", "--epochs", "2"];

/// Graphs and a model `m` of them.
fn folder_with_model() -> tempfile::TempDir {
    let folder = folder_with_graphs(&[]);
    done(folder.path(), &[&["fit", "graphs.jsonl", "--out", "m"][..], &SMALL].concat());
    folder
}

/// Waits until `ready`, as long as anybody would.
fn wait_until(what: &str, ready: impl Fn() -> bool) {
    let started = Instant::now();
    while !ready() {
        assert!(started.elapsed() < Duration::from_secs(120), "{what}");
        sleep(Duration::from_millis(5));
    }
}

fn send(signal: &str, child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
}

/// Whether a process hears SIGTERM by now.
fn listens(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
    u64::from_str_radix(mask.trim(), 16).unwrap() >> 14 & 1 == 1
}

fn lives(id: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    // Whoever inherits it may take a while to bury it.
    !status.is_empty() && !status.contains("Z (zombie)")
}

/// Everything in a folder but the cache, by name.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name != "cache");
    names.sort();
    names
}

/// What is half written in a folder.
fn half_written(folder: &Path) -> Vec<String> {
    names(folder).into_iter().filter(|name| name.starts_with(".hg2v-")).collect()
}

/// A command that has read a graph from a pipe and waits for more.
fn waiting(folder: &Path, arguments: &[&str]) -> (Child, ChildStdin) {
    let mut child = command(folder, arguments).stdin(Stdio::piped()).spawn().unwrap();
    let mut graphs = child.stdin.take().unwrap();
    graphs.write_all(b"{\"edges\":[[0,1]],\"x\":[[0,0],[1,1]],\"y\":1}\n").unwrap();
    (child, graphs)
}

#[test]
fn the_code_tells_which_signal_ended_a_command() {
    let folder = folder_with_model();
    let at = folder.path();
    let row = |i: u64| format!("{},{}\n", i * i % 1009, i * i * i % 2003);
    fs::write(at.join("many.csv"), "a,b\n".to_owned() + &(0..20_000).map(row).collect::<String>())
        .unwrap();
    let before = names(at);
    for words in [
        "fit - --out x",
        "embed m - --out x.npy",
        "embed m - --out x.parquet",
        "evaluate - --predictions x.jsonl",
        "convert - x.zip",
        "convert - x --format csv",
        "coarsen - --out x.jsonl",
        "info -",
        "report m --data - --out x.html",
        "search m - --data graphs.jsonl",
        "generate dla --graphs 100000000 --out x.parquet",
        "compare graphs.jsonl --methods hg2v --splits 1000",
        "demo --graphs 100000 --out x",
        "project many.csv --method tsne --out x.csv",
    ] {
        for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
            let (child, graphs) = waiting(at, &words.split(' ').collect::<Vec<_>>());
            wait_until("nobody listens", || listens(&child));
            sleep(Duration::from_millis(30));
            send(signal, &child);
            let output = child.wait_with_output().unwrap();
            drop(graphs);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{words}, {signal}: {said}");
            assert!(!said.contains("failed"), "{words}, {signal}: {said}");
            assert_eq!(names(at), before, "{words}, {signal}");
        }
    }
    let (child, graphs) = waiting(at, &["info", "-", "--json"]);
    wait_until("nobody listens", || listens(&child));
    send("-INT", &child);
    let output = child.wait_with_output().unwrap();
    drop(graphs);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["error"]["code"], &told["error"]["kind"]), (&130.into(), &"stopped".into()));
}

#[test]
fn the_help_and_the_documentation_have_the_same_codes() {
    let (help, _) = done(Path::new("."), &["--help"]);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/command.md");
    let page = fs::read_to_string(page).unwrap();
    let code = |text: &str| text.trim().parse::<u8>().ok();
    let in_page: Vec<u8> =
        page.lines().filter_map(|line| code(line.strip_prefix('|')?.split('|').next()?)).collect();
    let (_, listed) = help.split_once("Exit codes:").unwrap();
    let in_help: Vec<u8> =
        listed.lines().filter_map(|line| code(line.split_whitespace().next()?)).collect();
    assert_eq!(in_page, [0, 1, 2, 129, 130, 143]);
    assert_eq!(in_help, in_page);
}

#[test]
fn a_step_that_takes_long_is_cut_short_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let grid = ["generate", "grid", "--graphs", "1", "--rows", "200", "--columns", "200"];
    done(at, &[&grid[..], &["--out", "graphs.jsonl"]].concat());
    // A step of minutes.
    let fit = ["fit", "graphs.jsonl", "--out", "m", "--dim", "512", "--epochs", "1"];
    let child = command(at, &fit).spawn().unwrap();
    wait_until("training does not begin", || at.join("m/log.jsonl").exists());
    send("-TERM", &child);
    let started = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(started.elapsed() < Duration::from_secs(60), "it went on for {:?}", started.elapsed());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(143), "{said}");
    assert!(said.ends_with("hg2v fit graphs.jsonl --out m --resume\n"), "{said}");
    assert_eq!(names(&at.join("m")), ["config.json", "log.jsonl"]);
    // Whoever asks twice need not wait.
    let mut child = command(at, &[&fit[..], &["--resume"]].concat()).spawn().unwrap();
    wait_until("training does not begin", || listens(&child));
    sleep(Duration::from_millis(2000));
    send("-INT", &child);
    sleep(Duration::from_millis(400));
    send("-INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn what_a_killed_command_left_is_cleared_and_what_a_living_one_writes_is_not() {
    let folder = folder_with_model();
    let at = folder.path();
    let (mut living, graphs) = waiting(at, &["embed", "m", "-", "--out", "living.csv"]);
    wait_until("nothing is written", || half_written(at).len() == 1);
    let kept = half_written(at);
    for words in ["embed m - --out dead.npy", "convert - dead --format tu", "convert - dead.zip"] {
        let (mut dead, pipe) = waiting(at, &words.split(' ').collect::<Vec<_>>());
        wait_until("nothing is written", || half_written(at).len() > 1);
        sleep(Duration::from_millis(50));
        dead.kill().unwrap();
        dead.wait().unwrap();
        drop(pipe);
        assert!(half_written(at).len() > 1, "{words} left nothing");
        done(at, &["embed", "m", "graphs.jsonl", "--out", "next.csv", "--force"]);
        assert_eq!(half_written(at), kept, "{words}");
    }
    drop(graphs);
    assert_eq!(living.wait().unwrap().code(), Some(0));
    assert_eq!(fs::read_to_string(at.join("living.csv")).unwrap().lines().count(), 2);
    assert_eq!(names(at), ["graphs.jsonl", "living.csv", "m", "next.csv"]);
}

#[test]
fn the_process_of_a_killed_comparison_ends_with_it() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    let scratch = at.join("scratch");
    fs::create_dir(&scratch).unwrap();
    let arguments = ["compare", "graphs.jsonl", "--methods", "hg2v", "--splits", "1000"];
    let mut parent = command(at, &arguments).env("TMPDIR", &scratch).spawn().unwrap();
    let listed = format!("/proc/{0}/task/{0}/children", parent.id());
    let child = || {
        let listed = fs::read_to_string(&listed).unwrap();
        listed.split_whitespace().next().map(str::to_owned)
    };
    wait_until("no process was started", || child().is_some());
    let child = child().unwrap();
    sleep(Duration::from_millis(300));
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait_until("its process goes on", || !lives(&child));
    // Its folder is cleared by the next one.
    assert_eq!(half_written(&scratch).len(), 1);
    let quick = ["compare", "graphs.jsonl", "--methods", "majority", "--splits", "2"];
    let mut next = command(at, &quick);
    next.env("TMPDIR", &scratch);
    assert_eq!(output_of(next).0, 0);
    assert_eq!(names(&scratch), Vec::<String>::new());
}

/// Graphs in several chunks, a model `m`, and what `embed` makes of them in every way.
#[test]
fn a_killed_embedding_goes_on_to_the_same_bytes() {
    let folder = folder_with_graphs(&["--graphs", "6000", "--nodes", "20"]);
    let at = folder.path();
    let few = ["generate", "dla", "--graphs", "20", "--nodes", "20", "--out", "few.jsonl"];
    done(at, &few);
    done(at, &[&["fit", "few.jsonl", "--out", "m"][..], &SMALL].concat());
    let mut went_on = 0;
    for (moment, words) in [
        "--out NAME.npy",
        "--out NAME.parquet",
        "--out NAME.csv --shard 1/2",
        "--out NAME.tsv --per level",
        "--out NAME.npy --per node --untrained",
    ]
    .iter()
    .enumerate()
    {
        let words = format!("embed m graphs.jsonl --no-cache --force {words}");
        let named = |name: &str| words.replace("NAME", name);
        done(at, &named("whole").split(' ').collect::<Vec<_>>());
        let stopped = named("stopped");
        let stopped: Vec<&str> = stopped.split(' ').chain(["--checkpoint-every", "0"]).collect();
        let out = at.join(stopped[stopped.iter().position(|word| *word == "--out").unwrap() + 1]);
        let partial = out.with_file_name(format!("{}.partial", out.file_name().unwrap().display()));
        let parts = || fs::read_dir(&partial).map_or(0, |parts| parts.count());
        // Killed after some parts, then after some more; then told to end.
        for (signal, more) in [("-KILL", 1), ("-KILL", 1 + moment % 2), ("-TERM", 1)] {
            let enough = parts() + more;
            let mut child = command(at, &stopped).spawn().unwrap();
            let ended = |child: &mut Child| child.try_wait().unwrap().is_some();
            while !ended(&mut child) && parts() < enough {
                sleep(Duration::from_millis(1));
            }
            if ended(&mut child) {
                break;
            }
            send(signal, &child);
            let said = child.wait_with_output().unwrap();
            assert!(!out.exists() || said.status.success(), "{stopped:?}");
            if signal == "-TERM" && !said.status.success() {
                let said = String::from_utf8_lossy(&said.stderr);
                assert!(said.contains(".partial: the same command goes on from there"), "{said}");
            }
        }
        let (_, said) = done(at, &stopped);
        went_on += usize::from(said.contains("embedded before it was stopped"));
        assert!(!partial.exists(), "{} is left", partial.display());
        for name in names(at).into_iter().filter(|name| name.starts_with("stopped")) {
            let whole = name.replace("stopped", "whole");
            assert_eq!(fs::read(at.join(&name)).unwrap(), fs::read(at.join(whole)).unwrap());
            fs::remove_file(at.join(name)).unwrap();
        }
        assert_eq!(half_written(at), Vec::<String>::new());
    }
    assert!(went_on > 2, "only {went_on} went on");
}

#[test]
fn vectors_of_another_model_are_not_taken_for_these() {
    let folder = folder_with_model();
    let at = folder.path();
    done(at, &[&["fit", "graphs.jsonl", "--out", "n", "--seed", "1"][..], &SMALL].concat());
    let embed = |model: &'static str, out: &'static str| {
        ["embed", model, "graphs.jsonl", "--out", out, "--checkpoint-every", "0"]
    };
    done(at, &embed("n", "whole.csv"));
    // A run with the model m that was stopped by a graph that cannot be.
    let graphs = fs::read_to_string(at.join("graphs.jsonl")).unwrap();
    let many = graphs.repeat(20);
    fs::write(at.join("graphs.jsonl"), format!("{many}nonsense\n")).unwrap();
    let (code, _, err) = hg2v(at, &embed("m", "v.csv"));
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("what is done is kept in v.csv.partial"), "{err}");
    fs::write(at.join("graphs.jsonl"), &graphs).unwrap();
    // What a user put there is the user's.
    fs::write(at.join("v.csv.partial/notes.txt"), "mine").unwrap();
    done(at, &embed("n", "v.csv"));
    let read = |name: &str| fs::read(at.join(name)).unwrap();
    assert_eq!(read("v.csv"), read("whole.csv"));
    assert_eq!(names(&at.join("v.csv.partial")), ["notes.txt"]);
    // As a run leaves it that is killed with its output in place: what is kept goes, although
    // nothing is written.
    fs::remove_file(at.join("v.csv.partial/notes.txt")).unwrap();
    fs::write(at.join("v.csv.partial").join("0".repeat(64)), "part").unwrap();
    fs::write(at.join("v.csv.partial/complete"), "").unwrap();
    let (code, _, err) = hg2v(at, &embed("n", "v.csv"));
    assert!(code == 2 && err.contains("v.csv: it exists"), "{code}: {err}");
    assert!(!at.join("v.csv.partial").exists());
}

#[test]
fn so_many_threads_are_wrong_usage() {
    let folder = folder_with_graphs(&[]);
    let (code, _, err) = hg2v(folder.path(), &["info", "graphs.jsonl", "--threads", "99999"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.starts_with("error: --threads is 99999, but it must be at most"), "{err}");
}

/// As a user who has no other process, since the limit counts all of them; only root can be
/// another user.
#[test]
fn a_system_without_threads_is_an_error() {
    let folder = folder_with_model();
    let at = folder.path();
    done(at, &["embed", "m", "graphs.jsonl", "--out", "w.csv"]);
    let program = at.join("hg2v");
    fs::copy(command(at, &[]).get_program(), &program).unwrap();
    let open = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    };
    [at, &program, &at.join("cache")].into_iter().for_each(open);
    let user = ["setpriv", "--reuid", "61234", "--regid", "61234", "--clear-groups", "--"];
    let limited = |threads: u32, words: &str| {
        let mut command = Command::new("prlimit");
        command.arg(format!("--nproc={threads}")).args(user).arg(&program).args(words.split(' '));
        command.current_dir(at).env("HG2V_CACHE", at.join("cache")).env("TMPDIR", at);
        command.stdin(Stdio::null());
        command
    };
    let allowed = limited(50, "--version").output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this user cannot be another");
        return;
    }
    let no_zip = Server::start(b"nothing".to_vec(), "\"n\"", &[Serve::Well]);
    for words in [
        &format!("datasets get MUTAG --base {} --data-dir d --threads 2", no_zip.base),
        "embed m graphs.jsonl --out v.csv --threads 2",
        "fit graphs.jsonl --out n --dim 8 --epochs 1 --threads 2",
        "compare graphs.jsonl --methods majority --splits 2 --threads 2",
        "evaluate graphs.jsonl --embeddings w.csv --no-controls --splits 2 --threads 2",
        "serve m --listen 127.0.0.1:0 --threads 2",
    ] {
        let mut refused = 0;
        for threads in 1..12 {
            let mut child = limited(threads, words)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            if words.starts_with("serve") {
                // One that serves is at its end when it is told.
                let started = Instant::now();
                while child.try_wait().unwrap().is_none() && started.elapsed().as_secs() < 3 {
                    sleep(Duration::from_millis(5));
                }
                if child.try_wait().unwrap().is_none() {
                    send("-TERM", &child);
                }
            }
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            assert!(matches!(code, Some(0..=2)), "{words}, {threads}: {code:?} {said}");
            assert!(!said.contains("panicked"), "{words}, {threads}: {said}");
            refused += u32::from(said.contains("(ulimit -u)"));
            let _ = fs::remove_dir_all(at.join("n"));
        }
        assert!(refused > 0, "{words} was never refused a thread");
    }
}
