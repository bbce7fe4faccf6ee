//! Folders that may not be written to.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use super::lab::{Lab, another_build, bundled, lines, place};

fn set_mode(folder: &Path, mode: u32) {
    fs::set_permissions(folder, Permissions::from_mode(mode)).expect("its mode can be set");
}

#[test]
fn a_host_runs_on_components_that_it_may_only_read_and_a_rollback_says_what_to_do() {
    let mut lab = Lab::new("swap.readonly", json!({}));
    let (file, folder) = (lab.plugin("orders.wasm"), lab.project.path().join("plugins"));
    place(&file, &bundled());
    lab.start_as(crisol_tests::Host::heeding_modes);
    lab.take(5, 1);
    place(&file, &another_build(1));
    let second = lab.wait_for_build(&another_build(1));
    set_mode(&folder, 0o555);
    lab.take(5, 1);
    let said = lab.host(&["plugins", "rollback", "orders"]).heeding_modes().fail_with(3);
    set_mode(&folder, 0o755);
    for words in ["component `orders` is not rolled back: cannot write", "Permission denied", "hint: the build lies in"]
    {
        assert!(said.contains(words), "`{words}` is missing in:\n{said}");
    }
    assert_eq!(fs::read(&file).expect("it is there"), another_build(1), "nothing was written");
    assert_eq!(lab.serving()[0].1, second);
    lab.take(5, 1);
    lab.stop();
    assert_eq!(lab.components().len(), 2);
    lab.assert_no_offset_is_missing_or_doubled();
}

#[test]
fn components_are_exchanged_where_nothing_of_it_can_be_written_down() {
    let mut lab = Lab::new("swap.unwritten", json!({}));
    let file = lab.plugin("orders.wasm");
    place(&file, &bundled());
    // In the way of what would be written, whoever runs the host.
    fs::create_dir_all(lab.project.checkpoint("plugins.json")).expect("a folder");
    fs::write(lab.project.checkpoint("components"), "").expect("a file");
    lab.start();
    lab.take(5, 1);
    place(&file, &another_build(1));
    // What serves shows in what is committed.
    let tables = lab.project.tables();
    crisol_tests::wait_until("the other build serves", super::lab::DEADLINE, || {
        lab.take(1, 1);
        let log = tables.log("silver/orders");
        let commits = log["commits"].as_array().expect("commits").clone();
        let digests = commits.iter().map(|commit| commit["crisol"]["components"]["orders@0.1.0"].clone());
        digests.filter(serde_json::Value::is_string).collect::<std::collections::HashSet<_>>().len() == 2
    });
    let ended = lab.stop();
    assert_eq!(lines(&ended, "crisol.swapped/v1").len(), 1);
    let log = String::from_utf8_lossy(&ended.stderr).into_owned();
    for words in ["`host plugins` will not show it", "`host plugins rollback` will not find them"] {
        assert!(log.contains(words), "`{words}` is missing in:\n{log}");
    }
    lab.assert_no_offset_is_missing_or_doubled();
}
