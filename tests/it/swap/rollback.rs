//! `host plugins rollback`: the build that served before is put back.

use std::fs;
use std::os::unix::fs::symlink;

use crisol_tests::{guest, wait_until};
use serde_json::{Value, json};

use super::lab::{DEADLINE, Lab, another_build, bundled, marked, place, with_marks};
use crate::model::builds::sha256;

fn rolled_back(file: &str) -> String {
    format!("{file}.rolled-back")
}

/// A lab in which builds served one after the other from one file; no host runs.
fn with_builds(topic: &str, builds: &[Vec<u8>]) -> Lab {
    let mut lab = Lab::new(topic, json!({}));
    for build in builds {
        place(&lab.plugin("orders.wasm"), build);
        lab.start();
        lab.wait_for_build(build);
        lab.take(2, 1);
        lab.stop();
    }
    lab
}

#[test]
fn a_running_host_takes_the_build_before_and_the_one_after_it_again() {
    let mut lab = Lab::new("rollback.running", with_marks());
    let file = lab.plugin("orders.wasm");
    place(&file, &marked(0));
    lab.start();
    lab.take(5, 1);
    place(&file, &marked(1));
    lab.wait_for_build(&marked(1));
    lab.take(5, 1);

    let said = lab.said(&["plugins", "rollback", "orders", "--dry-run"]);
    assert!(said.contains("dry run, nothing was written") && said.contains("written: "), "{said}");
    assert_eq!(fs::read(&file).expect("it is there"), marked(1));
    let said = lab.said(&["plugins"]);
    let (_, kept) = said.split_once("served before, for `host plugins rollback`").expect("kept builds are shown");
    assert!(kept.contains(&sha256(&marked(0))[..12]) && !kept.contains(&sha256(&marked(1))[..12]), "{said}");

    for mark in [0, 1, 0] {
        let told = lab.told(&["plugins", "rollback", "orders"]);
        assert_eq!(told["schema"], "crisol.rollback/v1");
        assert_eq!(told["to"]["builds"][0]["digest"], sha256(&marked(mark)), "{told}");
        assert_eq!(told["from"]["builds"][0]["digest"], sha256(&marked(1 - mark)), "{told}");
        lab.wait_for_build(&marked(mark));
        assert_eq!(fs::read(lab.plugin(&rolled_back("orders.wasm"))).expect("it is kept"), marked(1 - mark));
        lab.take(5, 1);
    }
    lab.stop();
    assert_eq!(lab.components().len(), 5);
    lab.assert_commits_name_the_builds_of_their_rows(2);
    lab.assert_no_offset_is_missing_or_doubled();
}

#[test]
fn a_newer_file_beside_the_old_one_is_taken_out_and_brought_back() {
    let mut lab = Lab::new("rollback.beside", json!({}));
    place(&lab.plugin("orders.wasm"), &bundled());
    let newer = fs::read(guest("faulty-orders")).expect("a component");
    lab.start();
    lab.take(5, 1);
    place(&lab.plugin("newer.wasm"), &newer);
    lab.wait_for_versions(&["9.9.9"]);
    let files = || ["orders.wasm", "newer.wasm", "newer.wasm.rolled-back"].map(|file| lab.plugin(file).exists());
    let said = lab.said(&["plugins", "rollback", "orders"]);
    assert!(said.contains("taken out: ") && said.contains("newer.wasm"), "{said}");
    lab.wait_for_versions(&["0.1.0"]);
    assert_eq!(files(), [true, false, true]);
    lab.said(&["plugins", "rollback", "orders"]);
    lab.wait_for_versions(&["9.9.9"]);
    assert_eq!(files(), [true, true, true]);
    assert_eq!(fs::read(lab.plugin("newer.wasm")).expect("it is there"), newer);
    lab.take(5, 1);
    lab.stop();
    lab.assert_no_offset_is_missing_or_doubled();
}

#[test]
fn what_was_refused_is_undone_and_what_serves_stays() {
    let mut lab = with_builds("rollback.refused", &[bundled(), another_build(1)]);
    let file = lab.plugin("orders.wasm");
    lab.start();
    lab.take(2, 1);
    let other_columns = fs::read(guest("orders-v3")).expect("a component");
    place(&file, &other_columns);
    lab.wait_for_refusal("orders.wasm", "column `channel` is new");
    let said = lab.said(&["plugins", "rollback", "orders"]);
    assert!(said.contains("which serves, back in its place"), "{said}");
    assert_eq!(fs::read(&file).expect("it is there"), another_build(1));
    assert_eq!(fs::read(lab.plugin(&rolled_back("orders.wasm"))).expect("it is kept"), other_columns);
    wait_until("nothing is refused", DEADLINE, || lab.decisions()["refused"] == json!([]));
    place(&lab.plugin("beside.wasm"), &other_columns);
    lab.wait_for_refusal("beside.wasm", "column `channel` is new");
    lab.said(&["plugins", "rollback", "orders"]);
    assert!(!lab.plugin("beside.wasm").exists());
    wait_until("nothing is refused", DEADLINE, || lab.decisions()["refused"] == json!([]));
    // Now there is nothing left to undo but what serves.
    lab.said(&["plugins", "rollback", "orders"]);
    lab.wait_for_build(&bundled());
    lab.take(2, 1);
    lab.stop();
    lab.assert_no_offset_is_missing_or_doubled();
}

