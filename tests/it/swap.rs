//! Components exchanged while the host runs: real components, a real broker.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use crisol_tests::{Project, Run, Topic, carrying, guest, root, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

const DEADLINE: Duration = Duration::from_secs(90);

/// A project whose decoder is `orders`, a folder of components of its own, and a host that runs until it is stopped.
struct Lab {
    topic: Topic,
    project: Project,
    run: Option<Run>,
    produced: u32,
}

impl Lab {
    /// `silver` is what is special about the silver contract.
    fn new(topic: &str, silver: Value) -> Self {
        let topic = Topic::create(topic, 1);
        let project = Project::orders_to_silver();
        let ingestion = json!({
            "name": "orders",
            "ingest_type": "streaming",
            "source": { "format": "kafka", "kafka": { "topic": topic.name(), "starting_offsets": "earliest" } },
            "destination_contract": "../../tables/bronze/orders_raw.json"
        });
        project.write("ingestion/streaming/orders.json", &ingestion.to_string());
        let mut contract = json!({ "name": "silver.orders", "from": "bronze.orders_raw",
            "stages": [{ "decode": "orders" }] });
        contract.as_object_mut().expect("an object").extend(silver.as_object().expect("an object").clone());
        project.write("tables/silver/orders.json", &contract.to_string());
        fs::create_dir(project.path().join("plugins")).expect("a folder");
        Self { topic, project, run: None, produced: 0 }
    }

    fn plugin(&self, file: &str) -> PathBuf {
        self.project.path().join("plugins").join(file)
    }

    fn start(&mut self) {
        let host = self.project.host(&["run", "--trigger", "continuous", "-o", "json"]);
        let host = host.env("KAFKA_BROKERS", self.topic.brokers()).plugins(&self.project.path().join("plugins"));
        self.run = Some(host.start());
    }

    fn stop(&mut self) -> Output {
        let run = self.run.take().expect("it runs");
        run.stop();
        let ended = run.end();
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        ended
    }

    /// Produces orders of a schema version.
    fn produce(&mut self, orders: u32, version: u32) {
        let numbers = self.produced..self.produced + orders;
        let messages: Vec<_> = numbers.map(|n| (format!("o-{n}"), order(n, version))).collect();
        self.topic.produce(messages.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        self.produced += orders;
    }

    /// Produces orders, and waits until the host has taken all that there are.
    fn take(&mut self, orders: u32, version: u32) {
        self.produce(orders, version);
        let tables = self.project.tables();
        let taken = || tables.count("silver/orders") + tables.count("silver/orders_quarantine");
        wait_until("the orders are taken", DEADLINE, || taken() == u64::from(self.produced));
    }

    /// What the running host wrote down.
    fn decisions(&self) -> Value {
        let text = fs::read(self.project.checkpoint("plugins.json")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Versions and digests of those that serve.
    fn serving(&self) -> Vec<(String, String)> {
        let decisions = self.decisions();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let serving = decisions["serving"].as_array().into_iter().flatten();
        serving.map(|one| (text(&one["version"]), text(&one["digest"]))).collect()
    }

    fn wait_for_versions(&self, versions: &[&str]) {
        let now = || self.serving().into_iter().map(|(version, _)| version).collect::<Vec<_>>();
        wait_until(&format!("{versions:?} serve"), DEADLINE, || now() == versions);
    }

    /// Waits until another build serves alone; gives its digest.
    fn wait_for_another(&self, digest: &str) -> String {
        let other = || match self.serving().as_slice() {
            [(_, serves)] if serves != digest => Some(serves.clone()),
            _ => None,
        };
        wait_until("another build serves", DEADLINE, || other().is_some());
        other().expect("it serves")
    }

    fn wait_for_refusal(&self, file: &str, why: &str) {
        let refused = || {
            let decisions = self.decisions();
            let all = decisions["refused"].as_array().into_iter().flatten();
            let named = |one: &&Value| one["file"].as_str().is_some_and(|path| path.ends_with(file));
            all.filter(named).any(|one| one["reason"].as_str().is_some_and(|reason| reason.contains(why)))
        };
        wait_until(&format!("{file} is refused: {why}"), DEADLINE, refused);
    }

    /// The components of each commit of silver that holds a batch, equal ones in a row once.
    fn components(&self) -> Vec<Value> {
        self.components_of("silver/orders")
    }

    fn components_of(&self, table: &str) -> Vec<Value> {
        let log = self.project.tables().log(table);
        let commits = log["commits"].as_array().expect("commits").clone();
        let batches = commits.into_iter().filter(|commit| commit["crisol"]["batch"].is_u64());
        let mut components: Vec<Value> = batches.map(|commit| commit["crisol"]["components"].clone()).collect();
        components.dedup();
        components
    }

    /// Every order once.
    fn assert_no_offset_is_missing_or_doubled(&self) {
        let offsets = "SELECT count(*), count(DISTINCT \"offset\"), max(\"offset\") FROM rows";
        let produced = self.produced;
        assert_eq!(
            self.project.tables().query("silver/orders", offsets),
            [[json!(produced), json!(produced), json!(produced - 1)]]
        );
    }
}

fn order(number: u32, version: u32) -> String {
    let mut order = json!({ "order_id": format!("o-{number}"), "event_ts": "2026-03-01T10:00:00Z", "amount": 1.5,
        "schema_version": version });
    if version == 3 {
        order["channel"] = json!("web");
    }
    order.to_string()
}

fn bundled() -> Vec<u8> {
    fs::read(root().join("plugins/orders.wasm")).expect("the bundled component")
}

/// The bundled `orders` as another build would be: other bytes that do the same, told apart by a custom section.
fn another_build(mark: u8) -> Vec<u8> {
    let mut bytes = bundled();
    bytes.extend([0, 6, 4, b'm', b'a', b'r', b'k', mark]);
    bytes
}

/// As deployments do it: beside, then by one rename.
fn place(path: &Path, bytes: &[u8]) {
    let beside = path.with_extension("new");
    fs::write(&beside, bytes).expect("a file can be written");
    fs::rename(&beside, path).expect("a file can be moved");
}

fn routed() -> Value {
    json!({ "stages": [{ "decode": "orders", "version": { "json": "schema_version", "in": "payload" } }],
        "columns": [{ "name": "order_id", "type": "string" }, { "name": "schema_version", "type": "int" }] })
}

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
