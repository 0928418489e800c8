//! Scores.

use hg2v_eval::Score;
use hg2v_eval::metrics::{accuracy, confusion};

#[test]
fn scores_print_as_tables_do() {
    let score = Score::of(&[0.8, 0.836, 0.818]).unwrap();
    assert_eq!(score.to_string(), "81.8 ± 1.5");
    assert_eq!(score.n, 3);
    assert_eq!(Score::of(&[1.0]).unwrap().to_string(), "100.0 ± 0.0");
}

#[test]
fn who_was_taken_for_whom() {
    let (truth, predicted) = ([2, 2, 9, 9, 9], [2, 9, 9, 9, 4]);
    assert_eq!(accuracy(&truth, &predicted).unwrap(), 0.6);
    let table = confusion(&truth, &predicted).unwrap();
    assert_eq!(table.classes, [2, 4, 9]);
    assert_eq!(table.counts, [vec![1, 0, 1], vec![0, 0, 0], vec![0, 1, 2]]);
}
