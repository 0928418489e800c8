//! Training and the model's folder: the same bits always, and nothing damaged is believed.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};

use hg2v::colours::ColourParams;
use hg2v::context::Context;
use hg2v::dataset::features::When;
use hg2v::graph::{Features, GraphRecord, Scalar};
use hg2v::internals::{End, Layout, PART, State, read_checkpoint, write_checkpoint};
use hg2v::prepare::Run;
use hg2v::progress::{Flow, Report, Stage};
use hg2v::saved;
use hg2v::{Hg2v, Hg2vConfig, Hg2vParams, Method, Model, TrainingFolder, Untrained};
use proptest::prelude::*;

use crate::common::damaged as any_damage;
use crate::network::noise;

/// Forty random trees and rings with two attributes a node.
/// The layout of a model's network.
fn layout(Hg2vConfig { architecture, preparation, .. }: &Hg2vConfig) -> Layout {
    Layout::new(architecture, preparation.features.dim()).unwrap()
}

fn graphs() -> Vec<GraphRecord> {
    (0..40u32)
        .map(|i| {
            let n = 8 + i % 13;
            let random = noise((3 * n) as usize, u64::from(i));
            let parent = |v: u32| ((random[v as usize] + 1.0) / 2.0 * f64::from(v)) as u32;
            let mut edges: Vec<[u32; 2]> = (1..n).map(|v| [parent(v), v]).collect();
            if i % 2 == 0 {
                edges.push([0, n - 1]);
            }
            GraphRecord {
                id: Some(Scalar::Int(i64::from(i))),
                label: Some(Scalar::Int(i64::from(i % 2))),
                num_nodes: n,
                edges,
                features: Some(Features { dim: 2, values: random[n as usize..].to_vec() }),
                ..GraphRecord::default()
            }
        })
        .collect()
}

fn params() -> Hg2vParams {
    Hg2v::params().dim(12).hops(3).levels(2).epochs(3).lr(1e-3).seed(5)
}

fn in_pool<T: Send>(threads: usize, job: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(job)
}

#[test]
fn training_gives_the_same_bits_at_any_number_of_threads() {
    let graphs = graphs();
    let fit = |threads| {
        in_pool(threads, || {
            let model = params().fit(&graphs).unwrap();
            (model.parameters().to_vec(), model.embed(&graphs).unwrap().values)
        })
    };
    let one = fit(1);
    assert!(one == fit(2), "two threads differ from one");
    assert!(one == fit(4), "four threads differ from one");
    let other = params().seed(6).fit(&graphs).unwrap();
    assert_ne!(other.parameters(), one.0, "the seed must matter");
}

#[test]
fn graphs_made_ready_are_counted_and_can_be_stopped() {
    let all: Vec<GraphRecord> = graphs().into_iter().cycle().take(2 * PART + 10).collect();
    let run = Run::in_memory(&all);
    let heard = Mutex::new(Vec::new());
    let listen = |report: &Report<'_>| {
        assert_eq!((report.stage, report.total), (Stage::Coarsening, all.len() as u64));
        heard.lock().unwrap().push(report.done);
        Flow::Continue
    };
    params().collect(run, &Context::default().watched_by(&listen)).unwrap();
    let mut heard = heard.into_inner().unwrap();
    heard.sort_unstable();
    heard.retain(|&done| done > 0);
    assert_eq!(heard, (1..=all.len() as u64).collect::<Vec<_>>());
    let huge = GraphRecord { num_nodes: 1 << 19, ..GraphRecord::default() };
    let sized: Vec<GraphRecord> = [&all[..3], &[huge.clone(), huge], &all[3..5]].concat();
    let parts_of: Vec<(u64, usize)> =
        Run::in_memory(&sized).parts().map(|part| (part.position, part.records.len())).collect();
    assert_eq!(parts_of, [(0, 4), (4, 1), (5, 2)], "a large graph ends its part");
    let most = AtomicU64::new(0);
    let stop = |report: &Report<'_>| {
        most.fetch_max(report.done, Ordering::Relaxed);
        if report.done >= 7 { Flow::Stop } else { Flow::Continue }
    };
    let stopped = params().collect(run, &Context::default().watched_by(&stop));
    assert!(matches!(stopped, Err(hg2v::Error::Stopped)));
    assert!(most.into_inner() < all.len() as u64, "it went on to the end");
    let mut bad = all.clone();
    bad[PART + 3].weights = Some(vec![-1.0; bad[PART + 3].edges.len()]);
    let refused = params().collect(Run::in_memory(&bad), &Context::default()).unwrap_err();
    assert!(refused.to_string().contains(&format!("record {}", PART + 4)), "{refused}");
}

