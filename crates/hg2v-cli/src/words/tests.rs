//! Whether the command has words for all that the libraries name, and they none for it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hg2v::dataset::catalog::{KNOWN, Origin};

use super::*;

/// The libraries, which speak to no face in particular.
const LIBRARIES: [&str; 6] =
    ["hg2v", "hg2v-eval", "hg2v-baselines", "hg2v-search", "hg2v-report", "hg2v-experiments"];

/// Options of NVIDIA's compiler.
const OF_OTHER_PROGRAMS: [&str; 2] = ["--gpu-architecture", "--std"];

/// The flags of a command and all below it.
fn flags(command: &clap::Command, found: &mut BTreeSet<String>) {
    let long = command.get_arguments().filter_map(|argument| argument.get_long());
    found.extend(long.map(|name| format!("--{name}")));
    command.get_subcommands().for_each(|below| flags(below, found));
}

fn known() -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    flags(&crate::command(), &mut known);
    known
}

/// The words of a text that look like flags.
fn flags_in(text: &str) -> impl Iterator<Item = &str> {
    let is_flag = |word: &&str| {
        word.strip_prefix("--")
            .is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-')).filter(is_flag)
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The sources of the libraries, without their tests.
fn sources() -> Vec<(PathBuf, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    LIBRARIES.iter().for_each(|name| rust_files(&crates.join(name).join("src"), &mut files));
    assert!(files.len() > 100, "{} files", files.len());
    let text = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
        (path, text[..end].to_owned())
    };
    files.into_iter().map(text).collect()
}

/// The string literals of a source, each with what stands before it.
fn literals(source: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("'\"'") {
            3
        } else if rest.starts_with("'\\\"'") {
            4
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            let end = raw.find("\"#").unwrap_or(raw.len());
            found.push((&source[..at], &raw[..end]));
            end + 5
        } else if let Some(text) = rest.strip_prefix('"') {
            let mut escaped = false;
            let end = text.find(|letter| {
                let ends = letter == '"' && !escaped;
                escaped = letter == '\\' && !escaped;
                ends
            });
            let end = end.unwrap_or(text.len());
            found.push((&source[..at], &text[..end]));
            end + 2
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        at += skipped;
    }
    found
}

#[test]
fn literals_are_found_where_they_are() {
    let source = r##"let a = "x \"--y\""; // "--no"
        let b = '"'; let c = r#"raw "--z""#;"##;
    let texts: Vec<&str> = literals(source).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, [r#"x \"--y\""#, "raw \"--z\""]);
}

#[test]
fn no_text_of_a_library_names_a_flag() {
    for (path, source) in sources() {
        for (_, text) in literals(&source) {
            let flag = flags_in(text).find(|flag| !OF_OTHER_PROGRAMS.contains(flag));
            assert_eq!(flag, None, "{}: {text}", path.display());
        }
    }
}

#[test]
fn every_set_that_is_made_says_how() {
    for set in KNOWN.iter().filter(|set| set.origin == Origin::Made) {
        assert!(made(set.name).contains(" --out "), "{}: {}", set.name, made(set.name));
    }
}

#[test]
fn every_option_that_a_library_refuses_is_a_flag() {
    let known = known();
    let refusing = ["Error::parameter(", "at_least(", "probability(", "room_for_edges(", "within("];
    let mut met = BTreeSet::new();
    for (path, source) in sources() {
        // Their options are Python's.
        if path.components().any(|part| part.as_os_str() == "hg2v-baselines") {
            continue;
        }
        for (before, name) in literals(&source) {
            if refusing.iter().any(|call| before.trim_end().ends_with(call)) {
                let flag = Command.option(Opt::new(Box::leak(name.to_owned().into_boxed_str())));
                assert!(known.contains(&flag), "{}: {flag}", path.display());
                met.insert(flag);
            }
        }
    }
    assert!(met.len() > 20, "{met:?}");
}

/// Options of cargo, and what every program has: documents name them too.
const OF_EVERYBODY: [&str; 10] = [
    "--bench",
    "--example",
    "--features",
    "--help",
    "--locked",
    "--nocapture",
    "--path",
    "--release",
    "--version",
    "--workspace",
];

#[test]
fn documents_name_flags_that_are_there_and_defaults_that_are_so() {
    let known = known();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let mut named = 0;
    for page in pages.chain([root.join("README.md")]) {
        let text = fs::read_to_string(&page).unwrap();
        for flag in flags_in(&text).filter(|flag| !OF_EVERYBODY.contains(flag)) {
            assert!(known.contains(flag), "{}: {flag}", page.display());
            named += 1;
        }
    }
    assert!(named > 50, "{named}");
    let hg2v::model::Architecture { dim, hops, levels, .. } =
        hg2v::Hg2vParams::default().architecture;
    let scale = fs::read_to_string(root.join("docs/scale.md")).unwrap();
    let model = format!("the default model (d = {dim}, a = {hops}, L = {levels})");
    assert!(scale.contains(&model), "docs/scale.md: no {model}");
}

#[test]
fn every_option_that_is_advised_is_a_flag() {
    let known = known();
    for option in Opt::ADVISED {
        let said = [Some(Command.option(option)), Command.set(option, &["x"])];
        for said in said.into_iter().chain([Command.give(option)]).flatten() {
            assert!(flags_in(&said).count() > 0, "{option}: {said}");
            for flag in flags_in(&said) {
                assert!(known.contains(flag), "{option}: {said}");
            }
        }
    }
    for job in Job::ALL {
        let said = Command.run(job).unwrap();
        assert!(said.contains("hg2v "), "{said}");
        assert!(flags_in(&said).all(|flag| known.contains(flag)), "{said}");
    }
}

#[test]
fn causes_are_told_once_and_in_the_words_of_the_command() {
    let parameter = hg2v::Error::parameter("max_levels", 200, "it must be at most 100");
    let error = anyhow::Error::from(hg2v_eval::Error::from(parameter)).context("cannot begin");
    let said = "cannot begin: --max-levels is 200, but it must be at most 100";
    assert_eq!(told(&error), said);
}