#[test]
fn without_a_host_the_next_start_finds_what_was_put_back() {
    let builds = [bundled(), another_build(1), another_build(2)];
    let mut lab = with_builds("rollback.alone", &builds);
    let file = lab.plugin("orders.wasm");
    let digest = sha256(&builds[0]);
    lab.said(&["plugins", "rollback", "orders", "--to", &digest[..8]]);
    assert_eq!(fs::read(&file).expect("it is there"), builds[0]);
    // It was not run yet: this undoes it.
    lab.said(&["plugins", "rollback", "orders"]);
    assert_eq!(fs::read(&file).expect("it is there"), builds[2]);
    let said = lab.said(&["plugins", "rollback", "orders", "--to", &sha256(&builds[2])]);
    assert!(said.contains("is in its place already, nothing was written"), "{said}");
    let said = lab.host(&["plugins", "rollback", "orders", "--to", "0.1.0"]).fail_with(3);
    assert!(said.contains("`0.1.0` means several builds") && said.contains(&digest[..12]), "{said}");
    lab.said(&["plugins", "rollback", "orders"]);
    lab.start();
    lab.wait_for_build(&builds[1]);
    lab.take(2, 1);
    lab.stop();
    // A file that is gone comes back.
    fs::remove_file(&file).expect("it can be removed");
    lab.said(&["plugins", "rollback", "orders"]);
    assert_eq!(fs::read(&file).expect("it is there"), builds[1]);
    lab.assert_no_offset_is_missing_or_doubled();
}

#[test]
fn of_each_component_the_last_five_are_kept() {
    let builds: Vec<Vec<u8>> = (0..7).map(another_build).collect();
    let mut lab = Lab::new("rollback.kept", json!({}));
    let file = lab.plugin("orders.wasm");
    place(&file, &builds[0]);
    lab.start();
    for build in &builds {
        place(&file, build);
        lab.wait_for_build(build);
    }
    lab.stop();
    let told = lab.told(&["plugins"]);
    let kept: Vec<&Value> = told["kept"]["orders"].as_array().expect("states").iter().collect();
    let digests: Vec<_> = kept.iter().map(|state| state["builds"][0]["digest"].clone()).collect();
    assert_eq!(digests, builds[2..].iter().map(|build| json!(sha256(build))).collect::<Vec<_>>());
    let files = fs::read_dir(lab.project.checkpoint("components")).expect("a folder").count();
    assert_eq!(files, 5 + 1, "five builds and their history");
    let gone = lab.host(&["plugins", "rollback", "orders", "--to", &sha256(&builds[0])]).fail_with(3);
    assert!(gone.contains("of it is kept") && gone.contains(&sha256(&builds[5])[..12]), "{gone}");
}

#[test]
fn what_cannot_be_put_back_is_told_and_nothing_is_written() {
    let lab = with_builds("rollback.refusals", &[bundled(), another_build(1)]);
    let file = lab.plugin("orders.wasm");
    let refused = |arguments: &[&str], words: &[&str]| {
        let said = lab.host(&[&["plugins", "rollback"], arguments].concat()).fail_with(3);
        for words in words {
            assert!(said.contains(words), "`{words}` is missing in:\n{said}");
        }
        assert_eq!(fs::read(&file).expect("it is there"), another_build(1), "nothing was written");
    };
    refused(&["order"], &["no build of that name served yet", "`orders`"]);
    refused(&["orders", "--to", "7.0.0"], &["no build `7.0.0` of it is kept", "kept are 0.1.0"]);

    // Another place for the same bytes is a link.
    fs::rename(&file, lab.plugin("target")).expect("it can be moved");
    symlink("target", &file).expect("a link");
    refused(&["orders"], &["is a link to `target`", "config map"]);
    fs::rename(lab.plugin("target"), &file).expect("it can be moved");

    let kept = lab.project.checkpoint(&format!("components/{}.wasm", sha256(&bundled())));
    fs::write(&kept, another_build(9)).expect("it can be damaged");
    refused(&["orders"], &["is damaged: its SHA-256 is", "choose another build"]);
    fs::remove_file(&kept).expect("it can be removed");
    refused(&["orders"], &["cannot be read", &sha256(&bundled())]);
    fs::write(lab.project.checkpoint("components/history.json"), "{").expect("it can be damaged");
    refused(&["orders"], &["history.json` is damaged"]);
    let told = lab.host(&["plugins", "rollback", "orders", "-o", "json"]).run();
    let told: Value = serde_json::from_slice(&told.stdout).expect("JSON");
    assert_eq!(told["errors"][0]["code"], "not_rolled_back");
}

#[test]
fn the_first_build_that_served_has_nothing_before_it() {
    let lab = with_builds("rollback.first", &[bundled()]);
    let said = lab.host(&["plugins", "rollback", "orders"]).fail_with(3);
    assert!(said.contains("nothing served before the build that serves now"), "{said}");
}
