//! What a page says of how its model was made, whichever method learnt it.

use std::collections::BTreeMap;

use hg2v::dataset::features::FeatureSchema;
use hg2v::saved::Config;
use serde_json::{Map, Value, json};

/// The configuration without what was learnt: the method, its data, and its settings in blocks.
pub(crate) fn settings(config: &Config) -> Value {
    let model = &config.model;
    let mut blocks = Blocks::new();
    match model.get("architecture") {
        Some(network) => {
            let preparation = &model["preparation"];
            let mut coarsening = object(&preparation["coarsening"]);
            coarsening.insert("weights".to_owned(), preparation["weights"].clone());
            blocks.insert("Network", object(network));
            blocks.insert(TRAINING, object(&model["recipe"]));
            blocks.insert("Coarsening", coarsening);
            put(&mut blocks, FEATURES, &model["feature_choice"]);
            if let Some(colours) = model.pointer("/learnt/colours/dim") {
                let rounds = model["colours"]["rounds"].clone();
                let block =
                    [("numbers".to_owned(), colours.clone()), ("rounds".to_owned(), rounds)];
                blocks.insert("Colours", Map::from_iter(block));
            }
            for (title, place) in [
                ("Slices", "/learnt/slices/dim"),
                ("Census", "/learnt/census/dim"),
                ("Last step", "/learnt/finish/out_dim"),
            ] {
                if let Some(numbers) = model.pointer(place) {
                    let block = [("numbers".to_owned(), numbers.clone())];
                    blocks.insert(title, Map::from_iter(block));
                }
            }
        }
        None => put(&mut blocks, SETTINGS, &model["settings"]),
    }
    let plan = [&model["preparation"]["features"], &model["features"]]
        .into_iter()
        .find_map(|schema| serde_json::from_value::<FeatureSchema>(schema.clone()).ok());
    if let Some(plan) = plan {
        let block = blocks.entry(FEATURES).or_default();
        block.insert("used".to_owned(), plan.to_string().into());
    }
    let seed =
        [TRAINING, SETTINGS].into_iter().find_map(|name| blocks.get(name)?.get("seed").cloned());
    blocks.values_mut().for_each(|own| drop(own.remove("seed")));
    json!({
        "hg2v": config.hg2v, "method": config.method, "data": config.data,
        "settings": blocks, "seed": seed,
    })
}

/// Settings under their titles.
type Blocks = BTreeMap<&'static str, Map<String, Value>>;

const SETTINGS: &str = "Settings";
const TRAINING: &str = "Training";
const FEATURES: &str = "Features";
const EDGES: &str = "Edges";

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// Settings into the block `title`, and settings of settings likewise, but for those of features
/// and of edges: these have blocks of their own, for they share names.
fn put(blocks: &mut Blocks, title: &'static str, settings: &Value) {
    for (name, own) in object(settings) {
        match (name.as_str(), &own) {
            ("features", Value::Object(_)) => put(blocks, FEATURES, &own),
            ("edges", Value::Object(_)) => put(blocks, EDGES, &own),
            (_, Value::Object(_)) => put(blocks, title, &own),
            _ => drop(blocks.entry(title).or_default().insert(name, own)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hg2v::saved::DataNote;

    #[test]
    fn settings_of_any_method_are_shown_in_blocks() {
        let of = |method, model| settings(&Config::new(method, model, DataNote::default()));
        let kernel = of(
            "wl-oa",
            json!({
                "settings": { "kernel": { "wl-oa": { "rounds": 4 } }, "dim": 512, "seed": 3 },
                "columns": 188, "compared": {},
            }),
        );
        assert_eq!(kernel["settings"], json!({ "Settings": { "rounds": 4, "dim": 512 } }));
        assert_eq!((&kernel["seed"], &kernel["method"]), (&json!(3), &json!("wl-oa")));
        let network = of(
            "hg2v",
            json!({
                "architecture": { "dim": 8 }, "recipe": { "lr": 0.1, "seed": 5 },
                "preparation": { "coarsening": { "k": 6, "seed": 5 }, "weights": "use" },
            }),
        );
        assert_eq!(network["settings"]["Coarsening"], json!({ "k": 6, "weights": "use" }));
        assert_eq!(network["seed"], json!(5));
        assert!(network["settings"].get("Colours").is_none());
        let mixed = of(
            "hg2v",
            json!({
                "architecture": {}, "recipe": {}, "preparation": {},
                "colours": { "dim": 256, "rounds": 4 }, "out_dim": 1024,
                "learnt": {
                    "colours": { "dim": 37, "vocabulary": {} },
                    "slices": { "dim": 64 },
                    "census": { "dim": 7 },
                    "finish": { "columns": 300, "out_dim": 512 },
                },
            }),
        );
        assert_eq!(mixed["settings"]["Colours"], json!({ "numbers": 37, "rounds": 4 }));
        assert_eq!(mixed["settings"]["Slices"], json!({ "numbers": 64 }));
        assert_eq!(mixed["settings"]["Census"], json!({ "numbers": 7 }));
        assert_eq!(mixed["settings"]["Last step"], json!({ "numbers": 512 }));
    }

    /// Nodes and edges have attributes and labels both.
    #[test]
    fn features_and_edges_have_blocks_of_their_own() {
        let of = |method, model| settings(&Config::new(method, model, DataNote::default()));
        let choice = json!({
            "attributes": true, "labels": false, "degree": "auto", "structure": "never",
            "edges": { "labels": "use", "attributes": "ignore", "direction": "use" },
        });
        let nodes = json!({
            "attributes": true, "labels": false, "degree": "auto", "structure": "never",
        });
        let edges = json!({ "labels": "use", "attributes": "ignore", "direction": "use" });
        let infograph =
            of("infograph", json!({ "settings": { "dim": 4, "features": choice, "seed": 1 } }));
        let expected = json!({ "Settings": { "dim": 4 }, "Features": nodes, "Edges": edges });
        assert_eq!(infograph["settings"], expected);
        let hg2v = of(
            "hg2v",
            json!({
                "architecture": { "dim": 8 }, "recipe": { "seed": 5 }, "feature_choice": choice,
                "preparation": {
                    "coarsening": { "k": 6 }, "weights": "use",
                    "features": {
                        "version": 1,
                        "attributes": { "mean": [0.0, 1.0], "std": [1.0, 1.0] }, "labels": null,
                        "degree": null,
                    },
                },
            }),
        );
        assert_eq!(hg2v["settings"]["Edges"], edges);
        let mut nodes = nodes;
        nodes["used"] = json!("2 attributes, standardised = 2 columns");
        assert_eq!(hg2v["settings"]["Features"], nodes);
        let word = json!({ "settings": { "graph2vec": { "rounds": 2, "edges": edges } } });
        let expected = json!({ "Settings": { "rounds": 2 }, "Edges": edges });
        assert_eq!(of("graph2vec-loukas", word)["settings"], expected);
    }
}