#[cfg(feature = "parquet")]
#[test]
fn rows_in_memory_have_the_vectors_of_their_graphs() {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float32Type;
    let graphs = graphs();
    let model = params().fit(&graphs).unwrap();
    let batch = hg2v::dataset::parquet::batch(&graphs).unwrap();
    let limits = hg2v::dataset::Limits::default();
    let embed = |rows: &arrow_array::RecordBatch| {
        let context = Context::default();
        hg2v::rows::embed(&model, rows, Path::new("<rows>"), 0, &limits, &context).unwrap()
    };
    let made = embed(&batch);
    let values = made.column_by_name("embedding").unwrap().as_fixed_size_list().values().clone();
    assert_eq!(
        values.as_primitive::<Float32Type>().values().as_ref(),
        model.embed(&graphs).unwrap().values
    );
    for name in ["id", "y"] {
        assert_eq!(made.column_by_name(name), batch.column_by_name(name));
    }
    assert_eq!(embed(&batch.slice(7, 5)), made.slice(7, 5), "a slice is embedded as it is");
    let nothing = embed(&batch.slice(0, 0));
    assert_eq!((nothing.num_rows(), nothing.schema()), (0, made.schema()));
}

#[test]
fn a_model_is_its_parts() {
    let graphs = graphs();
    let model = params().alone().fit(&graphs).unwrap();
    let (config, parameters) = (model.config().clone(), model.parameters().to_vec());
    let again = Hg2v::from_parts(config.clone(), parameters.clone()).unwrap();
    assert_eq!(again.embed(&graphs).unwrap(), model.embed(&graphs).unwrap());
    assert!(Hg2v::from_parts(config.clone(), parameters[1..].to_vec()).is_err());
    let mut bad = parameters;
    bad[3] = f32::NAN;
    assert!(Hg2v::from_parts(config, bad).unwrap_err().to_string().contains("NaN"));
    // What stands beside the network is not among its parameters.
    let mixed = params().fit(&graphs).unwrap();
    let (config, parameters) = (mixed.config().clone(), mixed.parameters().to_vec());
    let refused = Hg2v::from_parts(config, parameters).unwrap_err().to_string();
    assert!(refused.contains("beside the network"), "{refused}");
    let json = serde_json::to_string(&params()).unwrap();
    assert_eq!(serde_json::from_str::<Hg2vParams>(&json).unwrap(), params());
}

/// As [`params`], with negatives that are drawn: batches have some forty super-nodes.
fn drawing() -> Hg2vParams {
    params().recipe(params().recipe.negative_sample(3))
}

#[test]
fn negatives_are_drawn_anew_every_step_and_from_the_seed() {
    let graphs = graphs();
    let parameters = |params: Hg2vParams| params.fit(&graphs).unwrap().parameters().to_vec();
    let all = parameters(params());
    assert_eq!(all, parameters(params().recipe(params().recipe.negative_sample(0))));
    let drawn = parameters(drawing());
    assert_ne!(drawn, all, "batches are too small for these samples");
    for threads in [1, 2, 4] {
        assert_eq!(in_pool(threads, || parameters(drawing())), drawn, "{threads} threads");
    }
}

#[test]
fn a_run_stopped_anywhere_and_resumed_from_disk_ends_in_the_same_bits() {
    stop_anywhere_and_resume(&params());
    stop_anywhere_and_resume(&drawing());
}

