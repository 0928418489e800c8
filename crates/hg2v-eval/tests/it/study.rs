//! Studies that go on.

use std::sync::Mutex;

use hg2v::context::Context;
use hg2v::graph::GraphRecord;
use hg2v::prepare::{Collection, Run};
use hg2v::{Hg2vParams, Untrained};
use hg2v_eval::classifiers::Classifier;
use hg2v_eval::controls::Majority;
use hg2v_eval::method::{Candidate, GraphKernel};
use hg2v_eval::select::{self, Protocol};
use hg2v_eval::study::{Choice, Mode, SplitResult, Study, StudyResult};
use hg2v_eval::{Error, Matrix};
use serde_json::Value;

/// Paths and cycles.
fn graphs() -> Vec<GraphRecord> {
    let path = |n: u32| (1..n).map(|v| [v - 1, v]).collect::<Vec<_>>();
    (0..40u32)
        .map(|i| {
            let n = 5 + i / 2;
            let close = (i % 2 == 1).then_some([n - 1, 0]);
            let edges = path(n).into_iter().chain(close).collect();
            let label = Some(i64::from(i % 2).into());
            GraphRecord { num_nodes: n, edges, label, ..GraphRecord::default() }
        })
        .collect()
}

fn timeless(mut result: StudyResult) -> StudyResult {
    result.seconds = 0.0;
    result.also.iter_mut().for_each(|also| also.seconds = 0.0);
    for split in &mut result.splits {
        split.seconds = [0.0; 2];
        split.also.iter_mut().for_each(|also| also.seconds = 0.0);
    }
    result
}

#[test]
fn what_is_known_is_not_judged_again_and_changes_nothing() {
    let records = graphs();
    let params = Hg2vParams::default().dim(4).levels(2).epochs(1);
    let collection = params.collect(Run::in_memory(&records), &Context::default()).unwrap();
    let study = |mode, splits| {
        let mut study = Study::new(&collection, mode, splits, Protocol::default()).unwrap();
        study.also = vec![Classifier::NearestNeighbors];
        study
    };
    for mode in [Mode::Inductive, Mode::Transductive, Mode::Tenfold] {
        let study = study(mode, 5);
        let embedder = Candidate::Method(&params);
        let heard: Mutex<Vec<SplitResult>> = Mutex::default();
        let hear = |split: &SplitResult| {
            heard.lock().unwrap().push(split.clone());
            Ok(())
        };
        let whole = study.judge(embedder, &[], hear).unwrap();
        let mut all = std::mem::take(&mut *heard.lock().unwrap());
        all.sort_by_key(|split| split.split);
        assert_eq!(all, whole.splits);
        assert_eq!(whole.also[0].test.n, study.splits.len());

        // Some are known, out of order, one of them twice.
        let known = [3, 1, 3].map(|at| whole.splits[at].clone());
        let resumed = study.judge(embedder, &known, hear).unwrap();
        assert_eq!(heard.lock().unwrap().len(), study.splits.len() - 2);
        assert_eq!(timeless(resumed), timeless(whole.clone()));

        // All are known: nothing is left to do.
        heard.lock().unwrap().clear();
        let known = study.judge(embedder, &whole.splits, hear).unwrap();
        assert!(heard.lock().unwrap().is_empty());
        assert_eq!(timeless(known), timeless(whole));
    }
    // More splits begin with the fewer.
    let untrained = Untrained(params);
    let embedder = Candidate::Method(&untrained);
    let few = study(Mode::Inductive, 2).judge(embedder, &[], |_| Ok(())).unwrap();
    let more = study(Mode::Inductive, 4).judge(embedder, &few.splits, |_| Ok(())).unwrap();
    let whole = study(Mode::Inductive, 4).judge(embedder, &[], |_| Ok(())).unwrap();
    assert_eq!(timeless(more), timeless(whole));
    // Who hears of a split can stop the study.
    let stop = |_: &SplitResult| Err(Error::Empty { what: "the disk" });
    assert!(study(Mode::Inductive, 4).judge(embedder, &[], stop).is_err());
}

/// Of one setting that tells nothing and one that tells all.
struct Knowing(Vec<u32>);

impl GraphKernel for Knowing {
    fn settings(&self) -> Value {
        Value::Null
    }

    fn variants(&self) -> usize {
        2
    }

    fn grams(&self, _: &Collection<'_>, _: &Context<'_>) -> Result<Vec<Matrix>, Error> {
        let n = self.0.len();
        let same = |at: usize| f64::from(u8::from(self.0[at / n] == self.0[at % n]));
        let told = Matrix::new(n, n, (0..n * n).map(same).collect())?;
        Ok(vec![Matrix::new(n, n, vec![1.0; n * n])?, told])
    }
}

#[test]
fn kernels_and_learners_are_judged_on_the_same_splits() {
    let records = graphs();
    let params = Hg2vParams::default();
    let collection = params.collect(Run::in_memory(&records), &Context::default()).unwrap();
    for mode in [Mode::Inductive, Mode::Tenfold] {
        let mut study = Study::new(&collection, mode, 3, Protocol::default()).unwrap();
        study.also = vec![Classifier::LinearSvm, Classifier::NearestNeighbors];
        let kernel = Knowing(study.labels().to_vec());
        let judged = study.judge(Candidate::Kernel(&kernel), &[], |_| Ok(())).unwrap();
        assert_eq!((judged.test.mean, judged.dim), (1.0, 0));
        for split in &judged.splits {
            let Choice::Setting(setting) = &split.chosen else { panic!("{:?}", split.chosen) };
            assert_eq!(setting.kernel, select::Chosen::Precomputed(1));
            // A kernel has distances, and so neighbours.
            let [near] = &split.also[..] else { panic!("{:?}", split.also) };
            assert_eq!(near.classifier, Classifier::NearestNeighbors);
            assert_eq!((near.test, near.chosen, near.kernel), (1.0, 1.0, Some(1)));
        }
        // Paths and cycles are equally many.
        let judged = study.judge(Candidate::Learner(&Majority), &[], |_| Ok(())).unwrap();
        assert_eq!((judged.test.mean, judged.also.len()), (0.5, 0));
        assert_eq!(judged.splits[0].chosen, Choice::Own("class 0".to_owned()));
        let known = study.judge(Candidate::Learner(&Majority), &judged.splits, |_| Ok(())).unwrap();
        assert_eq!(timeless(known), timeless(judged));
    }
}
