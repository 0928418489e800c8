//! What is to be predicted, and studies of it.

use std::sync::atomic::{AtomicUsize, Ordering};

use hg2v::context::Context;
use hg2v::error::Library;
use hg2v::graph::{GraphRecord, Scalar, Target};
use hg2v::prepare::{Collection, Needs, Run};
use hg2v::{Hg2vParams, Method, Model};
use hg2v_eval::classifiers::Classifier;
use hg2v_eval::controls::Majority;
use hg2v_eval::goal::{Goal, Task, Truth};
use hg2v_eval::method::{Candidate, Learner};
use hg2v_eval::metrics::{Difference, Errors, errors};
use hg2v_eval::select::Protocol;
use hg2v_eval::study::{Mode, Predictions, Study};
use hg2v_eval::{Error, Matrix};
use serde_json::Value;

fn goal_of(values: &[Scalar], task: Task) -> Result<Goal, Error> {
    Goal::of(None, &values.iter().map(Some).collect::<Vec<_>>(), task)
}

fn ints(count: i64, distinct: i64) -> Vec<Scalar> {
    (0..count).map(|at| Scalar::Int(at % distinct)).collect()
}

#[test]
fn numbers_are_told_from_classes_by_fractions_and_by_how_many_they_are() {
    let auto = |values: &[Scalar]| goal_of(values, Task::Auto).unwrap().task();
    // 21 of 100 graphs are many; 20 are few, and so are 21 of 420, a twentieth.
    assert_eq!(auto(&ints(100, 21)), Task::Numbers);
    assert_eq!(auto(&ints(100, 20)), Task::Classes);
    assert_eq!(auto(&ints(420, 21)), Task::Classes);
    assert_eq!(auto(&ints(419, 21)), Task::Numbers);
    // 1.0 is whole, however it is spelled; 0.5 is not.
    assert_eq!(auto(&[Scalar::Float(1.0), Scalar::Int(2)]), Task::Classes);
    assert_eq!(auto(&[Scalar::Float(0.5), Scalar::Int(2)]), Task::Numbers);
    let text = ["a", "b"].map(|text| Scalar::Text(text.into()));
    assert_eq!(auto(&text), Task::Classes);
    assert_eq!(auto(&[Scalar::Bool(true), Scalar::Bool(false)]), Task::Classes);
    // Who says so is believed.
    assert_eq!(goal_of(&ints(100, 2), Task::Numbers).unwrap().task(), Task::Numbers);
    let halves = [Scalar::Float(0.5), Scalar::Int(2)];
    assert_eq!(goal_of(&halves, Task::Classes).unwrap().classes(), halves);
}

#[test]
fn what_cannot_be_predicted_is_named() {
    let says = |result: Result<Goal, Error>, text: &str| {
        let Err(error) = result else { panic!("accepted; expected: {text}") };
        assert_eq!(error.worded(&Library), text);
    };
    let mixed = [Scalar::Float(0.5), Scalar::Text("high".into())];
    says(
        goal_of(&mixed, Task::Auto),
        "y is the number 0.5 for graph 0 and high for graph 1 (from 0); make all of them numbers; \
         set task to classes",
    );
    assert_eq!(goal_of(&mixed, Task::Classes).unwrap().classes().len(), 2);
    says(
        goal_of(&mixed, Task::Numbers),
        "y of graph 1 (from 0) is high, which is no number below 1e100; mend or remove it; set \
         task to classes",
    );
    let huge = [Scalar::Float(0.5), Scalar::Float(1e200)];
    assert!(matches!(goal_of(&huge, Task::Auto), Err(Error::NoNumber { graph: 1, .. })));
    says(
        goal_of(&[Scalar::Float(2.5), Scalar::Float(2.5)], Task::Auto),
        "y is 2.5 for all 2 graphs that have it; there is nothing to predict; name another target \
         as target",
    );
    says(
        Goal::of(Some("logp".into()), &[None, None, None], Task::Auto),
        "none of 3 graphs has a value of logp; name another target as target",
    );
    assert!(matches!(goal_of(&ints(9, 1), Task::Auto), Err(Error::OneLabel { graphs: 9, .. })));
    let nothing = [GraphRecord::default(), GraphRecord::default()];
    let result = Goal::all(&nothing, Task::Auto);
    assert!(matches!(result, Err(Error::Unlabelled { unlabelled: 2, graphs: 2 })));
}

