//! The table of options, beside the settings that they are put into.

use std::collections::BTreeSet;

use hg2v::{Hg2vParams, Method};
use hg2v_baselines::defaults;
use hg2v_baselines::options::{self, Kind, OPTIONS, PRESET};
use hg2v_baselines::registry::{self, METHODS};
use serde_json::{Value, json};

fn set(method: &str, options: &[(&str, Value)]) -> Result<Value, String> {
    registry::find(method).unwrap().settings(options).map_err(|error| error.to_string())
}

#[test]
fn every_option_is_somebody_s_and_every_place_is_there() {
    let mut met = BTreeSet::from([PRESET]);
    for entry in METHODS {
        let Some(vectors) = &entry.vectors else { continue };
        let settings = (vectors.defaults)();
        for (option, place) in vectors.options {
            if *option == "temperature" {
                let cosine = set(entry.name, &[("loss", json!("cosine"))]).unwrap();
                assert!(cosine.pointer(place).is_some(), "{}: {place}", entry.name);
            } else {
                assert!(settings.pointer(place).is_some(), "{}: {place}", entry.name);
            }
            met.insert(*option);
        }
    }
    let known: BTreeSet<&str> = OPTIONS.iter().map(|option| option.name).collect();
    assert_eq!(known.len(), OPTIONS.len(), "a name stands twice");
    assert!(met.remove("seed"), "every face has its own way to seed");
    assert_eq!(known, met);
}

#[test]
fn every_word_of_an_option_is_taken_and_told_back() {
    for entry in METHODS {
        let Some(vectors) = &entry.vectors else { continue };
        for option in OPTIONS.iter().filter(|option| vectors.takes(option.name)) {
            let (Kind::Word(words) | Kind::List(words)) = &option.kind else { continue };
            let (_, place) = vectors.options.iter().find(|(name, _)| *name == option.name).unwrap();
            for (word, _) in (words.all)() {
                let given = match option.kind {
                    Kind::List(_) => json!([word]),
                    _ => json!(word),
                };
                let settings = set(entry.name, &[(option.name, given)]).unwrap();
                assert_eq!(option.spelled(settings.pointer(place).unwrap()), word);
                let method = entry.of_settings(settings).unwrap();
                assert_eq!(method.name(), entry.name);
            }
            let said = set(entry.name, &[(option.name, json!(["nonsense"]))]);
            let said = said.and_then(|_| set(entry.name, &[(option.name, json!("nonsense"))]));
            if let Err(said) = said {
                assert!(said.starts_with(&format!("{} is `nonsense`", option.name)), "{said}");
            }
        }
    }
}

#[test]
fn presets_come_first_and_options_over_them() {
    let paper = Hg2vParams::paper();
    assert_eq!(set("hg2v", &[(PRESET, json!("paper"))]).unwrap(), paper.settings());
    let options = [("dim", json!(7)), (PRESET, json!("paper"))];
    assert_eq!(set("untrained", &options).unwrap(), paper.dim(7).settings());
    let said = set("graph2vec", &[(PRESET, json!("paper"))]).unwrap_err();
    assert!(said.starts_with("preset is paper, but graph2vec has no such option"), "{said}");
    let said = set("hg2v", &[(PRESET, json!("papers"))]).unwrap_err();
    assert!(said.ends_with("default, network, paper; did you mean paper?"), "{said}");
}

#[test]
fn a_parameter_of_a_word_needs_the_word() {
    let warm = ("temperature", json!(0.7));
    let said = set("hg2v", std::slice::from_ref(&warm)).unwrap_err();
    assert_eq!(said, "temperature is 0.7, but it is for loss cosine");
    let cosine = set("hg2v", &[warm, ("loss", json!("cosine"))]).unwrap();
    assert_eq!(cosine["recipe"]["loss"], json!({"cosine": {"temperature": 0.7}}));
}

#[test]
fn defaults_are_those_of_the_settings() {
    let defaults = |name: &str| defaults::of(options::find(name).unwrap());
    let dim = defaults("dim").values;
    assert_eq!(dim[0], ("128".to_owned(), vec!["hg2v", "untrained", "graph2vec-gnn"]));
    assert!(dim.contains(&("32".to_owned(), vec!["infograph"])), "{dim:?}");
    assert_eq!(defaults("finest").presets, [("paper", "false".to_owned())]);
    assert_eq!(defaults("hops").presets, []);
    assert_eq!(defaults("readout").values[0].0, "sum,max");
    assert_eq!(defaults("input").values[0].0, "none");
    assert_eq!(defaults("temperature").values[0].0, "0.2");
    let batch = &defaults("batch").values[0].0;
    let advice = format!("multiply its learning rate by √(B/{batch})");
    assert!(options::find("batch").unwrap().about.ends_with(&advice), "{advice}");
    let rate = defaults("lr").values;
    assert_eq!(rate[1], ("0.1".to_owned(), vec!["graph2vec", "graph2vec-loukas"]));
}
