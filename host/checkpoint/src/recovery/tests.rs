//! Tests of the decisions at a start.

use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::{KafkaPosition, TablePosition};

fn at(offset: i64) -> Position {
    Position::Kafka(KafkaPosition::from_iter([("t".to_owned(), 0, offset)]))
}

fn entry(end: i64) -> RangeEntry {
    RangeEntry::new(1000 + end, at(end))
}

/// The range of batch n is [10 n, 10 n + 10).
fn state(offsets: Option<u64>, commit: Option<u64>, outcome: Option<u64>) -> LogState {
    let end = |n: u64| entry(10 * n as i64 + 10);
    LogState {
        offsets: offsets.map(|batch| Logged { batch, entry: end(batch) }),
        previous: offsets.and_then(|n| n.checked_sub(1)).map(end),
        newest_commit: commit,
        newest_outcome: outcome,
        initial: Some(at(0)),
    }
}

fn range(n: i64) -> Range {
    Range::new(at(10 * n), at(10 * n + 10)).unwrap()
}

#[test]
fn a_new_checkpoint_plans_batch_0_from_the_kept_position_or_asks_for_one() {
    assert_eq!(next_step(&LogState::default()).unwrap(), NextStep::Plan { batch: 0, start: None });
    // K-032: the start was resolved, then the host died.
    let start = Some(at(0));
    assert_eq!(next_step(&state(None, None, None)).unwrap(), NextStep::Plan { batch: 0, start });
}

#[test]
fn c030_after_a_mark_the_next_batch_starts_at_the_end() {
    let plan = |batch: u64| NextStep::Plan { batch, start: Some(at(10 * batch as i64)) };
    assert_eq!(next_step(&state(Some(0), Some(0), None)).unwrap(), plan(1));
    assert_eq!(next_step(&state(Some(7), Some(7), Some(7))).unwrap(), plan(8));
    assert_eq!(next_step(&state(Some(7), Some(7), Some(3))).unwrap(), plan(8));
}

#[test]
fn c031_a_batch_without_mark_runs_again_with_its_range_and_clock() {
    let rerun = |n: u64| NextStep::Rerun { batch: n, range: range(n as i64), timestamp_ms: 1010 + 10 * n as i64 };
    assert_eq!(next_step(&state(Some(0), None, None)).unwrap(), rerun(0));
    assert_eq!(next_step(&state(Some(7), Some(6), None)).unwrap(), rerun(7));
    assert_eq!(next_step(&state(Some(7), Some(6), Some(6))).unwrap(), rerun(7), "the outcome of another batch");
}

#[test]
fn an_outcome_is_adopted_until_its_batch_is_marked() {
    let adopt = NextStep::AdoptOutcome { batch: 7, range: range(7), timestamp_ms: 1080 };
    assert_eq!(next_step(&state(Some(7), Some(6), Some(7))).unwrap(), adopt);
}

#[test]
fn c032_a_gap_of_marks_is_refused() {
    for commit in [None, Some(0), Some(5)] {
        let error = next_step(&state(Some(7), commit, None)).unwrap_err();
        assert!(matches!(error, CheckpointError::Gap { offsets: 7, .. }), "{error}");
    }
    assert_eq!(
        next_step(&state(Some(7), Some(4), None)).unwrap_err().to_string(),
        "newest entry of `offsets/` is 7, newest of `commits/` is 4: batches between them were never marked as done, which \
         comes from edits by hand or a partial copy; restore the folder from one consistent backup"
    );
}

#[test]
fn c033_a_missing_previous_entry_is_refused() {
    for commit in [Some(6), Some(7)] {
        let state = LogState { previous: None, ..state(Some(7), commit, None) };
        assert_eq!(
            next_step(&state).unwrap_err().to_string(),
            "batch 6 doesn't exist: `offsets/7` needs `offsets/6` for its start; restore that file from a backup, or start \
             over with a new checkpoint folder and new tables"
        );
    }
}

#[test]
fn k032_batch_0_without_its_kept_position_is_refused() {
    let state = LogState { initial: None, ..state(Some(0), None, None) };
    assert!(matches!(next_step(&state), Err(CheckpointError::MissingInitial)));
}

