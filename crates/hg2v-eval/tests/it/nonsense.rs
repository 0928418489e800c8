//! Input that is not as it should be: an error that names it, never a panic.

use hg2v_eval::knn::{self, Distance};
use hg2v_eval::logistic::{Logistic, LogisticParams};
use hg2v_eval::metrics::{accuracy, confusion};
use hg2v_eval::scale;
use hg2v_eval::select::{self, Grid, Protocol};
use hg2v_eval::split::{stratified_folds, stratified_shuffle};
use hg2v_eval::svm::smo::solve;
use hg2v_eval::svm::{Gamma, Gram, Kernel, Svc, SvcParams};
use hg2v_eval::{Error, Matrix, Score, Split};

use crate::common::planted;

fn says<T>(result: Result<T, Error>, text: &str) {
    let Err(error) = result else { panic!("accepted; expected: {text}") };
    assert_eq!(error.to_string(), text);
}

#[test]
fn numbers_that_are_none() {
    says(
        Matrix::from_f32(2, 2, &[0.0, 1.0, f32::NAN, 2.0]),
        "row 1, column 0 is NaN; replace it by a finite number below 1e100 or drop the row",
    );
    says(
        Matrix::from_f32_rows(&[[0.0, f32::INFINITY]]),
        "row 0, column 1 is inf; replace it by a finite number below 1e100 or drop the row",
    );
    assert!(matches!(Matrix::new(1, 1, vec![-1e101]), Err(Error::NotFinite { .. })));
    // Finite, but its square is beyond single precision.
    let x = Matrix::new(2, 1, vec![1e30, 0.0]).unwrap();
    let linear = SvcParams::default().kernel(Kernel::Linear);
    assert!(matches!(Svc::fit(&x, &[0, 1], &linear), Err(Error::NotFinite { .. })));
    assert!(Svc::fit(&x, &[0, 1], &SvcParams::default()).is_ok());
}

#[test]
fn lengths_that_differ() {
    says(
        Matrix::new(2, 3, vec![0.0; 5]),
        "values of the matrix: 5 given where 6 belong; give one for each row",
    );
    assert!(matches!(Matrix::from_f32_rows(&[vec![1.0], vec![]]), Err(Error::Length { .. })));
    assert!(matches!(Matrix::new(usize::MAX, 2, vec![0.0]), Err(Error::Length { .. })));
    let (x, labels) = planted(30, 3, 2);
    let short = &labels[..29];
    let params = SvcParams::default();
    says(Svc::fit(&x, short, &params), "labels: 29 given where 30 belong; give one for each row");
    let split = stratified_shuffle(&labels, 0.2, 0, 0).unwrap();
    let protocol = Protocol::default();
    assert!(matches!(select::evaluate(&x, short, &split, &protocol), Err(Error::Length { .. })));
    let logistic = LogisticParams::default();
    assert!(matches!(Logistic::fit(&x, short, &logistic), Err(Error::Length { .. })));
    let near = knn::predict(&x, short, &x, 1, Distance::Euclidean);
    assert!(matches!(near, Err(Error::Length { .. })));
    assert!(matches!(accuracy(&labels, short), Err(Error::Length { .. })));
    assert!(matches!(confusion(&labels, short), Err(Error::Length { .. })));
    let narrow = Matrix::new(1, 2, vec![0.0; 2]).unwrap();
    let svc = Svc::fit(&x, &labels, &params).unwrap();
    assert!(matches!(svc.predict(&narrow), Err(Error::Length { .. })));
    let model = Logistic::fit(&x, &labels, &logistic).unwrap();
    assert!(matches!(model.predict(&narrow), Err(Error::Length { .. })));
    let scaler = scale::fit(&x).unwrap();
    assert!(matches!(scale::standardise(&mut narrow.clone(), &scaler), Err(Error::Length { .. })));
    assert!(matches!(Gram::precomputed(&x), Err(Error::Length { .. })));
    assert!(matches!(Svc::fit_precomputed(&x, &labels, 1.0, 1e-3), Err(Error::Length { .. })));
    let kernels = [x];
    let result = select::evaluate_precomputed(&kernels, &labels, &split, &protocol);
    assert!(matches!(result, Err(Error::Length { .. })));
}

#[test]
fn one_class_or_none() {
    let x = Matrix::new(3, 1, vec![1.0, 2.0, 3.0]).unwrap();
    says(
        Svc::fit(&x, &[4, 4, 4], &SvcParams::default()),
        "the training part holds only class 4 (3 members); a classifier needs at least two \
         classes: use fewer folds, another seed, or more data of the other classes",
    );
    let empty = Matrix::new(0, 1, vec![]).unwrap();
    assert!(matches!(Svc::fit(&empty, &[], &SvcParams::default()), Err(Error::Empty { .. })));
    let logistic = LogisticParams::default();
    assert!(matches!(Logistic::fit(&x, &[4; 3], &logistic), Err(Error::OneClass { .. })));
    assert!(matches!(Logistic::fit(&empty, &[], &logistic), Err(Error::Empty { .. })));
    assert!(matches!(stratified_shuffle(&[1; 9], 0.2, 0, 0), Err(Error::OneClass { .. })));
    assert!(matches!(stratified_shuffle(&[], 0.2, 0, 0), Err(Error::Empty { .. })));
    assert!(matches!(stratified_folds(&[1; 9], 3, 0, 0), Err(Error::OneClass { .. })));
    assert!(matches!(scale::fit(&empty), Err(Error::Empty { .. })));
    assert!(matches!(Score::of(&[]), Err(Error::Empty { .. })));
    assert!(matches!(accuracy(&[], &[]), Err(Error::Empty { .. })));
    let near = knn::predict(&empty, &[], &x, 1, Distance::Euclidean);
    assert!(matches!(near, Err(Error::Empty { .. })));
    // Vectors without numbers.
    let flat = Matrix::new(3, 0, vec![]).unwrap();
    let labels = [0, 1, 1];
    assert!(matches!(Svc::fit(&flat, &labels, &SvcParams::default()), Err(Error::Empty { .. })));
    assert!(matches!(Logistic::fit(&flat, &labels, &logistic), Err(Error::Empty { .. })));
    // A fold whose training part has one class says which fold.
    let (x, _) = planted(9, 2, 2);
    let labels = [1, 0, 0, 0, 0, 0, 0, 0, 0];
    let fold = Split { train: (1..9).collect(), test: vec![0] };
    let result = select::grid_search(&x, &labels, &[fold], &Protocol::default());
    let error = result.unwrap_err().to_string();
    assert!(error.starts_with("the training part of fold 0 holds only class 0"), "{error}");
}

