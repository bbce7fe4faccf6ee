//! Components tried on rows of real tables, beside what serves.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crisol_tests::{Project, guest, root};
use serde_json::{Value, json};

use crate::model::builds;

/// Lines of text, decoded by `orders` of the project's own folder, into a table with the columns of `silver`.
fn orders(lines: &[String], decoder: &[u8], silver: &Value) -> Project {
    let project = Project::lines();
    project.write("landing/a.txt", &(lines.join("\n") + "\n"));
    let mut contract = json!({ "name": "silver.orders", "from": "bronze.lines",
        "stages": [{ "decode": "orders", "version": { "json": "schema_version", "in": "payload" } }] });
    contract.as_object_mut().unwrap().extend(silver.as_object().unwrap().clone());
    project.write("tables/silver/orders.json", &contract.to_string());
    fs::create_dir(project.path().join("plugins")).unwrap();
    fs::write(project.path().join("plugins/orders.wasm"), decoder).unwrap();
    project.host(&["run"]).plugins(&project.path().join("plugins")).succeed();
    project
}

fn order(number: u32) -> String {
    json!({ "order_id": format!("o-{number}"), "event_ts": "2026-03-14T10:00:00Z", "amount": 10, "schema_version": 1 })
        .to_string()
}

/// A build whose rows bear a mark.
fn marked(number: u32) -> Vec<u8> {
    builds::marked(&format!("mark-{number:016}"), &(1..=2))
}

fn bundled() -> Vec<u8> {
    fs::read(root().join("plugins/orders.wasm")).unwrap()
}

/// `host try` of a component: as text, and as JSON.
fn tried(project: &Project, component: &Path, arguments: &[&str]) -> (String, Value) {
    let component = component.display().to_string();
    let plugins = project.path().join("plugins");
    let run = |more: &[&str]| {
        let arguments = [&["try", &component, "--contract", "silver.orders"], arguments, more].concat();
        String::from_utf8(project.host(&arguments).plugins(&plugins).succeed().stdout).unwrap()
    };
    (run(&[]), serde_json::from_str(&run(&["-o", "json"])).unwrap())
}