fn stop_anywhere_and_resume(params: &Hg2vParams) {
    let graphs = graphs();
    let folder = tempfile::tempdir().unwrap();
    let collection = params.collect(Run::in_memory(&graphs), &Context::default()).unwrap();
    let fit = params.prepare(&collection, &collection.all()).unwrap();
    let whole = fit.train(&Context::default()).unwrap();
    let mut last_means = Vec::new();
    for stop_after in [0, 3, 4, 5, 9, 14] {
        let mut state: Option<State> = None;
        let (_, end) = fit
            .steps(None, &Context::default(), |now, step, _| {
                Ok(if step.step == stop_after {
                    state = Some(now());
                    Flow::Stop
                } else {
                    Flow::Continue
                })
            })
            .unwrap();
        write_checkpoint(folder.path(), state.as_ref().unwrap()).unwrap();
        let read = read_checkpoint(folder.path(), &layout(&fit.config.model)).unwrap().unwrap();
        assert_eq!(read, state.unwrap());
        // Stopped after its last step, a run has nothing left to do.
        assert_eq!(end, End::Stopped);
        let mut mean = None;
        let watch = |_: &dyn Fn() -> State, step: &hg2v::train::Step, _: bool| {
            mean = Some(step.mean.clone());
            Ok(Flow::Continue)
        };
        let (resumed, _) = fit.steps(Some(&read), &Context::default(), watch).unwrap();
        assert_eq!(resumed.parameters(), whole.parameters(), "stopped after {stop_after}");
        last_means.extend(mean);
    }
    assert!(last_means.windows(2).all(|pair| pair[0] == pair[1]), "the log would differ");
}

/// A training in a folder that is stopped after every so many steps and called again.
#[test]
fn a_training_in_a_folder_goes_on_to_the_same_bits() {
    let graphs = graphs();
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("model");
    let whole = params().fit(&graphs).unwrap();
    let run = Run::in_memory(&graphs);
    let mut stops = 0;
    let model = loop {
        let steps = AtomicU64::new(0);
        let watch = |report: &Report<'_>| match report.stage {
            Stage::Training if steps.fetch_add(1, Ordering::Relaxed) == 3 => Flow::Stop,
            _ => Flow::Continue,
        };
        match params().fit_in(&folder, run, &Context::default().watched_by(&watch)) {
            Ok(model) => break model,
            Err(hg2v::Error::Stopped) => stops += 1,
            Err(other) => panic!("{other}"),
        }
        assert!(hg2v::is_unfinished(&folder));
        let says = |result: hg2v::Result<Hg2v>| result.unwrap_err().to_string();
        let other = says(params().seed(9).fit_in(&folder, run, &Context::default()));
        assert!(other.contains("other options"), "{other}");
        let fewer = Run::in_memory(&graphs[1..]);
        let other = says(params().fit_in(&folder, fewer, &Context::default()));
        assert!(other.contains("other graphs"), "{other}");
        let new = TrainingFolder::new(&folder).map(|_| ()).unwrap_err().to_string();
        assert!(new.contains("not finished"), "{new}");
    };
    assert_eq!(stops, 3, "fifteen steps, four at a time");
    assert_eq!(model.parameters(), whole.parameters());
    assert_eq!(Hg2v::load(&folder).unwrap().embed(&graphs).unwrap(), whole.embed(&graphs).unwrap());
    let log = saved::read_log(&folder).unwrap();
    assert_eq!(log.iter().map(|line| line.epoch).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(!folder.join(saved::CHECKPOINT).exists());
    let again = params().fit_in(&folder, run, &Context::default()).unwrap_err().to_string();
    assert!(again.contains("is finished"), "{again}");
}

#[test]
fn training_makes_the_loss_smaller_on_every_level() {
    let graphs = graphs();
    let params = params().lr(1e-2).epochs(60);
    let collection = params.collect(Run::in_memory(&graphs), &Context::default()).unwrap();
    let fit = params.prepare(&collection, &collection.all()).unwrap();
    let mut epochs = Vec::new();
    fit.steps(None, &Context::default(), |_, step, _| {
        if step.ends_epoch {
            epochs.push(step.mean.iter().map(|loss| loss.total()).collect::<Vec<_>>());
        }
        Ok(Flow::Continue)
    })
    .unwrap();
    let (first, last) = (&epochs[0], &epochs[59]);
    assert!(last.iter().zip(first).all(|(last, first)| last < first), "{first:?} {last:?}");
    // A guess that tells nothing apart costs 2·ln 2 a level.
    assert!(last.iter().all(|loss| *loss < 2.0 * 2f64.ln()), "{last:?}");
}

