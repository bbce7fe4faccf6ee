//! What happens to the files of a folder while a host looks at it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crisol_tests::{root, wait_until};
use serde_json::{Value, json};

use super::lab::{DEADLINE, Lab, bundled, lines, marked, place, with_marks};

/// Files below a folder, and when they were written.
fn written(folder: &Path) -> BTreeMap<String, SystemTime> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let entry = |entry: fs::DirEntry| {
        let modified = entry.metadata().and_then(|metadata| metadata.modified()).expect("its time");
        (entry.file_name().to_string_lossy().into_owned(), modified)
    };
    entries.map(entry).collect()
}

fn touch(path: &Path, time: SystemTime) {
    File::options().write(true).open(path).and_then(|file| file.set_modified(time)).expect("a file can be touched");
}

#[test]
fn a_thousand_touches_under_load_exchange_refuse_and_compile_nothing() {
    let mut lab = Lab::new("swap.touches", json!({}));
    let cache = tempfile::tempdir().expect("a folder");
    let file = lab.plugin("orders.wasm");
    place(&file, &bundled());
    lab.start_as(|host| host.env("XDG_CACHE_HOME", cache.path()));
    lab.take(10, 1);
    let compiled = cache.path().join("crisol/compiled");
    let (before, since) = (written(&compiled), lab.decisions()["serving"][0]["since"].clone());
    assert!(!before.is_empty(), "what is compiled is kept");
    for round in 0..10_u64 {
        let looked = lab.decisions()["written"].clone();
        for number in 0..100 {
            touch(&file, SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 * round + number));
            if number % 50 == 0 {
                lab.produce(50, 1);
            }
        }
        wait_until("the host looks at the file", DEADLINE, || lab.decisions()["written"] != looked);
    }
    lab.take(10, 1);
    assert_eq!(lab.decisions()["serving"][0]["since"], since);
    assert_eq!(lab.decisions()["refused"], json!([]));
    assert_eq!(written(&compiled), before);
    let ended = lab.stop();
    assert_eq!(lines(&ended, "crisol.swapped/v1"), Vec::<Value>::new());
    assert_eq!(lines(&ended, "crisol.plugin_refused/v1"), Vec::<Value>::new());
    assert_eq!(lab.components().len(), 1);
    lab.assert_no_offset_is_missing_or_doubled();
}

#[test]
fn of_two_files_that_come_at_once_both_serve_or_are_refused_each_for_itself() {
    let mut lab = Lab::new("swap.two", with_marks());
    place(&lab.plugin("orders.wasm"), &marked(0));
    lab.start();
    lab.take(5, 1);
    place(&lab.plugin("rules.wasm"), &fs::read(root().join("plugins/order-rules.wasm")).expect("a component"));
    place(&lab.plugin("orders.wasm"), &marked(1));
    lab.wait_for_build(&marked(1));
    wait_until("the rules serve", DEADLINE, || lab.decisions()["serving"][0]["name"] == "order-rules");
    lab.take(5, 1);
    // Two new ones that claim the same, of which a host cannot choose.
    place(&lab.plugin("one.wasm"), &marked(2));
    place(&lab.plugin("two.wasm"), &marked(3));
    for file in ["one.wasm", "two.wasm"] {
        lab.wait_for_refusal(file, "with different bytes");
    }
    lab.take(5, 1);
    fs::remove_file(lab.plugin("one.wasm")).expect("it can be removed");
    fs::remove_file(lab.plugin("two.wasm")).expect("it can be removed");
    wait_until("nothing is refused", DEADLINE, || lab.decisions()["refused"] == json!([]));
    lab.take(5, 1);
    lab.stop();
    assert_eq!(lab.components().len(), 2, "{:?}", lab.components());
    lab.assert_commits_name_the_builds_of_their_rows(4);
    lab.assert_no_offset_is_missing_or_doubled();
}

