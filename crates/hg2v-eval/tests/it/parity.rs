//! The numbers of scikit-learn 1.9.1; `fixtures/make.py` says how they were made.

use hg2v_eval::knn::{self, Distance};
use hg2v_eval::logistic::{Logistic, LogisticParams};
use hg2v_eval::scale::{fit, standardise};
use hg2v_eval::select::{self, Grid, Protocol};
use hg2v_eval::split::{stratified_folds, stratified_shuffle};
use hg2v_eval::svm::{Gamma, Kernel, Svc, SvcParams};
use hg2v_eval::{Matrix, Score};
use serde::Deserialize;

use crate::common::{Fixture, Machine, SETS, read};

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + b.abs())
}

/// Training and test parts of the outer split, standardised.
fn scaled(fixture: &Fixture) -> (Matrix, Vec<u32>, Matrix) {
    let (mut train, labels) = fixture.part(&fixture.outer.train);
    let (mut test, _) = fixture.part(&fixture.outer.test);
    let scaler = fit(&train).unwrap();
    standardise(&mut train, &scaler).unwrap();
    standardise(&mut test, &scaler).unwrap();
    (train, labels, test)
}

fn protocol(fixture: &Fixture) -> Protocol {
    let gamma = |value: &serde_json::Value| value.as_f64().map_or(Gamma::Scale, Gamma::Value);
    let gammas: Vec<Gamma> = fixture.grid.gamma.iter().map(gamma).collect();
    Protocol::default().grid(Grid::rbf(&fixture.grid.c, &gammas))
}

#[test]
fn grid_scores_winners_and_predictions() {
    for name in SETS {
        let fixture: Fixture = read(name);
        let (x, y) = fixture.part(&fixture.outer.train);
        let selection = select::grid_search(&x, &y, &fixture.folds, &protocol(&fixture)).unwrap();
        assert_eq!(selection.unconverged, 0);
        assert_eq!(selection.settings.len(), fixture.grid.scores.len());
        for (setting, (scores, mean)) in
            selection.settings.iter().zip(fixture.grid.scores.iter().zip(&fixture.grid.means))
        {
            let at = format!("{name}: C {}, {:?}", setting.c, setting.kernel);
            assert_eq!(&setting.accuracies, scores, "{at}");
            assert_eq!(setting.mean.to_bits(), mean.to_bits(), "{at}");
        }
        assert_eq!(selection.best, fixture.grid.best, "{name}");

        // What GridSearchCV.predict does after its refit.
        let (train, labels, test) = scaled(&fixture);
        let select::Chosen::Vectors(kernel) = selection.chosen().kernel else { panic!() };
        let params = SvcParams::default().c(selection.chosen().c).kernel(kernel);
        let svc = Svc::fit(&train, &labels, &params).unwrap();
        assert_eq!(svc.predict(&test).unwrap(), fixture.grid.predictions, "{name}");
    }
}

#[test]
fn scalers() {
    for name in SETS {
        let fixture: Fixture = read(name);
        let scaler = fit(&fixture.part(&fixture.outer.train).0).unwrap();
        for (ours, theirs) in
            [(&scaler.means, &fixture.scaler.means), (&scaler.scales, &fixture.scaler.scales)]
        {
            assert_eq!(ours.len(), theirs.len());
            for (a, b) in ours.iter().zip(theirs) {
                assert!(close(*a, *b, 1e-14), "{name}: {a} {b}");
            }
        }
    }
}

