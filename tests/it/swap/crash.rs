//! A host that dies while components are exchanged, at each of the places where something of it is done and something not.

use std::os::unix::process::ExitStatusExt as _;

use crisol_tests::wait_until;
use nix::sys::signal::Signal;

use super::lab::{DEADLINE, Lab, marked, place, with_marks};

/// Of the exchange itself, and of the batches that go on beside it.
const PLACES: [&str; 14] = [
    "plugins/decide/before",
    "plugins/serve/before",
    "plugins/serve/after",
    "plugins/keep/before",
    "plugins/keep/after",
    "plugins/take_down/before",
    "plugins/take_down/after",
    "silver.orders/plan/before",
    "silver.orders/log_range/after",
    "silver.orders/write_files/before",
    "silver.orders/write_files/after",
    "silver.orders/log_outcome/after",
    "silver.orders/commit_table/after",
    "silver.orders/mark/before",
];

#[test]
fn a_host_that_dies_during_an_exchange_leaves_rows_of_builds_that_their_commits_name() {
    let mut lab = Lab::new("swap.crash", with_marks());
    let file = lab.plugin("orders.wasm");
    place(&file, &marked(0));
    lab.start();
    lab.take(5, 1);
    lab.stop();
    for (mark, failpoint) in (1..).zip(PLACES) {
        let looked = lab.decisions()["written"].clone();
        // What serves first is kept at the start, and the batches that were left are made.
        let first = failpoint.starts_with("silver") || failpoint.starts_with("plugins/keep");
        lab.start_as(|host| host.abort_at(failpoint, u32::from(first)));
        wait_until("the host looks at the folder", DEADLINE, || {
            lab.decisions()["written"] != looked || lab.run.as_mut().is_some_and(crisol_tests::Run::has_ended)
        });
        lab.produce(20, 1);
        place(&file, &marked(mark));
        let mut produced = 0;
        wait_until(&format!("the host dies at {failpoint}"), DEADLINE, || {
            // Each batch is another chance to come to the place.
            produced += 1;
            if produced % 50 == 1 {
                lab.produce(5, 1);
            }
            lab.run.as_mut().is_some_and(crisol_tests::Run::has_ended)
        });
        let ended = lab.run.take().expect("it ran").end();
        assert_eq!(ended.status.signal(), Some(Signal::SIGABRT as i32), "{failpoint}: {ended:?}");
        lab.start();
        lab.wait_for_build(&marked(mark));
        lab.take(5, 1);
        lab.stop();
    }
    let marks = u8::try_from(PLACES.len()).expect("few") + 1;
    lab.assert_commits_name_the_builds_of_their_rows(marks);
    lab.assert_no_offset_is_missing_or_doubled();
    assert!(lab.components().len() >= PLACES.len(), "{:?}", lab.components());
}