#[test]
fn a_rate_that_diverges_stops_with_the_last_good_state() {
    let graphs = graphs();
    let params = params().lr(1e30);
    let collection = params.collect(Run::in_memory(&graphs), &Context::default()).unwrap();
    let fit = params.prepare(&collection, &collection.all()).unwrap();
    let error = fit.train(&Context::default()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("diverged") && error.contains("tenth of the rate"), "{error}");
}

#[test]
fn parameters_that_are_not_numbers_after_the_last_step_are_not_kept() {
    let graphs = graphs();
    // A single step: its loss is good, what it leaves is not.
    let params = params().epochs(1).batch(graphs.len()).lr(1e39);
    let collection = params.collect(Run::in_memory(&graphs), &Context::default()).unwrap();
    let fit = params.prepare(&collection, &collection.all()).unwrap();
    let failure =
        fit.steps(None, &Context::default(), |_, _, _| Ok(Flow::Continue)).map(|_| ()).unwrap_err();
    assert!(failure.error.to_string().contains("not numbers"), "{}", failure.error);
    let good = failure.good.unwrap();
    assert_eq!(good.step, 0);
    assert!(good.parameters.iter().all(|value| value.is_finite()));
}

#[test]
fn a_record_that_does_not_hold_together_is_refused_by_name() {
    let whole = || GraphRecord { num_nodes: 3, edges: vec![[0, 1]], ..GraphRecord::default() };
    let features = |values: Vec<f64>| Some(Features { dim: 2, values });
    for (record, said) in [
        (GraphRecord { edges: vec![[0, 3]], ..whole() }, "nodes 0 and 3"),
        (GraphRecord { weights: Some(vec![1.0, 2.0]), ..whole() }, "2 weights for 1 edges"),
        (GraphRecord { weights: Some(vec![f64::NAN]), ..whole() }, "NaN"),
        (GraphRecord { node_labels: Some(vec![]), ..whole() }, "0 labels for 3 nodes"),
        (GraphRecord { features: features(vec![1.0; 5]), ..whole() }, "5 attributes for 6 places"),
        (GraphRecord { features: features(vec![f64::INFINITY; 6]), ..whole() }, "inf"),
    ] {
        let said_of = |error: hg2v::Error| {
            let error = error.to_string();
            assert!(error.contains("graph number 1") && error.contains(said), "{error}");
        };
        said_of(params().fit(&[whole(), record.clone()]).map(|_| ()).unwrap_err());
        let model = params().epochs(0).fit(&[whole()]).unwrap();
        said_of(model.embed(&[whole(), record]).map(|_| ()).unwrap_err());
    }
}

/// By default the atoms of molecules are counted, and no other labels; a model that is read back counts as
/// before, and so does its control.
#[test]
fn atoms_are_counted_by_default() {
    let smiles = ["CCO", "CCCO", "CCCCO", "c1ccccc1", "Cc1ccccc1", "CCN", "CCCN", "C", "CC(=O)O"];
    let limits = hg2v::dataset::Limits::default();
    let molecules: Vec<GraphRecord> = smiles
        .iter()
        .map(|text| hg2v::dataset::molecules::from_smiles(text, &limits).unwrap())
        .collect();
    let params = Hg2v::params().dim(8).levels(1).epochs(1);
    let model = params.fit(&molecules).unwrap();
    let without = params.clone().census(When::Never).fit(&molecules).unwrap();
    assert_ne!(model.embed(&molecules).unwrap(), without.embed(&molecules).unwrap());
    let folder = tempfile::tempdir().unwrap();
    model.save(&folder.path().join("m")).unwrap();
    let read = Hg2v::load(&folder.path().join("m")).unwrap();
    assert_eq!(read.embed(&molecules).unwrap(), model.embed(&molecules).unwrap());
    let untrained = model.untrained().embed(&molecules).unwrap();
    assert_eq!(read.untrained().embed(&molecules).unwrap(), untrained);

    // A chain twice as long has twice the atoms of its middle, where nothing else says so.
    let alone = params.clone().alone().census(When::Always).dim(1).fit(&molecules).unwrap();
    let columns = alone.columns();
    let census: Vec<usize> =
        (0..columns.len()).filter(|&c| columns[c].starts_with("census.")).collect();
    let chain = |n: usize| {
        let text = format!("C{}C", "C".repeat(n));
        let made = hg2v::dataset::molecules::from_smiles(&text, &limits).unwrap();
        let row = alone.embed(&[made]).unwrap().values;
        census.iter().map(|&c| row[c]).collect::<Vec<f32>>()
    };
    let [none, two, four] = [0, 2, 4].map(chain);
    assert!(!census.is_empty());
    for ((none, two), four) in none.iter().zip(&two).zip(&four) {
        assert!((four - none - 2.0 * (two - none)).abs() < 1e-4);
    }

    // Labels of anything else are not counted.
    let mut named = molecules.clone();
    for record in &mut named {
        let labels = record.node_labels.take().unwrap();
        let name = |label: &Scalar| Scalar::Text(format!("function {label}").into());
        record.node_labels = Some(labels.iter().map(name).collect());
    }
    let [auto, never] = [When::Auto, When::Never]
        .map(|census| params.clone().census(census).fit(&named).unwrap().embed(&named).unwrap());
    assert_eq!(auto.values, never.values);
}

