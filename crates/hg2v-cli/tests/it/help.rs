//! What is said about the command: help, manual pages, and what a shell finishes.

use std::fs;
use std::process::Command;

use crate::common::{done, hg2v};

/// The commands that `hg2v --help` lists.
fn commands() -> Vec<String> {
    let (code, out, _) = hg2v(".".as_ref(), &["-h"]);
    assert_eq!(code, 0);
    let list = out.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
}

#[test]
fn every_command_has_an_example_and_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    done(at, &["man", "pages"]);
    let names: Vec<String> = commands().into_iter().filter(|name| name != "help").collect();
    assert!(names.len() > 15, "{names:?}");
    let deeper = fs::read_dir(at.join("pages")).unwrap().count() - names.len() - 1;
    assert!(deeper > 10, "pages of generate's and datasets' own commands: {deeper}");
    assert!(at.join("pages/hg2v-generate-dla.1").exists());
    for name in names {
        let (code, help, _) = hg2v(at, &[&name, "--help"]);
        assert_eq!(code, 0);
        let page = fs::read_to_string(at.join(format!("pages/hg2v-{name}.1"))).unwrap();
        for text in [&help, &page.replace("\\-", "-")] {
            // Its usage names it, too; examples stand after that.
            let (_, examples) = text.rsplit_once("Examples").expect(&name);
            assert!(examples.contains(&format!("hg2v {name}")), "{name} has no example: {text}");
        }
    }
    let whole = fs::read_to_string(at.join("pages/hg2v.1")).unwrap().replace("\\-", "-");
    assert!(whole.contains("hg2v-fit(1)"), "{whole}");
}

/// What help says of an option, on one line.
fn told_of(option: &str, help: &str) -> String {
    let about = help.split(&format!("      {option} ")).nth(1).expect(option);
    about.split("\n\n").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_defaults_that_help_tells_are_those_of_the_library() {
    let (_, help, _) = hg2v(".".as_ref(), &["fit", "--help"]);
    let hg2v::Hg2vParams { architecture, recipe, coarsening, features, weights, .. } =
        hg2v::Hg2vParams::default();
    for (option, default) in [
        ("--preset", hg2v::Preset::default().to_string()),
        ("--dim", architecture.dim.to_string()),
        ("--hops", architecture.hops.to_string()),
        ("--levels", architecture.levels.to_string()),
        ("--layer", architecture.layer.to_string()),
        ("--relations", architecture.relations.to_string()),
        ("--input", "none".to_owned()),
        ("--bias", architecture.bias.to_string()),
        ("--readout", "sum,max".to_owned()),
        ("--epochs", recipe.epochs.to_string()),
        ("--batch", recipe.batch.to_string()),
        ("--lr", recipe.lr.to_string()),
        ("--decay", recipe.decay.to_string()),
        ("--loss", recipe.loss.to_string()),
        ("--negatives", recipe.negatives.to_string()),
        ("--negative-sample", recipe.negative_sample.to_string()),
        ("--attributes", features.attributes.to_string()),
        ("--labels", features.labels.to_string()),
        ("--degree", features.degree.to_string()),
        ("--coarsening", coarsening.method.to_string()),
        ("--ratio", coarsening.ratio.to_string()),
        ("--k", coarsening.k.to_string()),
        ("--weights", weights.to_string()),
    ] {
        let about = told_of(option, &help);
        let whole = [format!("[default: {default}]"), format!("[default: {default};")];
        assert!(whole.iter().any(|text| about.contains(text)), "{option}: {about}");
    }
    // Where the paper's preset differs, and where other methods do.
    let paper = hg2v::Hg2vParams::paper();
    for (option, of_default, of_paper) in [
        ("--finest", architecture.finest, paper.architecture.finest),
        ("--local", architecture.local, paper.architecture.local),
        ("--log", architecture.log, paper.architecture.log),
    ] {
        let both = format!("[default: {of_default}; --preset paper: {of_paper}]");
        assert!(told_of(option, &help).contains(&both), "{option}");
    }
    let structure = told_of("--structure", &help);
    assert!(structure.contains("[default: auto; --preset paper: never]"), "{structure}");
    let rounds = told_of("--rounds", &help);
    let text = "[default: 3; wl-subtree, wl-oa: 4]";
    assert!(rounds.contains(text), "{rounds}");
    let cosine = hg2v::train::Loss::Cosine { temperature: 0.2 };
    assert_eq!("cosine".parse::<hg2v::train::Loss>().unwrap(), cosine);
    assert!(told_of("--temperature", &help).contains("[default: 0.2]"));
}

#[test]
fn a_variable_that_is_empty_says_nothing() {
    let folder = crate::common::folder_with_graphs(&["--graphs", "3", "--nodes", "10"]);
    for name in ["HG2V_CACHE", "HG2V_DATA", "HG2V_TOKEN"] {
        let mut command =
            crate::common::command(folder.path(), &["coarsen", "graphs.jsonl", "--out", "-"]);
        command.env(name, "").env("XDG_CACHE_HOME", folder.path().join("cache"));
        let (code, out, err) = crate::common::output_of(command);
        assert_eq!((code, out.lines().count()), (0, 3), "{name}: {err}");
    }
}

/// Usage lines tell what must be typed; what a variable says need not be.
#[test]
fn variables_stand_in_help_and_in_no_usage_line() {
    let folder = tempfile::tempdir().unwrap();
    let run = |line: &str| {
        let mut command =
            crate::common::command(folder.path(), &line.split(' ').collect::<Vec<_>>());
        command.env("HG2V_CACHE", "some-cache").env("HG2V_DATA", "some-data");
        command.env("HG2V_TOKEN", "whisper").env("HG2V_BASE_URL", "http://localhost:1");
        crate::common::output_of(command)
    };
    for line in ["fit", "embed m", "coarsen", "serve", "datasets get", "info", "fit x --nonsense"] {
        let (code, _, err) = run(line);
        assert_eq!(code, 2, "{line}: {err}");
        let usage = err.split("Usage:").nth(1).expect("a usage line");
        for option in ["--cache-dir", "--data-dir", "--token", "--base"] {
            assert!(!usage.contains(option), "{line}: {err}");
        }
    }
    let (_, help, _) = run("fit --help");
    assert!(help.contains("[env: HG2V_CACHE="), "{help}");
    let (_, help, _) = run("serve --help");
    assert!(help.contains("[env: HG2V_TOKEN]") && !help.contains("whisper"), "{help}");
    // They are heard all the same, and what is typed is heard before them.
    let (_, _, err) = run("info MUTAG");
    assert!(err.contains("no set of that name in some-data"), "{err}");
    let (_, _, err) = run("info MUTAG --data-dir typed");
    assert!(err.contains("no set of that name in typed"), "{err}");
}

#[test]
fn bash_finishes_commands_and_options() {
    let folder = tempfile::tempdir().unwrap();
    let (script, _) = done(folder.path(), &["completions", "bash"]);
    fs::write(folder.path().join("hg2v.bash"), script).unwrap();
    let finished = |words: &str, last: &str| {
        let ask = format!(
            "source hg2v.bash; COMP_WORDS=({words} {last}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _hg2v hg2v {last} x; echo ${{COMPREPLY[@]}}"
        );
        let said = Command::new("bash").arg("-c").arg(ask).current_dir(folder.path()).output();
        String::from_utf8(said.unwrap().stdout).unwrap()
    };
    assert_eq!(finished("hg2v", "repr").trim(), "reproduce");
    assert_eq!(finished("hg2v fit", "--epo").trim(), "--epochs");
}