#[test]
fn parameters_outside_their_domain() {
    let (x, labels) = planted(30, 3, 2);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let c = SvcParams::default().c(bad);
        says(
            Svc::fit(&x, &labels, &c),
            &format!("C is {bad}, but it must be a finite number above 0"),
        );
        let gamma = SvcParams::default().kernel(Kernel::Rbf(Gamma::Value(bad)));
        says(
            Svc::fit(&x, &labels, &gamma),
            &format!("gamma is {bad}, but it must be a finite number above 0"),
        );
        let tolerance = SvcParams::default().tolerance(bad);
        assert!(matches!(
            Svc::fit(&x, &labels, &tolerance),
            Err(Error::Hg2v(hg2v::Error::Argument { .. }))
        ));
        let gram = Gram::precomputed(&Matrix::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap());
        assert!(matches!(
            solve(&gram.unwrap(), 1, bad, 1e-3),
            Err(Error::Hg2v(hg2v::Error::Argument { .. }))
        ));
        let logistic = LogisticParams::default().c(bad);
        assert!(matches!(
            Logistic::fit(&x, &labels, &logistic),
            Err(Error::Hg2v(hg2v::Error::Argument { .. }))
        ));
        let folds = stratified_folds(&labels, 3, 0, 0).unwrap();
        for grid in
            [Grid::rbf(&[1.0, bad], &[Gamma::Scale]), Grid::rbf(&[1.0], &[Gamma::Value(bad)])]
        {
            let protocol = Protocol::default().grid(grid);
            let result = select::grid_search(&x, &labels, &folds, &protocol);
            assert!(matches!(result, Err(Error::Hg2v(hg2v::Error::Argument { .. }))));
        }
    }
    for share in [0.0, 1.0, -0.5, f64::NAN, f64::INFINITY, 0.999] {
        let result = stratified_shuffle(&labels, share, 0, 0);
        assert!(matches!(result, Err(Error::Hg2v(hg2v::Error::Argument { .. }))), "{share}");
    }
    for folds in [0, 1, 31] {
        let result = stratified_folds(&labels, folds, 0, 0);
        assert!(matches!(result, Err(Error::Hg2v(hg2v::Error::Argument { .. }))), "{folds}");
    }
    for k in [0, 31] {
        let near = knn::predict(&x, &labels, &x, k, Distance::Euclidean);
        assert!(matches!(near, Err(Error::Hg2v(hg2v::Error::Argument { .. }))), "{k}");
    }
}

#[test]
fn grids_and_splits_that_do_not_fit() {
    let (x, labels) = planted(30, 3, 2);
    let folds = stratified_folds(&labels, 3, 0, 0).unwrap();
    for grid in [Grid::rbf(&[], &[Gamma::Scale]), Grid::rbf(&[1.0], &[])] {
        let protocol = Protocol::default().grid(grid);
        let result = select::grid_search(&x, &labels, &folds, &protocol);
        assert!(matches!(result, Err(Error::Empty { .. })));
        let result = select::evaluate(&x, &labels, &folds[0], &protocol);
        assert!(matches!(result, Err(Error::Empty { .. })));
    }
    let protocol = Protocol::default();
    let result = select::grid_search(&x, &labels, &[], &protocol);
    assert!(matches!(result, Err(Error::Empty { .. })));
    let no_kernels = select::grid_search_precomputed(&[], &labels, &folds, &[1.0], 1e-3);
    assert!(matches!(no_kernels, Err(Error::Empty { .. })));
    let beyond = Split { train: vec![0, 1, 2, 3], test: vec![30] };
    says(
        select::evaluate(&x, &labels, &beyond, &protocol),
        "a split names row 30, but there are only 30; make the split from these very labels",
    );
    let twice = Split { train: vec![0, 1, 2, 3], test: vec![3] };
    says(
        select::evaluate(&x, &labels, &twice, &protocol),
        "a split names row 3, and names it twice; make the split from these very labels",
    );
    let nobody = Split { train: (0..30).collect(), test: vec![] };
    assert!(matches!(select::evaluate(&x, &labels, &nobody, &protocol), Err(Error::Empty { .. })));
    let says_only = x.take(&[99]);
    says(
        says_only,
        "a split names row 99, but there are only 30; make the split from these very labels",
    );
}
