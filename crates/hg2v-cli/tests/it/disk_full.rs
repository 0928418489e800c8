//! A disk that fills while a command writes: nothing half-written stays behind.
//!
//! The disk is a tmpfs of a few pages where mounting is allowed; elsewhere the
//! limit on a file's size stands in for it. The tests say which.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{command, done, folder_with_graphs, output_of, wait_for_checkpoint};

enum Disk {
    /// A disk of its own.
    Mounted(tempfile::TempDir),
    /// A limit on every file.
    Limited(tempfile::TempDir, usize),
}

impl Disk {
    /// A disk that holds `room` bytes, or whose files may have that many.
    fn of(room: usize) -> Disk {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={room}"), "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if mounted {
            eprintln!("disk full: a tmpfs of {room} bytes");
            Disk::Mounted(folder)
        } else {
            eprintln!("disk full: mounting is not allowed; files limited to {room} bytes instead");
            Disk::Limited(folder, room)
        }
    }

    fn path(&self) -> &Path {
        let (Disk::Mounted(folder) | Disk::Limited(folder, _)) = self;
        folder.path()
    }

    /// Runs the command in `folder`, and returns its code and what it said.
    fn run(&self, folder: &Path, arguments: &[&str]) -> (i32, String) {
        let command = match self {
            Disk::Mounted(_) => command(folder, arguments),
            Disk::Limited(_, room) => {
                let inner = command(folder, arguments);
                let mut shell = Command::new("sh");
                // In blocks of 512 bytes; the signal would kill the writer unheard.
                let script = format!("ulimit -f {}; trap '' XFSZ; exec \"$@\"", room / 512);
                shell.args(["-c", &script, "sh"]).arg(inner.get_program()).args(inner.get_args());
                shell.current_dir(folder).env("HG2V_CACHE", folder.join("cache"));
                shell.env_remove("HG2V_DATA");
                shell
            }
        };
        let (code, _, err) = output_of(command);
        (code, err)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Disk::Mounted(folder) = self {
            let _ = Command::new("umount").arg(folder.path()).status();
        }
    }
}

/// The error of a full disk names the file and says what to do.
fn teaches(disk: &Disk, err: &str, file: &str) {
    let why = match disk {
        Disk::Mounted(_) => "the disk is full: make room, or write elsewhere",
        Disk::Limited(..) => "raise the limit (ulimit -f), or write elsewhere",
    };
    assert!(err.lines().last().unwrap().starts_with("error: "), "{err}");
    assert!(err.contains(file) && err.contains(why), "{err}");
    assert!(!err.contains(".hg2v-"), "a temporary name: {err}");
}

#[test]
fn what_does_not_fit_leaves_what_was_there() {
    let folder = folder_with_graphs(&["--graphs", "400", "--nodes", "40"]);
    let at = folder.path();
    let small = ["--dim", "16", "--hops", "2", "--levels", "2", "--epochs", "1"];
    done(at, &[&["fit", "graphs.jsonl", "--out", "m"][..], &small].concat());
    let disk = Disk::of(64 << 10);
    let make = ["generate", "dla", "--graphs", "400", "--nodes", "40", "--out"];
    let embed = ["embed", "m", "graphs.jsonl", "--out"];
    let files = [
        (&["convert", "graphs.jsonl"][..], "c.jsonl"),
        (&["convert", "graphs.jsonl"], "c.jsonl.gz"),
        (&["convert", "graphs.jsonl"], "c.parquet"),
        (&["convert", "graphs.jsonl"], "c.zip"),
        (&["coarsen", "graphs.jsonl", "--out"], "p.jsonl"),
        (&make, "g.jsonl"),
        (&make, "g.parquet"),
        (&embed, "v.npy"),
        (&embed, "v.parquet"),
        (&embed, "v.csv"),
        (&embed, "v.tsv"),
        (&["embed", "m", "graphs.jsonl", "--per", "node", "--out"], "n.npy"),
    ];
    for (words, name) in files {
        let target = disk.path().join(name);
        let arguments = [words, &[target.to_str().unwrap()]].concat();
        // Where nothing stood, nothing stands; where something stood, it still does.
        for old in [None, Some(b"what was there".as_slice())] {
            let ids = target.with_extension("ids.csv");
            let kept: Vec<&PathBuf> = [&target, &ids][..if name.ends_with("npy") { 2 } else { 1 }]
                .iter()
                .filter(|_| old.is_some())
                .copied()
                .collect();
            kept.iter().for_each(|path| fs::write(path, old.unwrap()).unwrap());
            let force: &[&str] = if old.is_some() { &["--force"] } else { &[] };
            let (code, err) = disk.run(at, &[&arguments, force].concat());
            assert_eq!(code, 1, "{arguments:?}: {err}");
            teaches(&disk, &err, name);
            assert_eq!(disk.names().len(), kept.len(), "{arguments:?} left {:?}", disk.names());
            for path in kept {
                assert_eq!(fs::read(path).unwrap(), old.unwrap(), "{arguments:?}");
                fs::remove_file(path).unwrap();
            }
        }
    }
    for format in ["tu", "csv"] {
        let target = disk.path().join("set");
        let target = target.to_str().unwrap();
        let arguments = ["convert", "graphs.jsonl", target, "--format", format];
        let (code, err) = disk.run(at, &arguments);
        assert_eq!(code, 1, "{arguments:?}: {err}");
        teaches(&disk, &err, "set");
        assert_eq!(disk.names(), Vec::<String>::new(), "{arguments:?}");
    }
    let target = disk.path().join("demo");
    let arguments = ["demo", "--graphs", "40", "--nodes", "40", "--out", target.to_str().unwrap()];
    let (code, err) = disk.run(at, &arguments);
    assert_eq!(code, 1, "{err}");
    teaches(&disk, &err, &format!("{}/", target.display()));
    assert_eq!(disk.names(), Vec::<String>::new());
    // A model too large for the disk: its folder says that it is not finished.
    let target = disk.path().join("model");
    let target = target.to_str().unwrap();
    let large = ["--dim", "64", "--hops", "2", "--levels", "2", "--epochs", "1"];
    let (code, err) =
        disk.run(at, &[&["fit", "graphs.jsonl", "--out", target][..], &large].concat());
    assert_eq!(code, 1, "{err}");
    teaches(&disk, &err, "model.safetensors");
    assert!(err.contains(&format!("hg2v fit graphs.jsonl --out {target} --resume")), "{err}");
    let mut names: Vec<_> =
        fs::read_dir(target).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["config.json", "log.jsonl"]);
    let (code, _, err) =
        output_of(command(at, &["embed", target, "graphs.jsonl", "--out", "v.csv"]));
    assert_eq!(code, 2);
    assert!(err.contains("the training of this model is not finished"), "{err}");
}