#[test]
fn a_model_read_back_embeds_to_the_same_bits() {
    let graphs = graphs();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let model = params().fit(&graphs).unwrap();
    model.save(&path).unwrap();
    let read = Hg2v::load(&path).unwrap();
    assert_eq!(read.embed(&graphs).unwrap(), model.embed(&graphs).unwrap());
    assert_eq!(read.untrained().parameters(), model.untrained().parameters());
    assert_ne!(read.untrained().parameters(), read.parameters());

    // With colours and a last step, too: what a model keeps is enough for its control.
    let mixed = params().colours(ColourParams::default().dim(4)).out_dim(Some(16));
    let model = mixed.fit(&graphs).unwrap();
    model.save(&folder.path().join("mixed")).unwrap();
    let read = Hg2v::load(&folder.path().join("mixed")).unwrap();
    assert_eq!(read.embed(&graphs).unwrap(), model.embed(&graphs).unwrap());
    let control = Untrained(mixed.clone()).fit(&graphs).unwrap().embed(&graphs).unwrap();
    assert_eq!(read.untrained().embed(&graphs).unwrap().values, control.values);
    let kept =
        mixed.fit_in(&folder.path().join("kept"), Run::in_memory(&graphs), &Context::default());
    assert_eq!(kept.unwrap().embed(&graphs).unwrap().values, model.embed(&graphs).unwrap().values);
    let again = model.save(&path).unwrap_err().to_string();
    assert!(again.contains("not empty"), "{again}");
}

/// Charges of ±1 that cancel in every training graph leave a column of zeros, not of rounding:
/// whoever standardises it divides by nothing, and a charged graph later stands out by its charge.
#[test]
fn charges_that_cancel_leave_zeros_and_a_charged_graph_stands_out() {
    let charged = |i: usize, net: f64| {
        let mut graph = graphs().swap_remove(i);
        let nodes = graph.num_nodes as usize;
        let mut values = vec![0.0; nodes];
        for pair in 0..i % 4 {
            (values[pair], values[nodes - 1 - pair]) = (1.0, -1.0);
        }
        values[nodes / 2] = net;
        graph.features = Some(Features { dim: 1, values });
        graph
    };
    let neutral: Vec<GraphRecord> = (0..40).map(|i| charged(i, 0.0)).collect();
    let model = params().alone().fit(&neutral).unwrap();
    let names = model.columns();
    let sum = names.iter().position(|name| name == "g0.sum.0").unwrap();
    let vectors = model.embed(&neutral).unwrap();
    assert!((0..40).all(|i| vectors.row(i)[sum] == 0.0));
    let ion = model.embed(&[charged(3, 1.0)]).unwrap();
    let width = model.preparation().features.attributes().unwrap().std[0];
    assert_eq!(ion.row(0)[sum], (1.0 / width).ln_1p() as f32);

    // A column that never varied.
    let mut flat = neutral;
    flat.iter_mut().for_each(|graph| graph.features.as_mut().unwrap().values.fill(0.0));
    let model = params().alone().fit(&flat).unwrap();
    let vectors = model.embed(&flat).unwrap();
    assert!((0..40).all(|i| vectors.row(i)[sum] == 0.0));
    let ion = model.embed(&[charged(4, 1.0)]).unwrap();
    assert_eq!(ion.row(0)[sum], 1f64.ln_1p() as f32);
}

