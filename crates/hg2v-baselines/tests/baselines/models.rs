//! What every method of the registry promises of what it learns.

use std::fs;
use std::path::Path;

use hg2v::Model;
use hg2v::context::Context;
use hg2v::error::Error;
use hg2v::graph::{Aspects, Features, GraphRecord};
use hg2v::prepare::{Collection, Run};
use hg2v::progress::{Flow, Report};
use hg2v::saved::{self, Stored};
use hg2v_baselines::registry::{self, METHODS};
use serde_json::{Value, json};

use crate::common::{at_any_thread_count, labelled, real};

/// Rings with tails, labelled in turn as atoms and bonds are, so that they are molecules, too.
fn graphs(count: u32) -> Vec<GraphRecord> {
    (0..count)
        .map(|i| {
            let (ring, tail) = (4 + i % 7, 1 + i % 4);
            let n = ring + tail;
            let ends = (ring..n).map(|v| [if v == ring { i % ring } else { v - 1 }, v]);
            let edges: Vec<[u32; 2]> = (0..ring).map(|v| [v, (v + 1) % ring]).chain(ends).collect();
            let atom = |v| ["CH2", "O", "NH"][((v * (i + 1)) % 3) as usize].into();
            GraphRecord {
                num_nodes: n,
                node_labels: Some((0..n).map(atom).collect()),
                edge_labels: Some(vec!["single".into(); edges.len()]),
                edges,
                ..GraphRecord::default()
            }
        })
        .collect()
}

/// The same with an attribute, which Wasserstein distances are then taken by.
fn attributed(count: u32) -> Vec<GraphRecord> {
    let mut graphs = graphs(count);
    for (i, graph) in graphs.iter_mut().enumerate() {
        let values = (0..graph.num_nodes).map(|v| f64::from(v % 4) + i as f64 / 9.0).collect();
        graph.features = Some(Features { dim: 1, values });
    }
    graphs
}

/// Options that make a method quick.
fn small(name: &str) -> Vec<(&'static str, Value)> {
    match name {
        "hg2v" | "untrained" | "graph2vec-gnn" => {
            vec![("dim", json!(6)), ("levels", json!(2)), ("epochs", json!(1))]
        }
        "graph2vec" | "graph2vec-loukas" => vec![("dim", json!(8)), ("epochs", json!(2))],
        "infograph" => vec![("dim", json!(4)), ("layers", json!(2)), ("epochs", json!(2))],
        "statistics" => vec![],
        "morgan" => vec![("dim", json!(32))],
        _ => vec![("dim", json!(10)), ("landmarks", json!(15)), ("rounds", json!(2))],
    }
}

/// HG2V with colours beside its network and a last step after it.
fn mixed() -> Vec<(&'static str, Value)> {
    [small("hg2v"), vec![("colours", json!(8)), ("rounds", json!(2)), ("out_dim", json!(24))]]
        .concat()
}