#[test]
fn decisions_and_support_vectors() {
    for name in SETS {
        let fixture: Fixture = read(name);
        let (train, labels, test) = scaled(&fixture);
        let rbf = (Kernel::Rbf(Gamma::Scale), &fixture.machines.rbf);
        for (kernel, machine) in [rbf, (Kernel::Linear, &fixture.machines.linear)] {
            let at = format!("{name}, {kernel}");
            let params = SvcParams::default().c(2.0).kernel(kernel).tolerance(1e-6);
            let svc = Svc::fit(&train, &labels, &params).unwrap();
            assert!(svc.converged(), "{at}");
            decisions_agree(&at, &svc, &test, machine);
            // Which of two equal points carries the weight is not unique.
            if name != "duplicates" {
                support_agrees(&at, &svc, &labels, machine);
            }
            let svc = Svc::fit(&train, &labels, &params_1e3().c(2.0).kernel(kernel));
            assert_eq!(svc.unwrap().predict(&test).unwrap(), machine.predictions, "{at}");
        }
        assert!(close(Gamma::Scale.of(&train).unwrap(), fixture.machines.rbf.gamma, 1e-13));
    }
}

fn params_1e3() -> SvcParams {
    SvcParams::default().tolerance(1e-3)
}

/// Both are within 1e-6 of optimal; decisions then agree to about that times the
/// condition of the kernel.
fn decisions_agree(at: &str, svc: &Svc, test: &Matrix, machine: &Machine) {
    let decisions = svc.decisions(test).unwrap();
    let sign = if svc.classes().len() == 2 { -1.0 } else { 1.0 };
    for (row, theirs) in machine.decisions.iter().enumerate() {
        assert_eq!(decisions.row(row).len(), theirs.len());
        for (a, b) in decisions.row(row).iter().zip(theirs) {
            assert!(close(sign * a, *b, 1e-5), "{at}, row {row}: {a} {b}");
        }
    }
}

/// Rows that support any machine. A weight may be nothing or next to nothing, so
/// a few may differ.
fn support_agrees(at: &str, svc: &Svc, labels: &[u32], machine: &Machine) {
    let members = |class: u32| (0..labels.len()).filter(move |&row| labels[row] == class);
    let classes = svc.classes();
    let mut support = vec![false; labels.len()];
    let pairs = (0..classes.len()).flat_map(|a| (a + 1..classes.len()).map(move |b| (a, b)));
    for ((a, b), solution) in pairs.zip(svc.machines()) {
        for (row, beta) in members(classes[a]).chain(members(classes[b])).zip(&solution.beta) {
            support[row] |= *beta != 0.0;
        }
    }
    let theirs: Vec<bool> = (0..labels.len()).map(|row| machine.support.contains(&row)).collect();
    let differing = support.iter().zip(&theirs).filter(|(a, b)| a != b).count();
    assert!(differing * 50 <= labels.len(), "{at}: {differing} of {} differ", labels.len());
}

#[test]
fn precomputed_kernels() {
    for name in SETS {
        let fixture: Fixture = read(name);
        let (train, labels, test) = scaled(&fixture);
        // (1 + xᵀy / columns)²
        let kernel = |a: &Matrix| {
            let mut values = Vec::new();
            for (i, j) in (0..a.rows()).flat_map(|i| (0..train.rows()).map(move |j| (i, j))) {
                let product: f64 = a.row(i).iter().zip(train.row(j)).map(|(a, b)| a * b).sum();
                values.push((1.0 + product / a.columns() as f64).powi(2));
            }
            Matrix::new(a.rows(), train.rows(), values).unwrap()
        };
        let svc = Svc::fit_precomputed(&kernel(&train), &labels, 2.0, 1e-3).unwrap();
        assert_eq!(svc.predict(&kernel(&test)).unwrap(), fixture.polynomial, "{name}");
    }
}

/// A kernel handed over must be as good as one computed here.
#[test]
fn a_precomputed_grid_is_the_grid() {
    let fixture: Fixture = read("imbalanced");
    let (x, y) = (fixture.x(), &fixture.y);
    let gammas: [f64; 3] = [0.01, 0.1, 1.0];
    let kernels: Vec<Matrix> = gammas
        .iter()
        .map(|gamma| {
            let mut values = Vec::new();
            for (i, j) in (0..x.rows()).flat_map(|i| (0..x.rows()).map(move |j| (i, j))) {
                let square: f64 = x.row(i).iter().zip(x.row(j)).map(|(a, b)| (a - b).powi(2)).sum();
                values.push((-gamma * square).exp());
            }
            Matrix::new(x.rows(), x.rows(), values).unwrap()
        })
        .collect();
    let grid = Grid::rbf(&[0.1, 1.0, 10.0], &gammas.map(Gamma::Value));
    let protocol = Protocol::default().grid(grid).standardize(false);
    let direct = select::evaluate(&x, y, &fixture.outer, &protocol).unwrap();
    let given = select::evaluate_precomputed(&kernels, y, &fixture.outer, &protocol).unwrap();
    assert_eq!(direct.predictions, given.predictions);
    assert_eq!(direct.selection.best, given.selection.best);
    for (a, b) in direct.selection.settings.iter().zip(&given.selection.settings) {
        assert_eq!(a.accuracies, b.accuracies);
    }
}