/// All files of a project, with what they hold.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.insert(path.clone(), Vec::new());
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn a_row_that_a_new_build_cannot_bear_is_told_and_nothing_is_written() {
    let lines: Vec<String> = (0..20).map(order).chain(["no order".to_owned()]).collect();
    let project = orders(&lines, &bundled(), &json!({}));
    let before = files(project.path());
    let (text, found) = tried(&project, &guest("faulty-orders"), &[]);
    assert_eq!(files(project.path()), before, "a trial writes nothing");

    assert_eq!((&found["schema"], &found["rows"]), (&json!("crisol.try/v1"), &json!(21)));
    assert_eq!((&found["stages"], &found["upstream"]), (&json!(["decode orders"]), &json!("bronze.lines")));
    let (new, serving) = (&found["new"], &found["serving"]);
    assert_eq!((&new["rows_out"], &serving["rows_out"]), (&json!(19), &json!(20)));
    let codes = |tried: &Value| {
        let reasons = tried["rejected"].as_array().unwrap().iter();
        reasons.map(|one| (one["code"].as_str().unwrap().to_owned(), one["rows"].as_u64().unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(codes(new), [("corrupt_record".into(), 1), ("plugin_trap".into(), 1)]);
    assert_eq!(codes(serving), [("corrupt_record".into(), 1)]);
    assert!(new["rejected"][1]["example"].as_str().unwrap().contains("thirteen brings bad luck"), "{new}");
    for tried in [new, serving] {
        let cost = &tried["cost"];
        assert!(cost["memory_bytes"].as_u64().unwrap() > 65_536 && cost["rows"].as_u64().unwrap() >= 20, "{cost}");
        assert!(cost["nanoseconds_per_row"].as_u64().unwrap() > 0, "{cost}");
    }
    let differences = &found["differences"];
    assert_eq!(differences["count"], 1);
    let first = &differences["first"][0];
    assert!(first["place"].as_str().unwrap().contains("file_row 13"), "{first}");
    assert_eq!((&first["changes"][0]["column"], &first["changes"][0]["serving"]), (&json!(null), &json!("accepted")));
    assert!(first["changes"][0]["new"].as_str().unwrap().starts_with("refused: plugin_trap"), "{first}");
    for words in ["nothing was written", "serves now", "plugin_trap", "differences: 1 of 21 rows", "time per row"] {
        assert!(text.contains(words), "`{words}` is missing in:\n{text}");
    }
}

#[test]
fn values_that_are_not_the_same_are_told_by_column() {
    let lines: Vec<String> = (0..30).map(order).collect();
    let project = orders(&lines, &marked(1), &json!({}));
    let (text, found) = tried(&project, &project.write_bytes("new.wasm", &marked(2)), &["--rows", "25"]);
    assert_eq!((&found["rows"], &found["differences"]["count"]), (&json!(25), &json!(25)));
    let first = &found["differences"]["first"];
    assert_eq!(first.as_array().unwrap().len(), 20, "the first of them");
    let changes = first[0]["changes"].as_array().unwrap();
    assert_eq!((changes.len(), &changes[0]["column"]), (1, &json!("build")), "all others are the same");
    assert_ne!(changes[0]["serving"], changes[0]["new"]);
    assert!(text.contains("differences: 25 of 25 rows; the first:"), "{text}");

    let (text, found) = tried(&project, &project.write_bytes("same.wasm", &marked(1)), &[]);
    assert_eq!(found["differences"], json!({ "count": 0, "first": [] }));
    assert!(text.contains("no differences: the same became of all rows"), "{text}");
}

#[test]
fn a_component_takes_its_schema_versions_and_the_others_keep_the_rest() {
    let third = json!({ "order_id": "o-9", "event_ts": "2026-03-14T10:00:00Z", "amount": 10, "schema_version": 3,
        "channel": "web" });
    let project = orders(&[order(1), order(2), third.to_string()], &bundled(), &json!({}));
    let (text, found) = tried(&project, &guest("orders-v3"), &[]);
    let (new, serving) = (&found["new"], &found["serving"]);
    assert_eq!((&new["rows_out"], &serving["rows_out"]), (&json!(3), &json!(2)));
    assert_eq!((&new["cost"]["rows"], &serving["cost"]["rows"]), (&json!(1), &json!(2)), "each gets its own rows");
    assert_eq!(serving["rejected"][0]["code"], "unsupported_schema_version");
    assert_eq!(found["differences"]["count"], 1);
    let channel = found["columns"].as_array().unwrap().iter().find(|column| column["name"] == "channel").unwrap();
    assert_eq!((&channel["old"], &channel["new"]), (&json!(null), &json!("string")));
    assert!(text.contains("other columns come out:"), "{text}");
}

#[test]
fn where_nothing_serves_the_new_one_is_tried_alone() {
    let project = orders(&[order(1)], &bundled(), &json!({}));
    fs::remove_file(project.path().join("plugins/orders.wasm")).unwrap();
    let (text, found) = tried(&project, &root().join("plugins/orders.wasm"), &[]);
    assert_eq!(
        (&found["new"]["rows_out"], &found["serving"], &found["differences"]),
        (&json!(1), &json!(null), &json!(null))
    );
    assert!(text.contains("nothing serves now: `stages[0].decode`: no component `orders`"), "{text}");
}

#[test]
fn a_ranker_is_tried_on_groups_of_the_rows() {
    let project = Project::example("music");
    project.host(&["run"]).succeed();
    let before = files(project.path());
    let component = root().join("plugins/top-n.wasm").display().to_string();
    let arguments = ["try", &component, "--contract", "gold.top3_songs"];
    let text = String::from_utf8(project.host(&arguments).succeed().stdout).unwrap();
    assert_eq!(files(project.path()), before, "a trial writes nothing");
    for words in ["groups are made of these rows alone", "3 rows of silver.song_plays", "became of all groups"] {
        assert!(text.contains(words), "`{words}` is missing in:\n{text}");
    }
}

/// A project whose orders are checked, and counted by amount: every third one has none that is positive.
fn checked_and_counted() -> Project {
    let amount = |number: u32| order(number).replace("\"amount\":10", &format!("\"amount\":{}", number % 3));
    let project = orders(&(0..9).map(amount).collect::<Vec<_>>(), &bundled(), &json!({}));
    for name in ["order-rules.wasm", "aggregate.wasm"] {
        fs::copy(root().join("plugins").join(name), project.path().join("plugins").join(name)).unwrap();
    }
    let checked =
        json!({ "name": "silver.checked", "from": "silver.orders", "stages": [{ "validate": "order-rules" }] });
    let counted = json!({ "name": "gold.counted", "from": "silver.checked",
        "stages": [{ "aggregate": "aggregate", "options": { "measures": { "orders": "count(*)" } } }],
        "write": { "mode": "replace_groups", "group_by": ["amount"] } });
    project.write("tables/silver/checked.json", &checked.to_string());
    project.write("tables/gold/counted.json", &counted.to_string());
    project.host(&["run"]).plugins(&project.path().join("plugins")).succeed();
    project
}

#[test]
fn a_validator_and_an_aggregator_are_tried_beside_what_serves() {
    let project = checked_and_counted();
    let before = files(project.path());
    let tried = |component: &str, table: &str| -> Value {
        let component = root().join("plugins").join(component).display().to_string();
        let arguments = ["try", &component, "--contract", table, "-o", "json"];
        let said = project.host(&arguments).plugins(&project.path().join("plugins")).succeed().stdout;
        serde_json::from_slice(&said).unwrap()
    };
    let rules = tried("order-rules.wasm", "silver.checked");
    for outcome in [&rules["new"], &rules["serving"]] {
        assert_eq!((&outcome["rows_out"], &outcome["rejected"][0]["rows"]), (&json!(6), &json!(3)), "{rules}");
        assert_eq!(outcome["rejected"][0]["code"], "amount_not_positive");
    }
    let counts = tried("aggregate.wasm", "gold.counted");
    for outcome in [&counts["new"], &counts["serving"]] {
        assert_eq!((&outcome["rows_out"], &outcome["groups"]), (&json!(2), &json!(2)), "{counts}");
    }
    for found in [rules, counts] {
        assert_eq!(found["differences"], json!({ "count": 0, "first": [] }));
    }
    assert_eq!(files(project.path()), before, "a trial writes nothing");
}

#[test]
fn what_cannot_be_tried_says_why() {
    let project = orders(&[order(1)], &bundled(), &json!({}));
    let refused = |component: &str, table: &str| {
        let component = root().join("plugins").join(component).display().to_string();
        let output = project.host(&["try", &component, "--contract", table]).run();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = refused("order-rules.wasm", "silver.orders");
    assert!(
        said.contains("none of its stages asks for `order-rules`, a validator") && said.contains("`decode orders`"),
        "{said}"
    );
    assert!(refused("orders.wasm", "silver.other").contains("choose one of"), "no such table");
    project.write(
        "tables/silver/none.json",
        &json!({ "name": "silver.none", "from": "silver.orders",
        "stages": [{ "validate": "order-rules" }], "write": { "mode": "append" } })
        .to_string(),
    );
    fs::remove_dir_all(project.path().join("data/tables/silver")).unwrap();
    let said = refused("order-rules.wasm", "silver.none");
    assert!(said.contains("the table above it, `silver.orders`, has no rows"), "{said}");
}
