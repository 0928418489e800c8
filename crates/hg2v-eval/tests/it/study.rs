//! Studies that go on.

use std::sync::Mutex;

use hg2v::Hg2vParams;
use hg2v::graph::GraphRecord;
use hg2v::prepare::Run;
use hg2v_eval::Error;
use hg2v_eval::also::Classifier;
use hg2v_eval::select::Protocol;
use hg2v_eval::study::{Embedder, Mode, SplitResult, Study, StudyResult};

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
    let collection = params.collect(Run::in_memory(&records), None).unwrap();
    let study = |mode, splits| {
        let mut study = Study::new(&collection, mode, splits, Protocol::default()).unwrap();
        study.also = vec![Classifier::NearestNeighbors];
        study
    };
    for mode in [Mode::Inductive, Mode::Transductive, Mode::Tenfold] {
        let study = study(mode, 5);
        let embedder = Embedder::Trained(params.clone());
        let heard: Mutex<Vec<SplitResult>> = Mutex::default();
        let hear = |split: &SplitResult| {
            heard.lock().unwrap().push(split.clone());
            Ok(())
        };
        let whole = study.judge(&embedder, &[], hear).unwrap();
        let mut all = std::mem::take(&mut *heard.lock().unwrap());
        all.sort_by_key(|split| split.split);
        assert_eq!(all, whole.splits);
        assert_eq!(whole.also[0].test.n, study.splits.len());

        // Some are known, out of order, one of them twice.
        let known = [3, 1, 3].map(|at| whole.splits[at].clone());
        let resumed = study.judge(&embedder, &known, hear).unwrap();
        assert_eq!(heard.lock().unwrap().len(), study.splits.len() - 2);
        assert_eq!(timeless(resumed), timeless(whole.clone()));

        // All are known: nothing is left to do.
        heard.lock().unwrap().clear();
        let known = study.judge(&embedder, &whole.splits, hear).unwrap();
        assert!(heard.lock().unwrap().is_empty());
        assert_eq!(timeless(known), timeless(whole));
    }
    // More splits begin with the fewer.
    let embedder = Embedder::Statistics;
    let few = study(Mode::Inductive, 2).judge(&embedder, &[], |_| Ok(())).unwrap();
    let more = study(Mode::Inductive, 4).judge(&embedder, &few.splits, |_| Ok(())).unwrap();
    let whole = study(Mode::Inductive, 4).judge(&embedder, &[], |_| Ok(())).unwrap();
    assert_eq!(timeless(more), timeless(whole));
    // Who hears of a split can stop the study.
    let stop = |_: &SplitResult| Err(Error::Empty { what: "the disk" });
    assert!(study(Mode::Inductive, 4).judge(&embedder, &[], stop).is_err());
}