#[test]
fn a_file_that_is_deleted_and_restored_serves_throughout_and_is_compiled_once() {
    let mut lab = Lab::new("swap.restored", json!({}));
    let cache = tempfile::tempdir().expect("a folder");
    let file = lab.plugin("orders.wasm");
    place(&file, &bundled());
    lab.start_as(|host| host.env("XDG_CACHE_HOME", cache.path()));
    lab.take(5, 1);
    let compiled = cache.path().join("crisol/compiled");
    let (before, since) = (written(&compiled), lab.decisions()["serving"][0]["since"].clone());
    for removed in [true, false] {
        match removed {
            true => fs::remove_file(&file).expect("it can be removed"),
            false => place(&file, &bundled()),
        }
        let seen = || lab.decisions()["serving"][0]["file_removed"] == removed;
        wait_until(&format!("the host sees it, removed: {removed}"), DEADLINE, seen);
        lab.take(5, 1);
        assert_eq!(lab.decisions()["serving"][0]["since"], since);
    }
    assert_eq!(written(&compiled), before);
    let ended = lab.stop();
    assert_eq!(lines(&ended, "crisol.swapped/v1"), Vec::<Value>::new());
    assert_eq!(lab.components().len(), 1);
    lab.assert_no_offset_is_missing_or_doubled();
}

#[test]
fn a_file_that_is_copied_slowly_serves_once_it_is_whole_and_no_part_of_it_does() {
    let mut lab = Lab::new("swap.slow", with_marks());
    let file = lab.plugin("orders.wasm");
    place(&file, &marked(0));
    lab.start();
    lab.take(5, 1);
    let bytes = marked(1);
    let mut copy = File::create(&file).expect("a file can be written");
    for part in bytes.chunks(bytes.len() / 3) {
        let looked = lab.decisions()["written"].clone();
        copy.write_all(part).expect("it can be written");
        // Each part lies there long enough to be taken for a file.
        wait_until("the host looks at the file", DEADLINE, || lab.decisions()["written"] != looked);
        lab.take(2, 1);
    }
    drop(copy);
    lab.wait_for_build(&bytes);
    lab.take(5, 1);
    lab.stop();
    assert_eq!(lab.components().len(), 2, "{:?}", lab.components());
    lab.assert_commits_name_the_builds_of_their_rows(2);
    lab.assert_no_offset_is_missing_or_doubled();
}

#[test]
fn two_streams_take_one_exchange_each_from_its_next_batch() {
    let mut lab = Lab::new("swap.streams", with_marks());
    let mut other = with_marks();
    other["name"] = "silver.other".into();
    other["from"] = "bronze.orders_raw".into();
    other["stages"] = json!([{ "decode": "orders" }]);
    lab.project.write("tables/silver/other.json", &other.to_string());
    let file = lab.plugin("orders.wasm");
    place(&file, &marked(0));
    lab.start();
    lab.take(5, 1);
    let tables = lab.project.tables();
    for mark in 1..4 {
        lab.produce(100, 1);
        place(&file, &marked(mark));
        lab.produce(100, 1);
        lab.wait_for_build(&marked(mark));
        lab.take(5, 1);
        let follows = || tables.count("silver/other") == tables.count("silver/orders");
        wait_until("the other stream follows", DEADLINE, follows);
    }
    let ended = lab.stop();
    lab.assert_commits_name_the_builds_of_their_rows(4);
    lab.assert_no_offset_is_missing_or_doubled();
    let rows = "SELECT count(*), count(DISTINCT \"offset\") FROM rows";
    assert_eq!(tables.query("silver/other", rows), tables.query("silver/orders", rows));
    let swapped = lines(&ended, "crisol.swapped/v1");
    assert_eq!(swapped.len(), 3, "{swapped:?}");
    for line in swapped {
        assert_eq!(line["streams"], json!(["silver.orders", "silver.other"]));
    }
    // Whoever reads one of them sees one build after the other, and never one that was exchanged already.
    for table in ["silver/orders", "silver/other"] {
        let order = "SELECT build, min(\"offset\") AS first FROM rows GROUP BY build ORDER BY first";
        let builds: Vec<Value> = tables.query(table, order).into_iter().map(|row| row[0].clone()).collect();
        assert_eq!(builds, (0..4).map(|mark| json!(format!("mark-{mark:016}"))).collect::<Vec<_>>());
    }
}
