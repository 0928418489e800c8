//! The same bits at any number of threads.

use hg2v_eval::classifiers::{self, Classifier};
use hg2v_eval::knn::{self, Distance};
use hg2v_eval::logistic::{Logistic, LogisticParams};
use hg2v_eval::select::{self, Grid, Protocol};
use hg2v_eval::split::stratified_shuffle;
use hg2v_eval::svm::{Gamma, Kernel, Svc, SvcParams};

use crate::common::planted;

fn at<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn the_same_bits_at_1_2_and_4_threads() {
    let (x, labels) = planted(600, 9, 4);
    let split = stratified_shuffle(&labels, 0.2, 1, 0).unwrap();
    let gammas = [Gamma::Scale, Gamma::Value(0.3)];
    let kernels = gammas.map(Kernel::Rbf).into_iter().chain([Kernel::Linear]).collect();
    let grid = Grid::default().c(vec![0.1, 10.0]).kernels(kernels);
    let protocol = Protocol::default().grid(grid).signed_log(true);
    let work = || {
        let outcome = select::evaluate(&x, &labels, &split, &protocol).unwrap();
        let svc = Svc::fit(&x, &labels, &SvcParams::default()).unwrap();
        let decisions = svc.decisions(&x).unwrap();
        let logistic = Logistic::fit(&x, &labels, &LogisticParams::default()).unwrap();
        let weights: Vec<f64> = logistic.coefficients().flatten().copied().collect();
        let bits: Vec<u64> =
            decisions.values().iter().chain(&weights).map(|value| value.to_bits()).collect();
        let near = knn::predict(&x, &labels, &x, 7, Distance::Cosine).unwrap();
        let also = [Classifier::LinearSvm, Classifier::Logistic, Classifier::NearestNeighbors];
        let also = also.map(|classifier| {
            let mut judged =
                classifiers::evaluate(&x, &labels, &split, &protocol, classifier).unwrap();
            judged.seconds = 0.0;
            judged
        });
        (outcome, bits, near, also)
    };
    let one = at(1, work);
    assert!(one.0.accuracy > 0.5, "nothing was learned: {}", one.0.accuracy);
    assert!(at(2, work) == one);
    assert!(at(4, work) == one);
}