#[test]
fn logistic_coefficients() {
    for name in SETS {
        let fixture: Fixture = read(name);
        let (train, labels, test) = scaled(&fixture);
        let params = LogisticParams::default().c(0.5).tolerance(1e-9);
        let model = Logistic::fit(&train, &labels, &params).unwrap();
        assert!(model.converged, "{name}: {} steps", model.steps);
        let theirs = &fixture.logistic;
        assert_eq!(model.coefficients().count(), theirs.coefficients.len());
        for (ours, theirs) in model.coefficients().zip(&theirs.coefficients) {
            for (a, b) in ours.iter().zip(theirs) {
                assert!(close(*a, *b, 1e-5), "{name}: {a} {b}");
            }
        }
        for (a, b) in model.intercepts().zip(&theirs.intercepts) {
            assert!(close(a, *b, 1e-5), "{name}: {a} {b}");
        }
        let model = Logistic::fit(&train, &labels, &LogisticParams::default().c(0.5));
        assert_eq!(model.unwrap().predict(&test).unwrap(), theirs.predictions, "{name}");
    }
}

#[test]
fn neighbours() {
    for name in SETS {
        // In the set of duplicates nearly every fifth neighbour is tied.
        if name == "duplicates" {
            continue;
        }
        let fixture: Fixture = read(name);
        let (train, labels, test) = scaled(&fixture);
        let ours = |distance| knn::predict(&train, &labels, &test, 5, distance).unwrap();
        assert_eq!(ours(Distance::Euclidean), fixture.neighbours.euclidean, "{name}");
        assert_eq!(ours(Distance::Cosine), fixture.neighbours.cosine, "{name}");
    }
}

#[derive(Deserialize)]
struct Allotment {
    y: Vec<u32>,
    folds: Vec<Vec<usize>>,
    shuffle: Option<Vec<usize>>,
}

/// Which members go where is random; how many of each class is not, unless
/// classes are equally large.
#[test]
fn members_of_each_class_in_each_part() {
    for Allotment { y, folds, shuffle } in read::<Vec<Allotment>>("allotments") {
        let classes = folds[0].len();
        let count = |rows: &[usize]| -> Vec<usize> {
            let of = |class: usize| rows.iter().filter(|&&row| y[row] as usize == class).count();
            (0..classes).map(of).collect()
        };
        let ours = stratified_folds(&y, folds.len(), 9, 0).unwrap();
        assert_eq!(ours.iter().map(|fold| count(&fold.test)).collect::<Vec<_>>(), folds);
        if let Some(shuffle) = shuffle {
            let mut ours = count(&stratified_shuffle(&y, 0.2, 9, 0).unwrap().test);
            let mut theirs = shuffle;
            if y.len() == 9 * classes {
                ours.sort_unstable();
                theirs.sort_unstable();
            }
            assert_eq!(ours, theirs);
        }
    }
}

#[derive(Deserialize)]
struct Mean {
    values: Vec<f64>,
    mean: f64,
    std: f64,
}

#[test]
fn means_to_the_last_bit() {
    for Mean { values, mean, std } in read::<Vec<Mean>>("means") {
        let score = Score::of(&values).unwrap();
        assert_eq!(score.mean.to_bits(), mean.to_bits(), "of {}", values.len());
        assert!(close(score.std, std, 1e-15));
    }
}
