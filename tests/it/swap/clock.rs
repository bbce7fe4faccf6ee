//! Clocks that are wrong: times of files that say nothing, and a system clock that is set while a host runs.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crisol_tests::Clock;
use serde_json::json;

use super::lab::{Lab, another_build, bundled, place};

const YEAR_SECONDS: u64 = 365 * 24 * 3_600;

fn set_time(path: &Path, time: SystemTime) {
    File::options().write(true).open(path).and_then(|file| file.set_modified(time)).expect("its time can be set");
}

#[test]
fn a_file_is_taken_whatever_its_time_says() {
    let mut lab = Lab::new("swap.times", json!({}));
    let (file, now) = (lab.plugin("orders.wasm"), SystemTime::now());
    let year = Duration::from_secs(YEAR_SECONDS);
    // The past, the future, and twice the very same time and length.
    let times = [now - year, now + year, SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH];
    place(&file, &another_build(0));
    set_time(&file, now);
    lab.start();
    lab.take(5, 1);
    for (build, time) in (1..).zip(times) {
        let beside = lab.plugin("beside");
        std::fs::write(&beside, another_build(build)).expect("a file can be written");
        set_time(&beside, time);
        std::fs::rename(&beside, &file).expect("a file can be moved");
        lab.wait_for_build(&another_build(build));
        lab.take(5, 1);
    }
    lab.stop();
    assert_eq!(lab.components().len(), 5);
    lab.assert_no_offset_is_missing_or_doubled();
}

#[test]
fn a_clock_that_is_set_forth_and_back_keeps_nobody_from_exchanging_and_rolling_back() {
    let mut lab = Lab::new("swap.clock", json!({}));
    let (file, clock) = (lab.plugin("orders.wasm"), Clock::new());
    place(&file, &bundled());
    let year = i64::try_from(YEAR_SECONDS).expect("few");
    lab.start_as(|host| host.clock(&clock));
    lab.take(5, 1);
    let mut since = Vec::new();
    for (build, skew) in [(1, 10 * year), (2, -10 * year), (3, 0)] {
        clock.set(skew);
        place(&file, &another_build(build));
        lab.wait_for_build(&another_build(build));
        lab.take(5, 1);
        let text = lab.decisions()["serving"][0]["since"].as_str().unwrap_or_default().to_owned();
        since.push(text.get(..4).and_then(|year| year.parse::<i64>().ok()).expect("a year"));
    }
    assert!(since[0] > since[2] && since[2] > since[1], "the host has the clock of the test: {since:?}");
    // What served before is not what is older by the clock.
    lab.said(&["plugins", "rollback", "orders"]);
    lab.wait_for_build(&another_build(2));
    lab.take(5, 1);
    clock.set(-20 * year);
    lab.said(&["plugins", "rollback", "orders"]);
    lab.wait_for_build(&another_build(3));
    lab.take(5, 1);
    lab.stop();
    lab.assert_no_offset_is_missing_or_doubled();
}
