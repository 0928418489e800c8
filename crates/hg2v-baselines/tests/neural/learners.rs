//! What supervised networks promise.

use hg2v::dataset::{self, Limits};
use hg2v::graph::GraphRecord;
use hg2v_baselines::classifiers::diffpool::DiffPool;
use hg2v_baselines::classifiers::gin::Gin;
use hg2v_baselines::classifiers::mincut::MinCut;
use hg2v_baselines::classifiers::training::Recipe;
use hg2v_eval::method::{Learner, Learnt};
use hg2v_eval::metrics::accuracy;
use hg2v_eval::select::Protocol;
use hg2v_eval::split::stratified_shuffle;
use hg2v_eval::study::{Mode, Study};

use crate::common::{at, classes, collect, planted};

/// All three, trained for a short while.
fn learners() -> [(&'static str, Box<dyn Learner>); 3] {
    let short = |recipe: Recipe| recipe.epochs(30).patience(10).batch(8).lr(0.01);
    let (mut gin, mut diffpool, mut mincut) =
        (Gin::default(), DiffPool::default(), MinCut::default());
    gin.grid.iter_mut().for_each(|params| params.hidden = 8);
    diffpool.grid.iter_mut().for_each(|params| (params.hidden, params.embedding) = (8, 8));
    mincut.grid.iter_mut().for_each(|params| params.hidden /= 4);
    gin.recipe = short(gin.recipe);
    diffpool.recipe = short(diffpool.recipe);
    mincut.recipe = short(mincut.recipe);
    [("GIN", Box::new(gin)), ("DiffPool", Box::new(diffpool)), ("MinCutPool", Box::new(mincut))]
}

#[test]
fn planted_classes_are_learnt_without_a_look_at_test_labels_at_any_thread_count() {
    let (records, labels) = (planted(80), classes(80));
    let collection = collect(&records);
    let split = stratified_shuffle(&labels, 0.25, 0, 0).unwrap();
    for (name, learner) in learners() {
        let learn = |labels: &[u32]| learner.learn(&collection, labels, 2, &split).unwrap();
        let one = at(1, || learn(&labels));
        let truth: Vec<u32> = split.test.iter().map(|&i| labels[i]).collect();
        let test = accuracy(&truth, &one.predictions).unwrap();
        assert!(test > 0.9, "{name}: {test}");
        assert_eq!(at(2, || learn(&labels)), one, "{name} at two threads");
        assert_eq!(at(4, || learn(&labels)), one, "{name} at four threads");
        let mut scrambled = labels.clone();
        split.test.iter().for_each(|&i| scrambled[i] = u32::MAX - i as u32);
        assert_eq!(at(2, || learn(&scrambled)), one, "{name} looks at test labels");
    }
}

#[test]
fn any_graph_is_accepted() {
    let mut records = planted(20);
    let odd = |num_nodes| GraphRecord { num_nodes, ..GraphRecord::default() };
    records.extend([odd(0), odd(1), odd(3), odd(0)]);
    let labels = classes(24);
    let collection = collect(&records);
    let split = stratified_shuffle(&labels, 0.25, 0, 0).unwrap();
    for (name, learner) in learners() {
        let learnt = learner.learn(&collection, &labels, 2, &split).unwrap();
        assert_eq!(learnt.predictions.len(), split.test.len(), "{name}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let (records, labels) = (planted(20), classes(20));
    let collection = collect(&records);
    let split = stratified_shuffle(&labels, 0.25, 0, 0).unwrap();
    let told = |gin: &Gin, labels: &[u32]| -> String {
        gin.learn(&collection, labels, 2, &split).unwrap_err().to_string()
    };
    let with = |recipe| Gin { recipe, ..Gin::default() };
    let recipe = Recipe::default();
    let rate = with(recipe.clone().lr(0.0));
    assert_eq!(told(&rate, &labels), "lr is 0, but it must be a finite number above 0");
    let batch = with(recipe.clone().batch(0));
    assert_eq!(told(&batch, &labels), "batch is 0, but a step needs at least one graph");
    let nothing = Gin { grid: Vec::new(), ..Gin::default() };
    assert_eq!(told(&nothing, &labels), "the grid of settings is empty; give at least one");
    let one_class = told(&Gin::default(), &[0; 20]);
    assert!(one_class.contains("only class 0"), "{one_class}");
    let wild = told(&with(recipe.lr(1e30)), &labels);
    assert!(wild.contains("diverged") && wild.contains("lower it"), "{wild}");
}

#[test]
fn mutag_is_learnt() {
    let Some(data) = std::env::var_os("HG2V_DATA") else {
        eprintln!("skipped: set HG2V_DATA to run mutag_is_learnt");
        return;
    };
    let path = std::path::Path::new(&data).join("MUTAG.zip");
    let records = dataset::open(&path, &Limits::default()).unwrap();
    let records: Vec<GraphRecord> = records.collect::<Result<_, _>>().unwrap();
    let collection = collect(&records);
    let study = Study::new(&collection, Mode::Inductive, 3, Protocol::default()).unwrap();
    for (name, learner) in learners() {
        let of = |split| {
            let Learnt { predictions, .. } =
                learner.learn(&collection, study.labels(), 2, split).unwrap();
            let truth: Vec<u32> = split.test.iter().map(|&i| study.labels()[i]).collect();
            accuracy(&truth, &predictions).unwrap()
        };
        let mean = study.splits.iter().map(of).sum::<f64>() / 3.0;
        assert!(mean > study.majority() + 0.08, "{name}: {mean}");
    }
}