/// Paths of 2 to 41 nodes with three targets: their nodes, which every fifth lacks, whether they
/// are long, and a number that only four have.
fn paths() -> Vec<GraphRecord> {
    let graph = |i: u32| {
        let n = i + 2;
        let target = |name: &str, value: Option<Scalar>| Target { name: name.into(), value };
        let nodes = (!i.is_multiple_of(5)).then(|| Scalar::Float(f64::from(n) + 0.5));
        let long = Scalar::Text(if n > 20 { "long" } else { "short" }.into());
        GraphRecord {
            num_nodes: n,
            edges: (1..n).map(|v| [v - 1, v]).collect(),
            targets: vec![target("nodes", nodes), target("long", Some(long))],
            ..GraphRecord::default()
        }
    };
    (0..40).map(graph).collect()
}

/// Counts nodes, and how often it was taught.
#[derive(Debug)]
struct Counting<'a>(&'a AtomicUsize, Hg2vParams);

impl Method for Counting<'_> {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn settings(&self) -> Value {
        Value::Null
    }

    fn check(&self) -> hg2v::Result<()> {
        Ok(())
    }

    fn needs(&self) -> Needs {
        self.1.needs()
    }

    fn fit_collection(
        &self,
        collection: &Collection<'_>,
        train: &[usize],
        context: &Context<'_>,
    ) -> hg2v::Result<Box<dyn Model>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        assert_eq!(train.len(), 32, "graphs without a value teach as well");
        self.1.fit_collection(collection, train, context)
    }
}

#[test]
fn several_targets_share_splits_and_vectors_and_leave_out_what_is_missing() {
    let records = paths();
    let params = Hg2vParams::default().dim(4).levels(1).epochs(1);
    let collection = params.collect(Run::in_memory(&records), &Context::default()).unwrap();
    let goals = Goal::all(&records, Task::Auto).unwrap();
    assert_eq!(goals.iter().map(Goal::called).collect::<Vec<_>>(), ["nodes", "long"]);
    assert_eq!(goals.iter().map(Goal::graphs).collect::<Vec<_>>(), [32, 40]);
    let mut study = Study::of(&collection, goals, Mode::Inductive, 3, Protocol::default()).unwrap();
    study.also = vec![Classifier::NearestNeighbors];
    let taught = AtomicUsize::new(0);
    let method = Counting(&taught, params);
    let results = study.judge_each(Candidate::Method(&method), &[], |_| Ok(())).unwrap();
    assert_eq!(taught.load(Ordering::Relaxed), 3, "once a split, whatever is predicted");
    let [nodes, long] = &results[..] else { panic!("{} results", results.len()) };
    // Numbers have ridge beside kernel ridge, and all errors; classes have neither.
    let judges = |of: &hg2v_eval::study::StudyResult| {
        of.also.iter().map(|also| also.classifier).collect::<Vec<_>>()
    };
    assert_eq!(judges(nodes), [Classifier::LinearSvm, Classifier::NearestNeighbors]);
    assert_eq!(judges(long), [Classifier::NearestNeighbors]);
    assert!(nodes.errors.is_some() && long.errors.is_none());
    assert!(nodes.also.iter().all(|also| also.errors.is_some()));
    for split in &nodes.splits {
        let known = study.goals[0].part(&study.splits[split.split]).unwrap();
        let Predictions::Numbers(said) = &split.predictions else { panic!("classes") };
        assert_eq!(said.len(), known.test.len());
        assert!(known.test.iter().chain(&known.train).all(|graph| graph % 5 != 0));
    }
    // Sums over nodes tell how many there are, better than the mean does.
    let mean = study.goals[0].mean(&study.splits).unwrap().unwrap();
    assert!(nodes.errors.unwrap().rmse.mean < 0.5 * mean.rmse.mean);
    // Whether the mean is said by the control or counted here.
    let said = study.judge(Candidate::Learner(&Majority), &[], |_| Ok(())).unwrap();
    assert_eq!(said.errors, Some(mean));
    // What is known of both targets is not judged again; of one alone it is.
    let all: Vec<_> = results.iter().flat_map(|result| result.splits.clone()).collect();
    let again = study.judge_each(Candidate::Method(&method), &all, |_| Ok(())).unwrap();
    assert_eq!(taught.load(Ordering::Relaxed), 3);
    assert_eq!(again[1].test, long.test);
    study.judge_each(Candidate::Method(&method), &nodes.splits, |_| Ok(())).unwrap();
    assert_eq!(taught.load(Ordering::Relaxed), 6);
}