/// Every method that learns vectors, learnt from `graphs`; HG2V also with all that it can have.
fn each(graphs: &[GraphRecord], test: impl Fn(&str, Box<dyn Model>)) {
    let learning: Vec<_> = METHODS.iter().filter(|entry| entry.vectors.is_some()).collect();
    assert_eq!(learning.len(), 11);
    for entry in learning {
        let method = entry.method(&small(entry.name)).unwrap();
        assert_eq!(method.name(), entry.name);
        test(entry.name, method.fit(graphs).unwrap());
        if method.name() == "hg2v" {
            test(entry.name, entry.method(&mixed()).unwrap().fit(graphs).unwrap());
        }
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn a_graph_has_its_vector_alone_and_among_others_at_any_number_of_threads() {
    for all in [graphs(40), attributed(24)] {
        let (train, new) = all.split_at(all.len() * 3 / 4);
        each(train, |name, model| {
            let together = at_any_thread_count(|| bits(&model.embed(&all).unwrap().values));
            let dim = model.dim();
            assert_eq!((model.columns().len(), together.len()), (dim, all.len() * dim), "{name}");
            for (i, graph) in new.iter().enumerate() {
                let alone = model.embed(std::slice::from_ref(graph)).unwrap();
                let row = &together[(train.len() + i) * dim..][..dim];
                assert_eq!(bits(&alone.values), row, "{name}, graph {i}");
            }
            assert!(together.chunks(dim).skip(1).any(|row| *row != together[..dim]), "{name}");
        });
    }
}

#[test]
fn methods_learn_the_same_at_any_number_of_threads() {
    let graphs = graphs(20);
    for entry in METHODS.iter().filter(|entry| entry.vectors.is_some()) {
        let method = entry.method(&small(entry.name)).unwrap();
        at_any_thread_count(|| method.fit(&graphs).unwrap().digest().unwrap());
    }
    let mixed = registry::find("hg2v").unwrap().method(&mixed()).unwrap();
    at_any_thread_count(|| mixed.fit(&graphs).unwrap().digest().unwrap());
}

#[test]
fn what_is_saved_is_what_is_read() {
    for all in [graphs(20), attributed(12)] {
        let folder = tempfile::tempdir().unwrap();
        each(&all, |name, model| {
            let path = folder.path().join(model.digest().unwrap());
            model.save(&path).unwrap();
            let read = registry::load(&path).unwrap();
            assert_eq!((read.method(), model.method()), (name, name));
            assert_eq!(read.digest().unwrap(), model.digest().unwrap(), "{name}");
            assert_eq!(read.embed(&all).unwrap(), model.embed(&all).unwrap(), "{name}");
            assert_eq!(read.parts().unwrap(), model.parts().unwrap(), "{name}");
            // The same from bytes that were kept elsewhere.
            let parts = model.parts().unwrap();
            let stored = Stored::of(&parts.config, parts.tensors, Path::new(name)).unwrap();
            let read = registry::model(&stored, Path::new(name)).unwrap();
            assert_eq!(read.embed(&all).unwrap(), model.embed(&all).unwrap(), "{name}");
        });
    }
}

/// Whichever bit of a model's files flips: it is refused, or is the same model.
#[test]
fn damaged_models_are_refused() {
    let all = graphs(12);
    let folder = tempfile::tempdir().unwrap();
    each(&all, |name, model| {
        let digest = model.digest().unwrap();
        let path = folder.path().join(&digest);
        model.save(&path).unwrap();
        for file in [saved::CONFIG, saved::PARAMETERS] {
            let whole = fs::read(path.join(file)).unwrap();
            let step = (whole.len() / 60).max(1);
            for at in (0..whole.len()).step_by(step) {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << (at % 8);
                fs::write(path.join(file), &flipped).unwrap();
                if let Ok(read) = registry::load(&path) {
                    assert_eq!(read.digest().unwrap(), digest, "{name}, byte {at} of {file}");
                }
                // The line's end says nothing.
                fs::write(path.join(file), &whole[..at.min(whole.len() - 2)]).unwrap();
                assert!(registry::load(&path).is_err(), "{name}, {file} cut at {at}");
            }
            fs::write(path.join(file), &whole).unwrap();
        }
        assert!(registry::load(&path).is_ok());
    });
}

#[test]
fn odd_graphs_have_vectors_too() {
    let all = graphs(20);
    let odd = [
        GraphRecord { node_labels: Some(Vec::new()), ..GraphRecord::default() },
        labelled(&[0], &[]),
        labelled(&[77, 78], &[[0, 1]]),
        labelled(&[0, 1], &[[0, 0], [1, 1]]),
    ]
    .map(|graph| GraphRecord {
        edge_labels: Some(vec!["unheard of".into(); graph.edges.len()]),
        ..graph
    });
    each(&all, |name, model| {
        if registry::find(name).unwrap().is_of_molecules() {
            let said = model.embed(&odd).unwrap_err().to_string();
            assert!(said.contains("is no molecule"), "{said}");
            return;
        }
        let rows = model.embed(&odd).unwrap();
        assert!(rows.values.iter().all(|value| value.is_finite()), "{name}");
    });
}

/// Whether a method looks at the kinds of edges, and counts those that it does not know.
fn counts_kinds(name: &str, brought: Aspects) -> bool {
    // Fingerprints know all kinds of bonds; transport between attributes sees none.
    !(registry::find(name).unwrap().is_of_molecules() || name == "wwl" && brought.node_attributes)
}

#[test]
fn kinds_of_edges_that_training_never_met_are_counted() {
    for all in [graphs(20), attributed(12)] {
        let mut odd = all[1].clone();
        odd.edge_labels.as_mut().unwrap()[0] = "double".into();
        each(&all, |name, model| {
            let counts = u64::from(counts_kinds(name, Aspects::of(&odd)));
            let (_, notes) =
                model.embed_run(Run::in_memory(&[odd.clone()]), &Context::default()).unwrap();
            assert_eq!(notes.applied.unseen_edge_labels, 2 * counts, "{name}");
            let (_, notes) = model.embed_run(Run::in_memory(&all), &Context::default()).unwrap();
            assert_eq!(notes.applied.unseen_edge_labels, 0, "{name}");
        });
    }
}

/// Kinds in some graphs alone are refused, and not seen where training had none, by all methods.
#[test]
fn kinds_of_edges_are_in_all_graphs_or_in_none() {
    for all in [graphs(20), attributed(12)] {
        let mut without = all.clone();
        without.iter_mut().for_each(|graph| graph.edge_labels = None);
        let mixed = [&all[..all.len() / 2], &without[all.len() / 2..]].concat();
        let refused = |name: &str, error: Error| {
            let said = error.to_string();
            assert!(said.contains("has no edge labels"), "{name}: {said}");
        };
        for entry in METHODS.iter().filter(|entry| entry.vectors.is_some()) {
            let (name, method) = (entry.name, entry.method(&small(entry.name)).unwrap());
            if !counts_kinds(name, Aspects::of(&all[0])) {
                continue;
            }
            let model = method.fit(&all).unwrap();
            assert!(model.sees().edge_labels, "{name}");
            refused(name, model.embed(&without).unwrap_err());
            refused(name, method.fit(&mixed).unwrap_err());
            let blind = method.fit(&without).unwrap();
            assert!(!blind.sees().edge_labels, "{name}");
            let mut directed = all.clone();
            directed.iter_mut().for_each(|graph| graph.directed = true);
            assert_eq!(
                bits(&blind.embed(&directed).unwrap().values),
                bits(&blind.embed(&without).unwrap().values),
                "{name}"
            );
        }
    }
}

/// What a model says it sees changes vectors, and nothing else does.
#[test]
fn what_a_model_says_it_sees_is_what_it_sees() {
    let mut all = attributed(16);
    for (i, graph) in all.iter_mut().enumerate() {
        graph.directed = true;
        let edges = graph.edges.len();
        let values = (0..edges).map(|edge| (edge % 3 + i) as f64).collect();
        graph.edge_features = Some(Features { dim: 1, values });
        let kinds = (0..edges).map(|edge| ["single", "double"][edge % 2].into()).collect();
        graph.edge_labels = Some(kinds);
    }
    let changed = |change: &dyn Fn(&mut GraphRecord)| {
        let mut graphs = all.clone();
        graphs.iter_mut().for_each(change);
        graphs
    };
    let variants = [
        (
            "node_labels",
            changed(&|graph| {
                let first = &mut graph.node_labels.as_mut().unwrap()[0];
                *first = if *first == "O".into() { "NH".into() } else { "O".into() };
            }),
        ),
        ("node_attributes", changed(&|graph| graph.features.as_mut().unwrap().values[0] += 1.0)),
        ("edge_labels", changed(&|graph| graph.edge_labels.as_mut().unwrap()[..2].reverse())),
        (
            "edge_attributes",
            changed(&|graph| graph.edge_features.as_mut().unwrap().values[0] += 1.0),
        ),
        ("direction", changed(&|graph| graph.edges[0].reverse())),
    ];
    each(&all, |name, model| {
        if registry::find(name).unwrap().is_of_molecules() {
            return;
        }
        let vectors = bits(&model.embed(&all).unwrap().values);
        let seen: Vec<&str> = variants
            .iter()
            .filter(|(_, graphs)| bits(&model.embed(graphs).unwrap().values) != vectors)
            .map(|(what, _)| *what)
            .collect();
        assert_eq!(seen, model.sees().names(), "{name}");
    });
}

#[test]
fn learning_can_be_stopped() {
    let all = graphs(20);
    let stop = |_: &Report<'_>| Flow::Stop;
    for name in ["hg2v", "graph2vec", "graph2vec-gnn", "graph2vec-loukas", "infograph", "wl-oa"] {
        let method = registry::find(name).unwrap().method(&small(name)).unwrap();
        let needs = method.needs();
        let run = Run::in_memory(&all);
        let collection = Collection::new(run, &needs, &Context::default()).unwrap();
        let stopped = Context::default().watched_by(&stop);
        let learnt = method.fit_collection(&collection, &collection.all(), &stopped);
        assert!(matches!(learnt, Err(Error::Stopped)), "{name}");
    }
}

#[test]
fn options_that_a_method_does_not_have_are_refused() {
    let refused = |name: &str, option: &'static str, value: Value| {
        let entry = registry::find(name).unwrap();
        entry.method(&[(option, value)]).map(|_| ()).unwrap_err().to_string()
    };
    for (name, option, value, word) in [
        ("wl-oa", "hops", json!(3), "hops is 3, but wl-oa has no such option"),
        ("wl-oa", "dim", json!(0), "dim is 0"),
        ("wwl", "gamma", json!(-1.0), "gamma is -1"),
        ("graph2vec", "rounds", json!(1001), "rounds is 1001"),
        ("graph2vec", "dim", json!("many"), "invalid type"),
        ("gin", "dim", json!(3), "it learns no vectors"),
    ] {
        let said = refused(name, option, value);
        assert!(said.contains(word), "{name}: {said}");
    }
    let unknown = registry::find("graph3vec").map(|_| ()).unwrap_err().to_string();
    assert!(unknown.contains("graph3vec") && unknown.contains("graph2vec-loukas"), "{unknown}");
}

/// Half of these graphs look like another to Weisfeiler–Lehman.
#[test]
fn kernels_of_real_graphs_have_vectors() {
    let Some(graphs) = real("IMDB-BINARY") else { return };
    for name in ["wl-subtree", "wl-oa", "wwl"] {
        let model = registry::find(name).unwrap().method(&[]).unwrap().fit(&graphs).unwrap();
        let rows = model.embed(&graphs[..50]).unwrap();
        assert!(rows.dim > 100 && rows.values.iter().all(|value| value.is_finite()), "{name}");
    }
}

/// With as many landmarks as graphs, and all directions, vectors are the kernel.
#[test]
fn kernels_as_vectors_are_the_kernels() {
    use hg2v_baselines::kernels::{wl_oa::WlOa, wl_subtree::WlSubtree, wwl::Wwl};
    use hg2v_eval::method::GraphKernel;
    let context = Context::default();
    for all in [graphs(30), attributed(16)] {
        let run = Run::in_memory(&all);
        let collection = Collection::new(run, &Default::default(), &context).unwrap();
        let oa = WlOa::default().rounds(2).grams(&collection, &context).unwrap().remove(2);
        let subtree =
            WlSubtree::default().rounds(2).grams(&collection, &context).unwrap().remove(2);
        let wwl = Wwl::default().rounds(vec![2]).gammas(vec![0.7]);
        let wwl = wwl.grams(&collection, &context).unwrap().remove(0);
        for (name, gram) in [("wl-oa", oa), ("wl-subtree", subtree), ("wwl", wwl)] {
            let mut options =
                vec![("dim", json!(64)), ("landmarks", json!(64)), ("rounds", json!(2))];
            if name == "wwl" {
                options.push(("gamma", json!(0.7)));
            }
            let model = registry::find(name).unwrap().method(&options).unwrap().fit(&all).unwrap();
            let rows = model.embed(&all).unwrap();
            for i in 0..all.len() {
                for j in 0..all.len() {
                    let both = rows.row(i).iter().zip(rows.row(j));
                    let product: f64 = both.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
                    let kernel = gram.row(i)[j];
                    assert!((product - kernel).abs() < 2e-4, "{name} {i} {j}: {product} {kernel}");
                }
            }
        }
    }
}
