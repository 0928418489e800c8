//! What InfoGraph promises.

use hg2v::Method;
use hg2v::context::Context;
use hg2v::graph::{GraphRecord, Scalar};
use hg2v_baselines::embedders::infograph::InfoGraph;
use hg2v_eval::Matrix;
use hg2v_eval::select::{self, Protocol};
use hg2v_eval::split::stratified_shuffle;

use crate::common::{at, classes, collect, planted};

fn small() -> InfoGraph {
    InfoGraph::default().dim(8).layers(2).epochs(5).batch(16)
}

fn vectors(count: usize, train: &[usize]) -> Matrix {
    vectors_of(&planted(count), train).unwrap()
}

fn vectors_of(records: &[GraphRecord], train: &[usize]) -> hg2v::Result<Matrix> {
    let (collection, context) = (collect(records), Context::default());
    let model = small().fit_collection(&collection, train, &context)?;
    let rows = model.embed_collection(&collection, &context)?;
    Ok(Matrix::from_f32(records.len(), model.dim(), &rows.values).unwrap())
}

#[test]
fn vectors_are_the_same_bits_at_any_thread_count_alone_and_among_others() {
    let train: Vec<usize> = (0..30).collect();
    let one = at(1, || vectors(60, &train));
    assert!(at(2, || vectors(60, &train)) == one);
    assert!(at(4, || vectors(60, &train)) == one);
    let first = vectors(30, &train);
    assert!(first == one.take(&train).unwrap());
}

#[test]
fn labels_are_not_looked_at() {
    let mut records = planted(30);
    let all: Vec<usize> = (0..30).collect();
    let before = vectors_of(&records, &all).unwrap();
    records.iter_mut().for_each(|record| record.label = Some(Scalar::Int(7)));
    assert!(vectors_of(&records, &all).unwrap() == before);
}

#[test]
fn vectors_tell_planted_classes_apart() {
    let labels = classes(80);
    let split = stratified_shuffle(&labels, 0.25, 0, 0).unwrap();
    let x = vectors(80, &split.train);
    assert_eq!((x.rows(), x.columns()), (80, 16));
    let outcome = select::evaluate(&x, &labels, &split, &Protocol::default()).unwrap();
    assert!(outcome.accuracy > 0.9, "{}", outcome.accuracy);
}

#[test]
fn sizes_of_zero_are_refused() {
    let told = small().layers(0).fit(&planted(4));
    assert_eq!(told.unwrap_err().to_string(), "layers is 0, but it must be at least 1");
}