/// Says that everything is of class 0.
struct Zero;

impl Learner for Zero {
    fn settings(&self) -> Value {
        Value::Null
    }

    fn learn(
        &self,
        _: &Collection<'_>,
        _: &[u32],
        _: usize,
        split: &hg2v_eval::Split,
    ) -> Result<hg2v_eval::method::Learnt, Error> {
        let predictions = vec![0; split.test.len()];
        Ok(hg2v_eval::method::Learnt { validation: 0.0, predictions, chosen: String::new() })
    }
}

#[test]
fn who_learns_classes_is_asked_for_no_numbers_and_logistic_regression_neither() {
    let records = paths();
    let params = Hg2vParams::default();
    let collection = params.collect(Run::in_memory(&records), &Context::default()).unwrap();
    let goals = Goal::all(&records, Task::Auto).unwrap();
    let mut study = Study::of(&collection, goals, Mode::Tenfold, 10, Protocol::default()).unwrap();
    assert_eq!(study.splits.len(), 10);
    let refused = study.judge(Candidate::Learner(&Zero), &[], |_| Ok(())).unwrap_err();
    assert_eq!(refused.to_string(), "it learns classes, and nodes is numbers");
    study.also = vec![Classifier::Logistic];
    let x = Matrix::new(40, 1, (0..40).map(f64::from).collect()).unwrap();
    let refused = study.judge(Candidate::Vectors(&x), &[], |_| Ok(())).unwrap_err();
    assert!(refused.to_string().contains("it tells classes apart"), "{refused}");
}

#[test]
fn two_graphs_or_values_of_two_are_too_few() {
    let mut records = paths();
    records.truncate(2);
    records.iter_mut().for_each(|record| record.targets.truncate(1));
    records[0].targets[0].value = Some(Scalar::Float(0.25));
    let params = Hg2vParams::default();
    let collection = params.collect(Run::in_memory(&records), &Context::default()).unwrap();
    let goals = Goal::all(&records, Task::Auto).unwrap();
    let few = Study::of(&collection, goals, Mode::Inductive, 1, Protocol::default());
    assert!(matches!(few.map(drop), Err(Error::TooFew { graphs: 2, .. })));
}

#[test]
fn a_class_that_some_lack_is_stratified_with_those() {
    let mut records = paths();
    for (at, record) in records.iter_mut().enumerate() {
        record.targets.clear();
        record.label = (at % 4 != 0).then_some(Scalar::Int((at % 2) as i64));
    }
    let params = Hg2vParams::default();
    let collection = params.collect(Run::in_memory(&records), &Context::default()).unwrap();
    let goals = Goal::all(&records, Task::Auto).unwrap();
    assert!(matches!(goals[0].truth, Truth::Classes { .. }));
    assert_eq!(goals[0].majority(), Some(20.0 / 30.0));
    let study = Study::of(&collection, goals, Mode::Inductive, 4, Protocol::default()).unwrap();
    for split in &study.splits {
        // 10 without, 10 of class 0, 20 of class 1: a fifth of each is tested.
        assert_eq!(split.test.iter().filter(|&&graph| graph % 4 == 0).count(), 2);
        assert_eq!(study.goals[0].part(split).unwrap().test.len(), 6);
    }
    let judged = study.judge(Candidate::Learner(&Majority), &[], |_| Ok(())).unwrap();
    assert!((judged.test.mean - 4.0 / 6.0).abs() < 1e-12);
    // `new` is for those who have one for each.
    let whole = Study::new(&collection, Mode::Inductive, 4, Protocol::default());
    assert!(matches!(whole.map(drop), Err(Error::Unlabelled { unlabelled: 10, graphs: 40 })));
}