#[test]
fn batch_0_of_files_starts_before_the_first_entry() {
    let files = |log_offset| Position::Files(FilesPosition { log_offset });
    let entry = RangeEntry::new(5, files(0));
    let state = LogState { offsets: Some(Logged { batch: 0, entry }), ..LogState::default() };
    let range = Range::new(files(-1), files(0)).unwrap();
    assert_eq!(next_step(&state).unwrap(), NextStep::Rerun { batch: 0, range, timestamp_ms: 5 });
}

#[test]
fn c035_another_number_of_sources_is_refused_with_both_counts() {
    let mut state = state(Some(7), Some(6), None);
    if let Some(logged) = &mut state.offsets {
        logged.entry.ends.push(None);
    }
    assert_eq!(
        next_step(&state).unwrap_err().to_string(),
        "`offsets/7` was written by a stream with 2 sources, this one has 1; a stream with other sources needs its own \
         checkpoint"
    );
}

#[test]
fn marks_and_outcomes_without_a_range_are_refused() {
    for (state, file) in [
        (state(None, Some(0), None), "commits/0"),
        (state(None, None, Some(0)), "outcome/0"),
        (state(Some(3), Some(4), None), "commits/4"),
        (state(Some(3), Some(3), Some(4)), "outcome/4"),
    ] {
        let error = next_step(&state).unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{file}` exists, but the newest entry of `offsets/` is ")), "{error}");
    }
}

#[test]
fn logged_positions_of_another_source_are_refused() {
    let table = TablePosition { reservoir_id: "x".to_owned(), reservoir_version: 1, index: 0, snapshot: false };
    let state =
        LogState { previous: Some(RangeEntry::new(1, Position::Table(table))), ..state(Some(7), Some(6), None) };
    let error = next_step(&state).unwrap_err().to_string();
    assert!(error.starts_with("`offsets/7`: one position belongs to a Delta table, the other to Kafka"), "{error}");
}

#[test]
fn a_range_logged_after_allowed_loss_is_run_again_as_it_was() {
    let state = LogState { previous: Some(entry(500)), ..state(Some(7), Some(6), None) };
    let range = Range { start: at(500), end: at(80) };
    assert_eq!(next_step(&state).unwrap(), NextStep::Rerun { batch: 7, range, timestamp_ms: 1080 });
}

#[test]
fn a_table_that_fits_its_checkpoint_is_accepted() {
    let fits = [
        (None, None, None),
        (None, Some(0), None),
        (None, Some(0), Some(0)),
        (Some(0), Some(0), Some(0)),
        (Some(6), Some(7), Some(6)),
        (Some(6), Some(7), Some(7)),
    ];
    for (commit, logged, txn) in fits {
        assert!(check_table(commit, logged, txn).is_ok(), "{commit:?} {logged:?} {txn:?}");
    }
}

#[test]
fn a_table_behind_its_checkpoint_is_refused() {
    assert!(matches!(check_table(Some(0), Some(0), None), Err(CheckpointError::TableBehind { .. })));
    let error = check_table(Some(7), Some(8), Some(6)).unwrap_err().to_string();
    assert!(
        error.starts_with("batch 7 is marked as done, but the newest batch that the table holds is 6: "),
        "{error}"
    );
}

#[test]
fn r032_a_table_ahead_of_its_checkpoint_is_refused() {
    let ahead =
        [(None, None, 0), (None, Some(0), 1), (Some(6), Some(7), 8), (Some(6), Some(6), 7), (Some(1), Some(9), 5)];
    for (commit, logged, txn) in ahead {
        let error = check_table(commit, logged, Some(txn)).unwrap_err();
        assert!(matches!(error, CheckpointError::TableAhead { .. }), "{commit:?} {logged:?} {txn}");
    }
    let error = check_table(None, None, Some(3)).unwrap_err().to_string();
    assert!(error.starts_with("the table holds batch 3, but the checkpoint's newest logged batch is none "), "{error}");
}

#[test]
fn r032_a_quarantine_whose_batch_was_bound_is_accepted() {
    let fits = [
        (None, None, None),
        (None, Some(0), Some(0)),
        (Some(6), Some(7), Some(7)),
        (Some(300), None, Some(7)), // long ago, its outcome is purged
        (Some(6), Some(4), Some(4)),
    ];
    for (commit, outcome, txn) in fits {
        assert!(check_quarantine(commit, outcome, None, txn).is_ok(), "{commit:?} {outcome:?} {txn:?}");
    }
}

#[test]
fn r032_a_quarantine_ahead_of_its_checkpoint_is_refused() {
    for (commit, outcome, txn) in [(None, None, 0), (Some(6), None, 7), (Some(6), Some(6), 7)] {
        assert!(check_quarantine(commit, outcome, None, Some(txn)).is_err(), "{commit:?} {outcome:?} {txn}");
    }
    let error = check_quarantine(Some(6), Some(4), None, Some(7)).unwrap_err().to_string();
    assert!(error.starts_with("the quarantine holds batch 7, but the newest entry of `outcome/` is 4: "), "{error}");
}

#[test]
fn a_quarantine_behind_its_checkpoint_is_refused() {
    for (rejected, txn) in [(0, None), (6, None), (6, Some(5)), (5, Some(0))] {
        let error = check_quarantine(Some(6), Some(6), Some(rejected), txn).unwrap_err();
        assert!(matches!(error, CheckpointError::QuarantineBehind { .. }), "{rejected} {txn:?}: {error}");
    }
    let error = check_quarantine(Some(6), Some(6), Some(6), Some(5)).unwrap_err().to_string();
    assert!(error.starts_with("batch 6 is marked as done and had rejected rows, but the newest batch"), "{error}");
    for (rejected, txn) in [(6, 6), (5, 6), (0, 0), (5, 7)] {
        assert!(check_quarantine(Some(6), Some(7), Some(rejected), Some(txn)).is_ok(), "{rejected} {txn}");
    }
}

proptest! {
    /// Whatever numbers are found, the next batch is the one after the newest mark, or the start is refused.
    #[test]
    fn the_next_batch_always_follows_the_newest_mark(
        offsets in option::of(0..5u64), commit in option::of(0..5u64), outcome in option::of(0..5u64)
    ) {
        let state = state(offsets, commit, outcome);
        let expected = commit.map_or(0, |n| n + 1);
        match next_step(&state) {
            Ok(NextStep::Plan { batch, start }) => {
                prop_assert_eq!(batch, expected);
                prop_assert_eq!(offsets, commit);
                prop_assert_eq!(start, Some(at(10 * batch as i64)));
            }
            Ok(NextStep::Rerun { batch, range: found, .. }) => {
                prop_assert_eq!((batch, offsets), (expected, Some(expected)));
                prop_assert_ne!(outcome, Some(batch));
                prop_assert_eq!(found, range(batch as i64));
            }
            Ok(NextStep::AdoptOutcome { batch, range: found, .. }) => {
                prop_assert_eq!((batch, offsets, outcome), (expected, Some(expected), Some(expected)));
                prop_assert_eq!(found, range(batch as i64));
            }
            Err(_) => {
                let logged = offsets.map_or(0, |n| n + 1);
                let marked = commit.map_or(0, |n| n + 1);
                let bound = outcome.map_or(0, |n| n + 1);
                prop_assert!(marked > logged || bound > logged || marked + 1 < logged);
            }
        }
    }

    #[test]
    fn a_table_is_accepted_only_between_the_newest_mark_and_the_newest_range(
        commit in option::of(0..5u64), logged in option::of(0..5u64), txn in option::of(0..7i64)
    ) {
        let number = |n: Option<u64>| n.map_or(-1, |n| n as i64);
        let held = txn.unwrap_or(-1);
        let fits = number(commit) <= held && held <= number(commit) + 1 && held <= number(logged).max(number(commit));
        if number(logged) >= number(commit) {
            prop_assert_eq!(check_table(commit, logged, txn).is_ok(), fits);
        }
    }
}
