//! What a page says of how its model was made, whichever method learnt it.

use hg2v::saved::Config;
use serde_json::{Map, Value, json};

/// The configuration without what was learnt: the method, its data, and its settings in blocks.
pub(crate) fn settings(config: &Config) -> Value {
    let model = &config.model;
    let blocks = match model.get("architecture") {
        Some(network) => {
            let mut coarsening = object(&model["preparation"]["coarsening"]);
            coarsening.insert("weights".to_owned(), model["preparation"]["weights"].clone());
            let recipe = object(&model["recipe"]);
            json!({ "Network": network, "Training": recipe, "Coarsening": coarsening })
        }
        None => json!({ "Settings": flat(&model["settings"]) }),
    };
    let seed = [&model["recipe"]["seed"], &flat(&model["settings"])["seed"]]
        .into_iter()
        .find(|seed| !seed.is_null())
        .cloned();
    json!({
        "hg2v": config.hg2v, "method": config.method, "data": config.data,
        "settings": without_seeds(blocks), "seed": seed,
    })
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// Settings of settings as settings.
fn flat(value: &Value) -> Value {
    let mut all = Map::new();
    for (name, own) in object(value) {
        match flat(&own) {
            Value::Object(inner) if own.is_object() => all.extend(inner),
            _ => {
                all.insert(name, own);
            }
        }
    }
    Value::Object(all)
}

fn without_seeds(mut blocks: Value) -> Value {
    for block in blocks.as_object_mut().into_iter().flat_map(Map::values_mut) {
        if let Some(settings) = block.as_object_mut() {
            settings.remove("seed");
        }
    }
    blocks
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
    }
}
