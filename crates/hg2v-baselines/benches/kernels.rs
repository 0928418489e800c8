//! How fast kernels and Graph2Vec are:
//! `HG2V_DATA=DIR cargo bench --workspace --bench kernels -- FOLDER NAME[:COUNT]…`.
//!
//! Of each set, or of its first COUNT graphs, the Gram matrices, vectors, documents and
//! times are written into FOLDER for `peers/kernels.py`, which does the same with GraKeL
//! and gensim and compares.

// A bench prints what it measured, and has no one to return errors to.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::time::Instant;

use hg2v::Method;
use hg2v::context::Context;
use hg2v::dataset::{self, Limits};
use hg2v::graph::{EdgeChoice, GraphRecord, WeightPolicy};
use hg2v::prepare::{Collection, Needs, Run};
use hg2v_baselines::embedders::graph2vec::Graph2Vec;
use hg2v_baselines::kernels::wl_oa::WlOa;
use hg2v_baselines::kernels::wl_subtree::WlSubtree;
use hg2v_baselines::wl::Histograms;
use hg2v_eval::Matrix;
use hg2v_eval::method::GraphKernel;

/// Rounds of the kernels, and passes of which the fastest counts.
const ROUNDS: usize = 5;
const PASSES: usize = 3;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let (Some((folder, sets)), Some(data)) = (words.split_first(), std::env::var_os("HG2V_DATA"))
    else {
        return println!("skipped: give a folder and sets, and in HG2V_DATA where they are");
    };
    let folder = Path::new(folder);
    fs::create_dir_all(folder).unwrap();
    for set in sets {
        let (name, count) = set.split_once(':').unwrap_or((set, "1000000000"));
        let path = dataset::locate(Path::new(name), Some(data.as_ref())).unwrap();
        let records = dataset::open(&path, &Limits::default()).unwrap();
        let records = records.take(count.parse().unwrap());
        measure(set, folder, &records.collect::<hg2v::Result<Vec<_>>>().unwrap());
    }
}

fn measure(set: &str, folder: &Path, records: &[GraphRecord]) {
    let needs = Needs::default().weights(WeightPolicy::Ignore);
    let context = Context::default();
    let collection = Collection::new(Run::in_memory(records), &needs, &context).unwrap();
    let write = |what: &str, bytes: &[u8]| {
        fs::write(folder.join(format!("{}.{what}", set.replace(':', "-"))), bytes).unwrap();
    };
    let numbers = |x: &Matrix| x.values().iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();

    // GraKeL's kernels see no kinds of edges.
    let kernels: [(&str, &dyn GraphKernel); 2] = [
        ("wl-subtree", &WlSubtree::default().rounds(ROUNDS).edges(EdgeChoice::NOTHING)),
        ("wl-oa", &WlOa::default().rounds(ROUNDS).edges(EdgeChoice::NOTHING)),
    ];
    let [subtree, assignment] = kernels.map(|(name, kernel)| {
        let (seconds, grams) = fastest(|| kernel.grams(&collection, &context).unwrap());
        write(name, &numbers(&grams[ROUNDS]));
        println!("{set}: {name} to {ROUNDS} rounds in {seconds:.3} s");
        seconds
    });

    // With kinds of edges, of which GraKeL is given nodes.
    let kinds = WlSubtree::default().rounds(ROUNDS).edges(EdgeChoice::default());
    write("wl-subtree-kinds", &numbers(&kinds.grams(&collection, &context).unwrap()[ROUNDS]));

    let method = Graph2Vec::default().edges(EdgeChoice::NOTHING);
    let (seconds, vectors) = fastest(|| {
        let model = method.fit_collection(&collection, &collection.all(), &context).unwrap();
        let rows = model.embed_collection(&collection, &context).unwrap();
        Matrix::from_f32(records.len(), model.dim(), &rows.values).unwrap()
    });
    write("graph2vec", &numbers(&vectors));
    let Graph2Vec { rounds, skip_gram, .. } = method;
    println!("{set}: graph2vec, {} epochs, {seconds:.3} s", skip_gram.epochs);
    let histograms = Histograms::of(&collection, rounds, EdgeChoice::NOTHING).unwrap();
    let document = |rounds: &Vec<Vec<(u32, u32)>>| {
        let words = rounds.iter().flatten();
        let words = words.flat_map(|&(word, count)| vec![word.to_string(); count as usize]);
        words.collect::<Vec<_>>().join(" ") + "\n"
    };
    write("documents", histograms.of_graph.iter().map(document).collect::<String>().as_bytes());
    let note = serde_json::json!({
        "graphs": records.len(), "rounds": ROUNDS, "dim": skip_gram.dim,
        "epochs": skip_gram.epochs, "least": skip_gram.min_count, "sample": skip_gram.sample,
        "seconds": { "wl-subtree": subtree, "wl-oa": assignment, "graph2vec": seconds },
    });
    write("json", note.to_string().as_bytes());
}

fn fastest<T>(job: impl Fn() -> T) -> (f64, T) {
    let pass = |_| {
        let started = Instant::now();
        let made = job();
        (started.elapsed().as_secs_f64(), made)
    };
    (0..PASSES).map(pass).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
}