#[test]
fn a_disk_without_any_room_gets_no_model_at_all() {
    let folder = folder_with_graphs(&[]);
    let disk = Disk::of(64 << 10);
    let Disk::Mounted(_) = &disk else {
        eprintln!("skipped: a limit on files does not keep folders from being made");
        return;
    };
    fs::write(disk.path().join("filler"), vec![0; 64 << 10]).unwrap();
    let target = disk.path().join("model");
    let target = target.to_str().unwrap();
    let (code, err) = disk.run(folder.path(), &["fit", "graphs.jsonl", "--out", target]);
    assert_eq!(code, 1, "{err}");
    teaches(&disk, &err, "model/config.json");
    assert_eq!(disk.names(), ["filler"]);
}

/// The disk fills in the middle of a run: it goes on from its last checkpoint.
#[test]
fn a_run_that_a_full_disk_stopped_resumes_to_the_same_bytes() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    let disk = Disk::of(1 << 20);
    let Disk::Mounted(_) = &disk else {
        eprintln!("skipped: a limit on files does not fill in the middle of a run");
        return;
    };
    let options = ["--dim", "16", "--hops", "2", "--levels", "2", "--epochs", "1000"];
    let whole = [&["fit", "graphs.jsonl", "--out", "whole"][..], &options].concat();
    done(at, &whole);

    let model = disk.path().join("model");
    let out = model.to_str().unwrap();
    let fit = ["fit", "graphs.jsonl", "--out", out, "--checkpoint-every", "0.5"];
    let mut child = command(at, &[&fit[..], &options].concat()).spawn().unwrap();
    wait_for_checkpoint(&mut child, &model);
    // All that is left, to the last page; the run may take some of it meanwhile.
    let filler = disk.path().join("filler");
    let mut file = fs::File::create(&filler).unwrap();
    while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
    drop(file);
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    teaches(&disk, &err, out);
    assert!(err.contains(&format!("hg2v fit graphs.jsonl --out {out} --resume")), "{err}");
    assert_eq!(disk.names(), ["filler", "model"]);
    for entry in fs::read_dir(&model).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.starts_with('.'), "{name} is left");
    }

    // As long as the disk is full, going on fails too, and spoils nothing.
    let checkpoint = model.join("checkpoint.safetensors");
    let before = fs::read(&checkpoint).unwrap();
    let (code, err) = disk.run(at, &["fit", "graphs.jsonl", "--out", out, "--resume"]);
    assert_eq!(code, 1, "{err}");
    teaches(&disk, &err, out);
    assert_eq!(fs::read(&checkpoint).unwrap(), before);

    fs::remove_file(&filler).unwrap();
    let (_, err) = done(at, &["fit", "graphs.jsonl", "--out", out, "--resume"]);
    assert!(err.contains("going on after step"), "{err}");
    for name in ["model.safetensors", "config.json"] {
        let read = |model: &Path| fs::read(model.join(name)).unwrap();
        assert_eq!(read(&model), read(&at.join("whole")), "{name}");
    }
    let epochs = |model: &Path| {
        let text = fs::read_to_string(model.join("log.jsonl")).unwrap();
        text.lines().map(|line| line.split(",\"lr").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(epochs(&model), epochs(&at.join("whole")));
}