#[test]
fn errors_are_scikit_learns() {
    // >>> from sklearn.metrics import *
    // >>> y, p = [3, -0.5, 2, 7], [2.5, 0.0, 2, 8]
    // >>> root_mean_squared_error(y, p), mean_absolute_error(y, p), r2_score(y, p)
    // (0.6123724356957945, 0.5, 0.9486081370449679)
    let Errors { rmse, mae, r2 } = errors(&[3.0, -0.5, 2.0, 7.0], &[2.5, 0.0, 2.0, 8.0]).unwrap();
    assert!((rmse - 0.612_372_435_695_794_5).abs() < 1e-15);
    assert!((mae - 0.5).abs() < 1e-15);
    assert!((r2 - 0.948_608_137_044_967_9).abs() < 1e-15);
    // Numbers that are all equal.
    assert_eq!(errors(&[2.0, 2.0], &[2.0, 2.0]).unwrap().r2, 1.0);
    assert_eq!(errors(&[2.0, 2.0], &[2.0, 3.0]).unwrap().r2, 0.0);
    assert!(errors(&[], &[]).is_err() && errors(&[1.0], &[]).is_err());
}

#[test]
fn differences_are_paired() {
    // 1, 2 and 3 more: mean 2, deviation 1.
    let (own, other) = ([10.0, 22.0, 33.0], [9.0, 20.0, 30.0]);
    let apart = Difference::of(&own, &other, 0.25).unwrap();
    assert_eq!((apart.mean, apart.std, apart.n), (2.0, 1.0, 3));
    assert!((apart.standard_error - (1.0f64 / 3.0).sqrt()).abs() < 1e-15);
    assert!((apart.corrected_error - (1.0f64 / 3.0 + 0.25).sqrt()).abs() < 1e-15);
    let back = Difference::of(&other, &own, 0.25).unwrap();
    assert_eq!((back.mean, back.standard_error), (-apart.mean, apart.standard_error));
    assert_eq!(Difference::of(&[1.0], &[2.0], 0.25).unwrap().standard_error, 0.0);
    assert!(Difference::of(&[1.0], &[], 0.25).is_err());
}

#[test]
fn texts_that_name_graphs_are_no_target() {
    let mut records = paths();
    for (at, record) in records.iter_mut().enumerate() {
        // One of them twice.
        let value = Some(Scalar::from(format!("molecule {}", at.max(1)).as_str()));
        record.targets.push(Target { name: "iupac".to_owned(), value });
    }
    assert_eq!(Goal::names(&records, Task::Auto).unwrap(), ["iupac"]);
    let called = |task| -> Vec<String> {
        Goal::all(&records, task).unwrap().iter().map(Goal::called).collect()
    };
    assert_eq!(called(Task::Auto), ["nodes", "long"]);
    assert_eq!(called(Task::Classes), ["nodes", "long", "iupac"]);
    records.iter_mut().for_each(|record| drop(record.targets.drain(..record.targets.len() - 1)));
    let refused = Goal::all(&records, Task::Auto).unwrap_err();
    assert!(matches!(refused, Error::Names { graphs: 40, .. }), "{refused}");
    // Few texts, or texts that graphs share, are classes.
    for many in [20, 40] {
        let mut few = records[..many].to_vec();
        for (at, record) in few.iter_mut().enumerate() {
            let name = if many == 20 { at } else { at / 2 };
            record.targets[0].value = Some(Scalar::from(format!("class {name}").as_str()));
        }
        assert_eq!(Goal::names(&few, Task::Auto).unwrap(), Vec::<String>::new());
    }
}
