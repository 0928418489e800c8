#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::board::Board;
use crate::slot::Slot;

/// Runs `lead` beside `helpers` others, under every order of events with so many preemptions, and
/// waits for all of them. Of two who wait awake more than one would keep each other going for ever,
/// as no machine does.
fn with_helpers(helpers: usize, preemptions: usize, lead: impl Fn(&Board) + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.max_branches = 10_000;
    model.check(move || {
        let board = Arc::new(Board::new());
        let help = |_| {
            let board = Arc::clone(&board);
            thread::spawn(move || board.help())
        };
        let helpers: Vec<_> = (0..helpers).map(help).collect();
        lead(&board);
        board.take_down();
        helpers.into_iter().for_each(|helper| helper.join().unwrap());
    });
}

/// Shares a piece of `count` parts and sees that each was run once.
fn share_and_count(board: &Board, count: usize) {
    let runs: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
    board.share(count, &|part| {
        runs[part].fetch_add(1, Ordering::Relaxed);
    });
    assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1));
}

#[test]
fn every_part_of_every_piece_is_run_once() {
    with_helpers(1, 3, |board| {
        share_and_count(board, 2);
        share_and_count(board, 1);
    });
}

#[test]
fn two_helpers_share_a_piece() {
    with_helpers(2, 1, |board| share_and_count(board, 2));
}

#[test]
fn the_leader_sees_what_parts_wrote() {
    struct Cell(UnsafeCell<usize>);
    // SAFETY: each is written by the part of its number alone; loom sees whether that is so.
    unsafe impl Sync for Cell {}
    with_helpers(1, 3, |board| {
        let mut cells = [0, 1].map(|_| Cell(UnsafeCell::new(0)));
        for piece in 1..=2 {
            board.share(2, &|part| {
                // SAFETY: this part's own.
                cells[part].0.with_mut(|cell| unsafe { *cell += piece * (part + 1) });
            });
        }
        // SAFETY: all parts are done.
        let seen = cells.each_mut().map(|cell| cell.0.with(|cell| unsafe { *cell }));
        assert_eq!(seen, [3, 6]);
    });
}

#[test]
fn those_who_only_wait_are_let_go() {
    with_helpers(2, 1, |_| ());
}

/// Without a word from the hook that prints panics.
struct Guilty(usize);

#[test]
fn a_panic_reaches_the_leader_and_the_board_lives_on() {
    for guilty in [vec![0], vec![1], vec![0, 1]] {
        with_helpers(1, 2, move |board| {
            let job = |part: usize| {
                if guilty.contains(&part) {
                    resume_unwind(Box::new(Guilty(part)));
                }
            };
            let shared = catch_unwind(AssertUnwindSafe(|| board.share(2, &job)));
            let panic = shared.unwrap_err().downcast::<Guilty>().ok().expect("the part's own");
            assert!(guilty.contains(&panic.0));
            share_and_count(board, 2);
        });
    }
}

#[test]
fn what_is_in_a_slot_is_taken_once() {
    loom::model(|| {
        let slot = Arc::new(Slot::new(Box::new(7)));
        let other = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || slot.take())
        };
        let taken = [slot.take(), other.join().unwrap()];
        assert_eq!(taken.into_iter().flatten().collect::<Vec<_>>(), [Box::new(7)]);
        assert!(slot.take().is_none());
    });
}
