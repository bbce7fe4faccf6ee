//! Components that crash, hang, flood and lie: each is stopped with an error that a person understands, and harms
//! nothing else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod attempt;
mod behaviours;
mod files;
mod fuzzed;
#[path = "../../host/plugin/tests/sandbox/guests.rs"]
mod guests;
mod matrix;
mod messages;
mod pipeline;
mod process;
mod raw;
mod versions;

use std::sync::Arc;

use crisol_plugin::{Component, Kind};

use crate::attempt::Attempt;
use crate::process::Process;

/// Components that do their work, whatever happens beside them.
struct Honest([(Attempt, Arc<Component>); 2]);

impl Honest {
    fn new() -> Self {
        Self([Kind::Transformer, Kind::Aggregator].map(|kind| {
            let attempt = Attempt::new(kind, behaviours::honest_file(kind));
            let component = attempt::load(&attempt.file, "honest.wasm").unwrap();
            (attempt, Arc::new(component))
        }))
    }

    fn assert_unharmed(&self) {
        let [rows, groups] = self.0.each_ref().map(|(attempt, component)| {
            attempt.work(component).unwrap_or_else(|stopped| panic!("the honest one: {}", stopped.text()))
        });
        assert_eq!(rows.rows[0].origin.len(), attempt::ROWS);
        assert_eq!(groups.groups[0].index, [0, 4]);
    }
}

#[test]
fn every_behaviour_in_every_function_is_held() {
    let _alone = process::alone();
    let honest = Honest::new();
    honest.assert_unharmed();
    let behaviours = behaviours::all();
    assert!(behaviours.len() >= 35, "{} behaviours", behaviours.len());
    let before = Process::now();
    let table = matrix::try_all(&behaviours, || honest.assert_unharmed());
    let after = Process::now();
    eprintln!("{} behaviours\n{table}\nbefore {before:?}\nafter  {after:?}", behaviours.len());
    after.assert_not_grown_since(&before);
    insta::assert_snapshot!("matrix", table);
}