/// Changes one file of a model's folder, and what loading it then says.
fn damaged(change: impl FnOnce(&Path)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    params().epochs(1).fit(&graphs()).unwrap().save(&path).unwrap();
    change(&path);
    Hg2v::load(&path).unwrap_err().to_string()
}

/// The same of a configuration that is signed again.
fn resigned(change: impl FnOnce(&mut saved::Config<Hg2vConfig>)) -> String {
    damaged(|path| {
        let mut config = saved::read_config(path).unwrap();
        change(&mut config);
        saved::write_config(path, &config).unwrap();
    })
}

fn edit(path: &Path, name: &str, change: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    let file = path.join(name);
    fs::write(&file, change(fs::read(&file).unwrap())).unwrap();
}

fn replaced(bytes: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(from), "{text}");
    text.replacen(from, to, 1).into_bytes()
}

#[test]
fn a_damaged_model_is_refused_and_the_message_says_what_is_wrong() {
    let config = |from: &'static str, to: &'static str| {
        damaged(|path| edit(path, saved::CONFIG, |bytes| replaced(bytes, from, to)))
    };
    let says = |error: String, words: &[&str]| {
        assert!(words.iter().all(|word| error.contains(word)), "{words:?} not in: {error}");
    };
    says(
        damaged(|p| fs::remove_file(p.join(saved::CONFIG)).unwrap()),
        &["config.json", "no such file", "fit"],
    );
    says(
        damaged(|p| fs::remove_file(p.join(saved::PARAMETERS)).unwrap()),
        &["model.safetensors", "no such file", "restore"],
    );
    says(
        config("\"format\": 3", "\"format\": 1"),
        &["format is 1", "knows 3", "fit the model again"],
    );
    says(config("\"dim\": 12", "\"dim\": 13"), &["config.json", "changed or damaged"]);
    says(config("\"sha256\"", "\"sha\""), &["unknown field"]);
    for dim in [0, 99_999_999_999] {
        says(resigned(|config| config.model.architecture.dim = dim), &[&format!("dim is {dim}")]);
    }
    says(config("{", "["), &["config.json", "line", "no configuration of a model"]);
    says(config("\"bias\"", "\"biass\""), &["changed or damaged"]);
    says(
        config("\"parameters_sha256\": \"", "\"parameters_sha256\": \"0"),
        &["changed or damaged"],
    );
    let narrower = resigned(|config| config.model.architecture.dim = 13);
    says(narrower, &["shape", "config.json asks for"]);
    let other = resigned(|config| config.method = "graph2vec".to_owned());
    says(other, &["a model of `graph2vec`"]);
    for keep in [0, 7, 60, 2000] {
        let cut = damaged(|p| edit(p, saved::PARAMETERS, |bytes| bytes[..keep].to_vec()));
        says(cut, &["model.safetensors", "no whole safetensors file"]);
    }
    let nan = damaged(|p| {
        edit(p, saved::PARAMETERS, |mut bytes| {
            let at = bytes.len() - 4;
            bytes[at..].copy_from_slice(&f32::NAN.to_le_bytes());
            bytes
        });
    });
    says(nan, &["content is not what config.json was written with"]);
    let flipped = damaged(|p| {
        edit(p, saved::PARAMETERS, |mut bytes| {
            let at = bytes.len() - 4;
            bytes[at] ^= 1;
            bytes
        });
    });
    says(flipped, &["content is not what config.json was written with"]);
    let unfinished = resigned(|config| config.parameters_sha256 = None);
    says(unfinished, &["not finished", "resume"]);
    let file = tempfile::NamedTempFile::new().unwrap();
    says(Hg2v::load(file.path()).unwrap_err().to_string(), &["a model is a folder"]);
}

#[test]
fn a_damaged_checkpoint_is_never_resumed_from() {
    let graphs = graphs();
    let folder = tempfile::tempdir().unwrap();
    let collection = params().collect(Run::in_memory(&graphs), &Context::default()).unwrap();
    let fit = params().prepare(&collection, &collection.all()).unwrap();
    let layout = &layout(&fit.config.model);
    assert!(read_checkpoint(folder.path(), layout).unwrap().is_none());
    let mut state = None;
    fit.steps(None, &Context::default(), |now, _, _| {
        state = Some(now());
        Ok(Flow::Stop)
    })
    .unwrap();
    write_checkpoint(folder.path(), &state.unwrap()).unwrap();
    let file = folder.path().join(saved::CHECKPOINT);
    let whole = fs::read(&file).unwrap();
    for at in (0..whole.len()).step_by(97) {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        fs::write(&file, &bytes).unwrap();
        assert!(read_checkpoint(folder.path(), layout).is_err(), "byte {at}");
        fs::write(&file, &whole[..at]).unwrap();
        assert!(read_checkpoint(folder.path(), layout).is_err(), "cut at {at}");
    }
}

