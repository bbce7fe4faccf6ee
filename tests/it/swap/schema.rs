//! A build that gives other columns: old and new are shown side by side.

use std::fs;

use crisol_tests::{guest, wait_until};
use serde_json::json;

use super::lab::{DEADLINE, Lab, bundled, lines, place};

#[test]
fn a_build_that_is_refused_for_its_columns_shows_them_beside_those_of_the_table() {
    let mut lab = Lab::new("swap.columns", json!({}));
    place(&lab.plugin("orders.wasm"), &bundled());
    lab.start();
    lab.take(5, 1);
    place(&lab.plugin("orders-v3.wasm"), &fs::read(guest("orders-v3")).expect("a component"));
    lab.wait_for_refusal("orders-v3.wasm", "column `channel` is new");
    let columns = lab.decisions()["refused"][0]["columns"].clone();
    let columns = columns.as_array().expect("columns");
    assert!(columns.contains(&json!({ "name": "channel", "old": null, "new": "string not null" })), "{columns:?}");
    assert!(columns.contains(&json!({ "name": "order_id", "old": "string not null", "new": "string not null" })));
    let said = lab.said(&["plugins"]);
    for words in ["  column  | old | new", "  channel | -   | string not null", "columns are the same"] {
        assert!(said.contains(words), "`{words}` is missing in:\n{said}");
    }
    let told = lab.told(&["plugins"]);
    assert_eq!(told["host"]["refused"][0]["columns"], json!(columns));
    let ended = lab.stop();
    let refused = lines(&ended, "crisol.plugin_refused/v1");
    assert_eq!(refused[0]["columns"], json!(columns));
    let log = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(log.contains("  channel | -   | string not null"), "{log}");
}

#[test]
fn a_build_that_serves_with_other_columns_shows_them_beside_the_old_ones() {
    let mut lab = Lab::new("swap.more", json!({ "columns": [{ "name": "order_id", "type": "string" }] }));
    place(&lab.plugin("orders.wasm"), &bundled());
    lab.start();
    lab.take(5, 1);
    place(&lab.plugin("orders.wasm"), &fs::read(guest("orders-v3")).expect("a component"));
    lab.wait_for_versions(&["3.0.0"]);
    lab.take(5, 3);
    wait_until("the table has all", DEADLINE, || lab.project.tables().count("silver/orders") == 10);
    let ended = lab.stop();
    let swapped = lines(&ended, "crisol.swapped/v1");
    let columns = swapped[0]["columns"].as_array().expect("columns").clone();
    assert!(columns.contains(&json!({ "name": "channel", "old": null, "new": "string not null" })), "{columns:?}");
    let log = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(log.contains("component `orders`: 3.0.0") && log.contains("  channel | -   | string not null"), "{log}");
    lab.assert_no_offset_is_missing_or_doubled();
}
