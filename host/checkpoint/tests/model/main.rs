//! The protocol of one batch as a model, searched exhaustively: two hosts on one checkpoint, crashes between any two
//! steps, lost answers, power cuts that take what was not synced, foreign commits, and components that are replaced in
//! between, so that a second run rejects other rows than the first.
//!
//! Steps have the names of [`crisol_checkpoint::Step`]; recovery is the real [`crisol_checkpoint::next_step`] and
//! [`crisol_checkpoint::check_table`]. Each guard of the protocol is also taken away, and the model must then find what
//! goes wrong: a guard whose absence nobody notices would not be tested.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod protocol;
mod search;
mod world;

use protocol::{Guards, Outcomes};
use search::{Found, explore};
use world::{Faults, Violation, World};

/// The whole protocol under these faults: no invariant is ever broken, and every state leads to the end.
fn holds(name: &str, hosts: usize, faults: Faults) {
    let found = explore(World::new(hosts, faults), Guards::ALL);
    report(name, &found);
    if let Some((violation, trace)) = found.violation {
        panic!("{name}: {violation:?}\n{trace}");
    }
    assert!(found.finished > 0, "{name}: no state in which all rows are done was reached");
}

/// The protocol without one guard: the search must find that something goes wrong, and what.
fn breaks(name: &str, hosts: usize, faults: Faults, guards: Guards, expected: &[Violation]) {
    let found = explore(World::new(hosts, faults), guards);
    report(name, &found);
    let (violation, trace) = found.violation.unwrap_or_else(|| panic!("{name}: nobody misses this guard"));
    println!("  {violation:?}:\n{trace}");
    assert!(expected.contains(&violation), "{name}: {violation:?} is not what this guard is for\n{trace}");
}

fn report(name: &str, found: &Found) {
    println!("{name}: {} states, {:.1} s", found.states, found.seconds);
}

const NONE: Faults = Faults { crashes: 0, lost_answers: 0, power_cuts: 0, foreign_commits: 0, restores: 0 };

#[test]
fn one_host_with_crashes_lost_answers_power_cuts_and_foreign_commits() {
    let faults = Faults { crashes: 2, lost_answers: 2, power_cuts: 2, foreign_commits: 1, ..NONE };
    holds("one host", 1, faults);
}

#[test]
fn two_hosts_with_crashes_lost_answers_and_foreign_commits() {
    let faults = Faults { crashes: 2, lost_answers: 1, foreign_commits: 1, ..NONE };
    holds("two hosts", 2, faults);
}

#[test]
fn two_hosts_with_crashes_and_power_cuts() {
    holds("two hosts, power cuts", 2, Faults { crashes: 1, lost_answers: 1, power_cuts: 1, ..NONE });
}

#[test]
fn r032_an_older_copy_of_the_checkpoint_stops_the_host_before_rows_are_lost_or_doubled() {
    holds("older checkpoint", 1, Faults { crashes: 2, restores: 1, ..NONE });
}

#[test]
fn without_comparing_tables_and_checkpoint_an_older_copy_loses_or_doubles_rows() {
    let guards = Guards { check_tables: false, ..Guards::ALL };
    let expected = [Violation::Lost, Violation::Doubled];
    breaks("tables not compared", 1, Faults { crashes: 1, restores: 1, ..NONE }, guards, &expected);
}

#[test]
fn without_outcomes_a_fix_between_two_runs_loses_or_doubles_a_row() {
    let guards = Guards { outcome: Outcomes::Never, check_tables: false, ..Guards::ALL };
    breaks("no outcome", 1, Faults { crashes: 1, ..NONE }, guards, &[Violation::Lost, Violation::Doubled]);
}

/// The old host rejects nothing and needs no outcome for its one commit; the new host, with another component, sees no
/// commit yet, rejects a row and quarantines it; then the old host's commit lands.
#[test]
fn with_outcomes_only_for_rejected_rows_a_new_host_beside_an_old_one_doubles_a_row() {
    let guards = Guards { outcome: Outcomes::WhenRejected, ..Guards::ALL };
    breaks("outcome only when rejected", 2, NONE, guards, &[Violation::Doubled]);
}

#[test]
fn with_outcomes_only_for_rejected_rows_a_committed_batch_must_not_run_again() {
    let guards = Guards { outcome: Outcomes::WhenRejected, skip_committed: false, ..Guards::ALL };
    breaks("committed batch runs again", 1, Faults { crashes: 1, ..NONE }, guards, &[Violation::Doubled]);
}

#[test]
fn without_the_transaction_check_rows_double() {
    let guards = Guards { transaction_check: false, ..Guards::ALL };
    breaks("no transaction check", 1, Faults { crashes: 1, ..NONE }, guards, &[Violation::Doubled]);
}

#[test]
fn with_a_commit_that_is_not_tied_to_its_snapshot_rows_double() {
    let guards = Guards { tied_commit: false, ..Guards::ALL };
    breaks("commit not tied", 2, Faults { crashes: 1, ..NONE }, guards, &[Violation::Doubled]);
}

#[test]
fn with_the_mark_before_the_table_rows_are_lost() {
    let guards = Guards { mark_last: false, ..Guards::ALL };
    breaks("mark before table", 1, Faults { crashes: 1, ..NONE }, guards, &[Violation::Lost]);
}

#[test]
fn without_a_logged_range_batches_are_committed_that_nobody_can_run_again() {
    let guards = Guards { log_range: false, check_tables: false, ..Guards::ALL };
    breaks("no logged range", 1, Faults { crashes: 1, ..NONE }, guards, &[Violation::Unlogged]);
}

#[test]
fn when_already_exists_is_trusted_two_hosts_run_different_ranges() {
    let guards = Guards { read_back: false, ..Guards::ALL };
    let expected = [Violation::WrongRange, Violation::Unlogged, Violation::Lost, Violation::Doubled];
    breaks("already exists trusted", 2, NONE, guards, &expected);
}

#[test]
fn without_a_sync_before_the_mark_a_power_cut_takes_rows_that_are_marked() {
    let guards = Guards { sync_tables: false, ..Guards::ALL };
    breaks("no sync before mark", 1, Faults { power_cuts: 1, ..NONE }, guards, &[Violation::Lost]);
}

#[test]
fn without_a_sync_of_the_range_a_power_cut_takes_it_from_under_its_commit() {
    let guards = Guards { sync_entries: false, ..Guards::ALL };
    breaks("range not synced", 1, Faults { power_cuts: 1, ..NONE }, guards, &[Violation::Unlogged]);
}

#[test]
fn when_what_a_dead_host_left_is_not_settled_a_power_cut_takes_what_was_built_on() {
    let guards = Guards { settle: false, ..Guards::ALL };
    let expected = [Violation::Unlogged, Violation::Lost];
    breaks("not settled", 1, Faults { crashes: 1, power_cuts: 1, ..NONE }, guards, &expected);
}