/// Whichever bit of a configuration flips: it is refused, or says what it said before (a space that
/// became another).
#[test]
fn no_flipped_bit_of_a_configuration_gives_other_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let params = params().dim(2).hops(1).levels(1).epochs(1);
    params.fit(&graphs()).unwrap().save(&path).unwrap();
    let file = path.join(saved::CONFIG);
    let (whole, config) =
        (fs::read(&file).unwrap(), saved::read_config::<Hg2vConfig>(&path).unwrap());
    let mut accepted = 0;
    for at in 0..8 * whole.len() {
        let mut bytes = whole.clone();
        bytes[at / 8] ^= 1 << (at % 8);
        fs::write(&file, &bytes).unwrap();
        if let Ok(read) = saved::read_config::<Hg2vConfig>(&path) {
            assert_eq!(read, config, "bit {at}: {}", String::from_utf8_lossy(&bytes));
            accepted += 1;
        }
    }
    assert!(accepted < whole.len(), "{accepted} of {} flips were accepted", 8 * whole.len());
}

#[test]
fn a_model_is_told_from_others_by_its_digest() {
    let (graphs, params) = (graphs(), params().epochs(1));
    let model = params.fit(&graphs).unwrap();
    let digest = model.digest().unwrap();
    assert_eq!(
        (digest.len(), digest.clone()),
        (16, params.fit(&graphs).unwrap().digest().unwrap())
    );
    let folder = tempfile::tempdir().unwrap();
    model.save(&folder.path().join("model")).unwrap();
    assert_eq!(Hg2v::load(&folder.path().join("model")).unwrap().digest().unwrap(), digest);
    assert_ne!(model.untrained().digest().unwrap(), digest);
    assert_ne!(params.seed(9).fit(&graphs).unwrap().digest().unwrap(), digest);
}

/// A configuration asks for 2³⁷ numbers; the file that has none of them is refused
/// before memory is.
#[test]
fn a_configuration_chooses_no_allocation() {
    let error = resigned(|config| {
        let network = &mut config.model.architecture;
        (network.dim, network.hops, network.levels) = (1 << 14, 64, 32);
    });
    assert!(error.contains("config.json asks for F32 of [130, 16384]"), "{error}");
}

/// The files of a model and of a run on its way, whole.
static FILES: LazyLock<[(&str, Vec<u8>); 3]> = LazyLock::new(|| {
    let graphs = graphs();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let params = params().dim(2).hops(1).levels(1);
    params.fit(&graphs).unwrap().save(&path).unwrap();
    let collection = params.collect(Run::in_memory(&graphs), &Context::default()).unwrap();
    let fit = params.prepare(&collection, &collection.all()).unwrap();
    let watch = |now: &dyn Fn() -> State, _: &_, _: bool| {
        write_checkpoint(&path, &now())?;
        Ok(Flow::Stop)
    };
    fit.steps(None, &Context::default(), watch).unwrap();
    [saved::CONFIG, saved::PARAMETERS, saved::CHECKPOINT]
        .map(|name| (name, fs::read(path.join(name)).unwrap()))
});

proptest! {
    /// Whatever bytes a model's folder holds, it is a model that embeds, or an
    /// error that says something.
    #[test]
    fn damaged_folders_are_models_or_errors(
        (which, bytes) in (0usize..3).prop_flat_map(|which| {
            (Just(which), any_damage(FILES[which].1.clone()))
        }),
    ) {
        let mut files = FILES.clone();
        files[which].1 = bytes;
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in &files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        match Hg2v::load(folder.path()) {
            Err(error) => prop_assert!(error.to_string().contains("; ")),
            Ok(model) => {
                let state = read_checkpoint(folder.path(), &layout(&model.config().model));
                if let Err(error) = state {
                    prop_assert!(error.to_string().contains("; "));
                }
                // The features may be other ones now.
                if let Err(error) = model.embed(&graphs()[..1]) {
                    prop_assert!(error.to_string().contains("; "));
                }
            }
        }
    }
}

