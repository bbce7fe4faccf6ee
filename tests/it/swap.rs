//! Components exchanged while the host runs: real components, a real broker.

mod clock;
mod crash;
mod folder;
mod lab;
mod readonly;
mod rollback;
mod schema;

use std::fs;
use std::os::unix::fs::symlink;

use crisol_tests::{carrying, guest, root, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use self::lab::{DEADLINE, Lab, another_build, bundled, order, place, routed};

#[test]
fn a_file_replaced_in_place_serves_from_the_next_batch_and_is_rolled_back_the_same_way() {
    let mut lab = Lab::new("swap.replaced", json!({}));
    let file = lab.plugin("orders.wasm");
    place(&file, &bundled());
    lab.start();
    lab.take(10, 1);
    let first = lab.serving()[0].1.clone();
    // Written over where it lies, as a plain copy does.
    fs::write(&file, another_build(1)).expect("a file can be written");
    let second = lab.wait_for_another(&first);
    lab.take(10, 1);
    place(&file, &bundled());
    assert_eq!(lab.wait_for_another(&second), first);
    lab.take(10, 1);
    let ended = lab.stop();

    let of = |digest: &str| json!({ "orders@0.1.0": digest });
    assert_eq!(lab.components(), [of(&first), of(&second), of(&first)]);
    lab.assert_no_offset_is_missing_or_doubled();
    let lines = String::from_utf8_lossy(&ended.stdout).into_owned();
    let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let swapped: Vec<Value> = lines.filter(|line| line["schema"] == "crisol.swapped/v1").collect();
    assert_eq!(swapped.len(), 2, "{swapped:?}");
    assert_eq!(swapped[0]["from"], json!([{ "version": "0.1.0", "digest": first }]));
    assert_eq!(swapped[0]["to"], json!([{ "version": "0.1.0", "digest": second }]));
    assert_eq!(swapped[0]["streams"], json!(["silver.orders"]));
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(said.contains("component `orders`: 0.1.0"), "{said}");
}

#[test]
fn a_bad_file_is_refused_with_its_reason_and_the_old_one_goes_on() {
    let mut lab = Lab::new("swap.bad", json!({}));
    let file = lab.plugin("orders.wasm");
    place(&file, &bundled());
    lab.start();
    lab.take(13, 1);
    // Alone in its batch: the sample is the order on which the next component traps.
    lab.take(1, 1);
    let first = lab.serving()[0].1.clone();
    place(&file, b"garbage");
    lab.wait_for_refusal("orders.wasm", "is not a component");
    lab.take(1, 1);

    let next = another_build(1);
    fs::write(&file, &next[..next.len() / 2]).expect("a file can be written");
    lab.wait_for_refusal("orders.wasm", "out of bounds");
    fs::write(&file, &next).expect("a file can be written");
    let second = lab.wait_for_another(&first);
    // The sample is the order before, which is a good one for it.
    place(&lab.plugin("extra.wasm"), &fs::read(guest("orders-v3")).expect("a component"));
    lab.wait_for_refusal("extra.wasm", "column `channel` is new");
    lab.take(1, 1);
    let said = lab.project.host(&["plugins"]).plugins(&lab.project.path().join("plugins")).succeed();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    for words in ["the host that runs", "serves", "refused since", "column `channel` is new"] {
        assert!(said.contains(words), "`{words}` is missing in:\n{said}");
    }
    let ended = lab.stop();
    let of = |digest: &str| json!({ "orders@0.1.0": digest });
    assert_eq!(lab.components(), [of(&first), of(&second)]);
    lab.assert_no_offset_is_missing_or_doubled();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(said.contains("crisol.plugin_refused/v1"), "{said}");
}

#[test]
fn a_component_whose_own_sample_does_not_hold_is_refused_and_the_old_one_goes_on() {
    let mut lab = Lab::new("swap.own-sample", json!({}));
    let file = lab.plugin("orders.wasm");
    place(&file, &bundled());
    lab.start();
    lab.take(2, 1);
    let first = lab.serving()[0].1.clone();
    let sample = |amount: &str| {
        json!({ "name": "the order of a test", "given": [{ "payload": order(1, 1) }],
            "expect": { "rows": [{ "amount": amount }] } })
    };
    place(&file, &carrying(bundled(), &sample("2.00")));
    lab.wait_for_refusal("orders.wasm", r#"`expect.rows[0].amount`: expected "2.00", got "1.50""#);
    lab.take(2, 1);
    let said = lab.project.host(&["plugins"]).plugins(&lab.project.path().join("plugins")).run();
    assert_eq!(said.status.code(), Some(1), "{said:?}");
    let said = String::from_utf8_lossy(&said.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["the host that runs", "serves", "refused since", "`the order of a test`"] {
        assert!(said.contains(words), "`{words}` is missing in:\n{said}");
    }
    place(&file, &carrying(bundled(), &sample("1.50")));
    let second = lab.wait_for_another(&first);
    lab.take(2, 1);
    lab.stop();
    let of = |digest: &str| json!({ "orders@0.1.0": digest });
    assert_eq!(lab.components(), [of(&first), of(&second)]);
    lab.assert_no_offset_is_missing_or_doubled();
}

#[test]
fn a_component_that_one_stream_refuses_serves_no_other() {
    let mut lab = Lab::new("swap.one", json!({}));
    let other = json!({ "name": "silver.other", "from": "bronze.orders_raw", "stages": [{ "decode": "orders" }],
        "columns": [{ "name": "order_id", "type": "string" }] });
    lab.project.write("tables/silver/other.json", &other.to_string());
    place(&lab.plugin("orders.wasm"), &bundled());
    lab.start();
    lab.take(2, 1);
    let first = lab.serving()[0].1.clone();
    place(&lab.plugin("extra.wasm"), &fs::read(guest("orders-v3")).expect("a component"));
    lab.wait_for_refusal("extra.wasm", "stream `silver.orders`: its columns are not those of the table");
    // A good one that comes beside it is taken.
    fs::copy(root().join("plugins/order-rules.wasm"), lab.plugin("rules.wasm")).expect("a component");
    wait_until("the rules serve", DEADLINE, || lab.decisions()["serving"][0]["name"] == "order-rules");
    lab.wait_for_refusal("extra.wasm", "column `channel` is new");
    lab.take(2, 1);
    let taken = || lab.project.tables().count("silver/other") == 4;
    wait_until("the other stream follows", DEADLINE, taken);
    lab.stop();
    let only = [json!({ "orders@0.1.0": first })];
    assert_eq!(lab.components(), only);
    assert_eq!(lab.components_of("silver/other"), only);
}

#[test]
fn a_component_that_fails_on_the_last_batch_is_refused() {
    let mut lab = Lab::new("swap.sample", json!({}));
    place(&lab.plugin("orders.wasm"), &bundled());
    lab.start();
    lab.take(13, 1);
    lab.take(1, 1);
    let first = lab.serving()[0].1.clone();
    place(&lab.plugin("faulty.wasm"), &fs::read(guest("faulty-orders")).expect("a component"));
    lab.wait_for_refusal("faulty.wasm", "thirteen brings bad luck");
    lab.take(5, 1);
    // Work beside the host is done by what serves there.
    let beside = |arguments: &[&str]| {
        let host = lab.project.host(arguments).env("KAFKA_BROKERS", lab.topic.brokers());
        let ended = host.plugins(&lab.project.path().join("plugins")).run();
        assert!(ended.status.success(), "{ended:?}");
        format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr))
    };
    let said = beside(&["rebuild", "silver.orders", "--where", "true"]);
    assert!(said.contains("a host refused this component; it is left out") && said.contains("faulty.wasm"), "{said}");
    assert!(said.contains("0 rows that differed removed, 0 added"), "{said}");
    let said = beside(&["check"]);
    assert!(said.contains("a host refused this component; it is judged anew"), "{said}");
    lab.stop();
    assert_eq!(lab.components(), [json!({ "orders@0.1.0": first })]);
    lab.assert_no_offset_is_missing_or_doubled();
}

#[test]
fn a_removed_file_gives_back_and_the_last_one_goes_on_without_its_file() {
    let mut lab = Lab::new("swap.removed", json!({}));
    let (lower, higher) = (lab.plugin("orders.wasm"), lab.plugin("higher.wasm"));
    place(&lower, &bundled());
    lab.start();
    lab.take(2, 1);
    // Version 9.9.9, and sound as long as order 13 stays away.
    place(&higher, &fs::read(guest("faulty-orders")).expect("a component"));
    lab.wait_for_versions(&["9.9.9"]);
    lab.take(2, 1);
    place(&higher, b"garbage");
    lab.wait_for_refusal("higher.wasm", "is not a component");
    lab.wait_for_versions(&["9.9.9"]);
    lab.take(1, 1);
    fs::remove_file(&higher).expect("it can be removed");
    lab.wait_for_versions(&["0.1.0"]);
    lab.take(2, 1);
    fs::remove_file(&lower).expect("it can be removed");
    wait_until("it goes on without its file", DEADLINE, || lab.decisions()["serving"][0]["file_removed"] == true);
    lab.take(2, 1);
    lab.stop();
    let names: Vec<_> =
        lab.components().iter().map(|one| one.as_object().expect("names").keys().next().cloned()).collect();
    assert_eq!(names.into_iter().flatten().collect::<Vec<_>>(), ["orders@0.1.0", "orders@9.9.9", "orders@0.1.0"]);
    lab.assert_no_offset_is_missing_or_doubled();
}

#[test]
fn a_component_for_a_version_that_nobody_served_takes_its_rows_from_then_on() {
    let mut lab = Lab::new("swap.version", routed());
    place(&lab.plugin("orders.wasm"), &bundled());
    lab.start();
    lab.take(5, 1);
    lab.take(5, 3);
    place(&lab.plugin("orders-v3.wasm"), &fs::read(guest("orders-v3")).expect("a component"));
    lab.wait_for_versions(&["3.0.0", "0.1.0"]);
    lab.take(5, 3);
    lab.take(5, 2);
    lab.stop();
    let by_version = "SELECT schema_version, count(*) FROM rows GROUP BY ALL ORDER BY ALL";
    let tables = lab.project.tables();
    let expected = [[json!(1), json!(5)], [json!(2), json!(5)], [json!(3), json!(5)]];
    assert_eq!(tables.query("silver/orders", by_version), expected);
    let reasons = "SELECT DISTINCT code FROM rows";
    assert_eq!(tables.query("silver/orders_quarantine", reasons), [[json!("unsupported_schema_version")]]);
    assert_eq!(tables.count("silver/orders_quarantine"), 5);
}

#[test]
fn builds_exchanged_under_load_and_a_host_that_is_killed_lose_and_double_nothing() {
    let mut lab = Lab::new("swap.load", json!({}));
    let file = lab.plugin("orders.wasm");
    place(&file, &bundled());
    lab.start();
    lab.take(100, 1);
    for round in 0..6_u8 {
        let before = lab.serving()[0].1.clone();
        lab.produce(300, 1);
        place(&file, &if round % 2 == 0 { another_build(3) } else { bundled() });
        lab.produce(300, 1);
        if round % 3 == 2 {
            let run = lab.run.take().expect("it runs");
            run.signal(Signal::SIGKILL);
            assert_eq!(run.end().status.code(), None);
            lab.start();
        }
        lab.wait_for_another(&before);
        lab.take(100, 1);
    }
    lab.stop();
    lab.assert_no_offset_is_missing_or_doubled();
    assert!(lab.components().len() >= 6, "{:?}", lab.components());
    assert!(lab.components().iter().all(|one| one.as_object().is_some_and(|names| names.len() == 1)));
}

#[test]
fn a_link_that_is_flipped_as_config_maps_do_it_is_a_file_replaced_in_place() {
    let mut lab = Lab::new("swap.link", json!({}));
    for (folder, bytes) in [("..1", bundled()), ("..2", another_build(2))] {
        fs::create_dir(lab.plugin(folder)).expect("a folder");
        fs::write(lab.plugin(folder).join("orders.wasm"), bytes).expect("a file can be written");
    }
    symlink("..1", lab.plugin("..data")).expect("a link");
    symlink("..data/orders.wasm", lab.plugin("orders.wasm")).expect("a link");
    lab.start();
    lab.take(5, 1);
    let first = lab.serving()[0].1.clone();
    symlink("..2", lab.plugin("..next")).expect("a link");
    fs::rename(lab.plugin("..next"), lab.plugin("..data")).expect("a link can be moved");
    let second = lab.wait_for_another(&first);
    lab.take(5, 1);
    lab.stop();
    let of = |digest: &str| json!({ "orders@0.1.0": digest });
    assert_eq!(lab.components(), [of(&first), of(&second)]);
    lab.assert_no_offset_is_missing_or_doubled();
}