#[test]
fn parameters_out_of_range_are_named() {
    let graphs = graphs();
    let says = |params: Hg2vParams, word: &str| {
        let error = params.fit(&graphs).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    says(params().dim(0), "dim is 0");
    says(params().dim(1 << 20), "dim is 1048576");
    says(params().hops(0), "hops is 0");
    says(params().levels(0), "levels is 0");
    says(params().batch(0), "batch is 0");
    says(params().lr(0.0), "lr is 0");
    says(params().lr(f64::NAN), "lr is NaN");
    says(params().epochs(u64::MAX), "epochs is");
    let mut none = params();
    none.architecture.readout.clear();
    says(none, "readout");
}

#[test]
fn small_and_odd_collections_are_trained_on_or_refused_by_name() {
    let empty = params().fit(&[]).map(|_| ()).unwrap_err().to_string();
    assert!(empty.contains("no graphs"), "{empty}");
    let all = graphs();
    // One graph has no other to be told from, yet its own nodes.
    let one = params().fit(&all[..1]).unwrap();
    assert!(one.embed(&all).unwrap().values.iter().all(|value| value.is_finite()));
    // Equal graphs have equal vectors.
    let same = vec![all[0].clone(); 9];
    let vectors = params().fit(&same).unwrap().embed(&same).unwrap();
    assert!((1..9).all(|i| vectors.row(i) == vectors.row(0)));
    // No nodes, one node, no edges.
    let bare = |n: u32| GraphRecord {
        num_nodes: n,
        features: Some(Features { dim: 2, values: vec![0.5; 2 * n as usize] }),
        ..GraphRecord::default()
    };
    let odd = vec![bare(0), bare(1), bare(5), all[0].clone()];
    let vectors = params().fit(&odd).unwrap().embed(&odd).unwrap();
    assert!(vectors.values.iter().all(|value| value.is_finite()));
    let vectors = params().alone().fit(&odd).unwrap().embed(&odd).unwrap();
    assert!(vectors.row(0).iter().all(|value| *value == 0.0), "no nodes, no vector");
}

#[test]
fn graphs_whose_features_do_not_match_the_model_are_named() {
    let mut all = graphs();
    let model = params().epochs(1).fit(&all).unwrap();
    all[3].features = None;
    let error = model.embed(&all).unwrap_err().to_string();
    assert!(error.contains("graph `3` has no node attributes"), "{error}");
    all[3].features = Some(Features { dim: 3, values: vec![0.0; 3 * all[3].num_nodes as usize] });
    let error = model.embed(&all).unwrap_err().to_string();
    assert!(error.contains("3 attributes a node") && error.contains("expects 2"), "{error}");
}

#[test]
fn isomorphic_graphs_without_ties_have_equal_vectors_to_rounding() {
    let all = graphs();
    let model = params().fit(&all).unwrap();
    let mut compared = 0;
    for record in &all {
        // Weights that differ everywhere break every tie.
        let weights = noise(record.edges.len(), 77).iter().map(|w| 1.0 + 0.5 * w).collect();
        let record = GraphRecord { weights: Some(weights), ..record.clone() };
        let n = record.num_nodes;
        let name = |v: u32| (v * 5 + 3) % n;
        if n.is_multiple_of(5) {
            continue;
        }
        let features = record.features.as_ref().unwrap();
        let mut values = vec![0.0; features.values.len()];
        for v in 0..n {
            let to = 2 * name(v) as usize;
            values[to..to + 2].copy_from_slice(features.row(v as usize));
        }
        let renamed = GraphRecord {
            edges: record.edges.iter().map(|ends| ends.map(name)).collect(),
            features: Some(Features { dim: 2, values }),
            ..record.clone()
        };
        let pair = model.embed(&[record, renamed]).unwrap();
        let scale = pair.row(0).iter().fold(0f32, |most, value| most.max(value.abs()));
        for (a, b) in pair.row(0).iter().zip(pair.row(1)) {
            assert!((a - b).abs() <= 1e-5 * scale, "{a} {b}");
        }
        compared += 1;
    }
    assert!(compared > 25);
}
