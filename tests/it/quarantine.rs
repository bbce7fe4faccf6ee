//! Rows that were refused: counted, shown, and taken to the first stage again, each once whatever happens.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::time::Duration;

use crisol_tests::{Project, carrying, root, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

const UNSUPPORTED: &str = "unsupported_schema_version";
const STEPS: [&str; 7] =
    ["plan", "log_range", "write_files", "log_outcome", "commit_table", "commit_quarantine", "mark"];

/// Orders as lines of text; silver decodes them, by order in `silver.latest`, by customer in `gold.customers`.
struct Orders {
    project: Project,
    plugins: PathBuf,
}

impl Orders {
    /// Versions 1 and 2 have their component, 3 has none yet.
    fn new() -> Self {
        let project = Project::lines();
        let decode = json!([{ "decode": "orders", "version": { "json": "schema_version", "in": "payload" } }]);
        let columns = json!([
            { "name": "order_id", "type": "string", "nullable": false },
            { "name": "event_ts", "type": "timestamp", "nullable": false },
            { "name": "amount", "type": "decimal(18,2)", "nullable": false },
            { "name": "schema_version", "type": "int", "nullable": false },
            { "name": "customer_id", "type": "string" }
        ]);
        let keyed = json!({ "mode": "upsert", "keys": ["order_id"], "sequence_by": ["event_ts"],
            "delete_when": "customer_id = 'gone'" });
        let counted = json!([{ "aggregate": "aggregate", "options": { "measures": { "orders": "count(*)" } } }]);
        for (file, table) in [
            ("silver/orders", json!({ "from": "bronze.lines", "stages": decode, "columns": columns })),
            ("silver/latest", json!({ "from": "bronze.lines", "stages": decode, "columns": columns, "write": keyed })),
            (
                "gold/customers",
                json!({ "from": "silver.latest", "stages": counted,
                    "write": { "mode": "replace_groups", "group_by": ["customer_id"] } }),
            ),
        ] {
            let mut table = table;
            table["name"] = json!(file.replace('/', "."));
            project.write(&format!("tables/{file}.json"), &table.to_string());
        }
        let plugins = project.path().join("components");
        fs::create_dir(&plugins).expect("a folder");
        for name in ["orders.wasm", "aggregate.wasm"] {
            fs::copy(root().join("plugins").join(name), plugins.join(name)).expect("the component is there");
        }
        Self { project, plugins }
    }

    fn land(&self, file: &str, orders: &[Value]) {
        let lines: String = orders.iter().fold(String::new(), |mut lines, order| {
            let _ = writeln!(lines, "{order}");
            lines
        });
        self.project.write(&format!("landing/{file}.txt"), &lines);
    }

    fn host(&self, arguments: &[&str]) -> crisol_tests::Host {
        self.project.host(arguments).plugins(&self.plugins)
    }

    fn run(&self) {
        self.host(&["run", "-q"]).succeed();
    }

    fn serve_version_3(&self) {
        fs::copy(crisol_tests::guest("orders-v3"), self.plugins.join("orders-v3.wasm"))
            .expect("the component is there");
    }

    fn stop_version_3(&self) {
        fs::remove_file(self.plugins.join("orders-v3.wasm")).expect("it was there");
    }

    fn query(&self, table: &str, sql: &str) -> Vec<Vec<Value>> {
        self.project.tables().query(table, sql)
    }

    fn count(&self, table: &str) -> u64 {
        self.project.tables().count(table)
    }

    /// What `-o json` says, an object a line.
    fn told(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.host(&[arguments, &["-o", "json"]].concat()).succeed();
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
    }

    fn replay(&self, table: &str, more: &[&str]) -> Value {
        let told = self.told(&[&["quarantine", "replay", table], more].concat());
        assert_eq!(told.len(), 1, "{told:?}");
        told.into_iter().next().expect("one")
    }

    /// Ids of `silver.orders`, and that none is there twice.
    fn ids(&self) -> BTreeSet<String> {
        let rows = self.query("silver/orders", "SELECT order_id FROM rows");
        let ids: BTreeSet<String> = rows.iter().map(|row| text(&row[0])).collect();
        assert_eq!(ids.len(), rows.len(), "no order is there twice");
        ids
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
}

fn order(id: &str, second: u32, version: u32, customer: &str) -> Value {
    json!({ "order_id": id, "event_ts": format!("2026-03-01T10:{:02}:{:02}Z", second / 60, second % 60), "amount": 1.5,
        "schema_version": version, "customer_id": customer, "channel": "web" })
}

/// Two orders of version 1, three of version 3, and a line that no version can read.
fn mixed() -> Vec<Value> {
    vec![
        order("a", 1, 1, "x"),
        order("b", 2, 1, "y"),
        order("c", 3, 3, "x"),
        order("d", 4, 3, "y"),
        order("e", 5, 3, "z"),
        json!("no order"),
    ]
}

#[test]
fn rows_of_a_version_that_came_too_early_reach_silver_and_gold_once_their_component_is_there() {
    let orders = Orders::new();
    orders.land("1", &mixed());
    orders.run();
    assert_eq!(orders.count("silver/orders"), 2);
    assert_eq!(orders.count("silver/orders_quarantine"), 4);
    // Without the component nothing changes.
    let early = orders.replay("silver.orders", &["--code", UNSUPPORTED]);
    assert_eq!(early["accounts"]["rejected"], json!({ UNSUPPORTED: 3 }));
    assert_eq!((orders.count("silver/orders"), orders.count("silver/orders_quarantine")), (2, 4));

    orders.serve_version_3();
    let tried = orders.replay("silver.orders", &["--code", UNSUPPORTED, "--dry-run"]);
    assert_eq!((&tried["dry_run"], &tried["accounts"]["rows_written"]), (&json!(true), &json!(3)));
    assert_eq!((orders.count("silver/orders"), orders.count("silver/orders_quarantine")), (2, 4), "a dry run");

    for table in ["silver.orders", "silver.latest"] {
        let done = orders.replay(table, &["--code", UNSUPPORTED]);
        assert_eq!(done["replayed"], json!({ UNSUPPORTED: 3 }), "{done}");
        assert_eq!((&done["accounts"]["rows_accepted"], &done["accounts"]["rows_written"]), (&json!(3), &json!(3)));
        assert_eq!(done["accounts"]["rejected"], json!({}));
    }
    let ids = ["a", "b", "c", "d", "e"].map(str::to_owned);
    assert_eq!(orders.ids(), BTreeSet::from(ids));
    for table in ["silver/orders_quarantine", "silver/latest_quarantine"] {
        let left = orders.query(table, "SELECT code FROM rows");
        assert_eq!(left.len(), 1, "{left:?}");
        assert_ne!(left[0][0], json!(UNSUPPORTED));
    }
    // Rows keep where they came from, and the commit names the component.
    let places = orders.query("silver/orders", "SELECT order_id, file_row FROM rows ORDER BY file_row");
    assert_eq!(places.len(), 5);
    assert_eq!(places[2][0], json!("c"));
    let log = orders.project.tables().log("silver/orders");
    let last = log["commits"].as_array().and_then(|commits| commits.last()).expect("a commit").clone();
    assert!(last["crisol"]["components"].get("orders@3.0.0").is_some(), "{last}");

    orders.run();
    let gold = orders.query("gold/customers", "SELECT customer_id, orders FROM rows ORDER BY ALL");
    assert_eq!(gold, [[json!("x"), json!(2)], [json!("y"), json!(2)], [json!("z"), json!(1)]]);

    // Once more: nothing is meant, nothing is written.
    let before = orders.project.tables().log("silver/orders")["versions"].clone();
    let again = orders.replay("silver.orders", &["--code", UNSUPPORTED]);
    assert_eq!(again["accounts"]["rows_in"], json!(0));
    assert_eq!(orders.project.tables().log("silver/orders")["versions"], before);
    assert_eq!(orders.ids().len(), 5);
}

#[test]
fn a_replay_ended_at_any_step_and_started_again_loses_and_doubles_nothing() {
    let orders = Orders::new();
    let mut expected = BTreeSet::new();
    let mut matrix = String::new();
    for (at, step) in STEPS.iter().enumerate() {
        let _ = write!(matrix, "{step:18}");
        for (when, moment) in ["before", "after"].iter().enumerate() {
            let cell = at * 2 + when;
            let ids = ["old", "new", "late"].map(|kind| format!("{kind}-{cell}"));
            let second = u32::try_from(cell).expect("few");
            orders.land(
                &format!("{cell:02}"),
                &[
                    order(&ids[0], second, 1, "x"),
                    order(&ids[1], second, 3, "x"),
                    // Older than what is there of the same order.
                    order(&ids[2], 100, 1, "newer"),
                    order(&format!("{}-3", ids[2]), 100, 3, "x"),
                    order(&ids[2], 50, 3, "older"),
                ],
            );
            orders.run();
            orders.serve_version_3();
            expected.extend([ids[0].clone(), ids[1].clone(), ids[2].clone(), format!("{}-3", ids[2])]);
            for table in ["silver.orders", "silver.latest"] {
                interrupted(&orders, table, step, moment);
            }
            settled(&orders, &expected, &format!("{step}/{moment}"));
            orders.stop_version_3();
            let _ = write!(matrix, " {moment}: ok;");
        }
        matrix.push('\n');
    }
    println!("step of a replay, ended once at each and started again (append and upsert):\n{matrix}");
}

fn interrupted(orders: &Orders, table: &str, step: &str, moment: &str) {
    let failpoint = format!("replay:{table}/{step}/{moment}");
    let replay = || orders.host(&["quarantine", "replay", table]);
    let ended = replay().abort_at(&failpoint, 0).run();
    assert_eq!(ended.status.signal(), Some(Signal::SIGABRT as i32), "{failpoint} is reached: {ended:?}");
    replay().succeed();
    let again = orders.told(&["quarantine", "replay", table]);
    assert_eq!(again.len(), 1, "{failpoint}: nothing is left unfinished");
    assert_eq!(again[0]["accounts"]["rows_in"], json!(0), "{failpoint}: nothing is left to replay");
}

/// Every event is in `silver.orders` once, every order with its newest event in `silver.latest`, nothing in quarantine.
fn settled(orders: &Orders, expected: &BTreeSet<String>, at: &str) {
    let twice = "SELECT file_path, file_row FROM rows GROUP BY ALL HAVING count(*) > 1";
    assert!(orders.query("silver/orders", twice).is_empty(), "{at}: no place is there twice");
    let events = u64::try_from(expected.len() / 4 * 5).expect("few");
    assert_eq!(orders.count("silver/orders"), events, "{at}");
    let latest = orders.query("silver/latest", "SELECT order_id, customer_id FROM rows");
    let latest: BTreeMap<String, String> = latest.iter().map(|row| (text(&row[0]), text(&row[1]))).collect();
    assert_eq!(latest.keys().cloned().collect::<BTreeSet<_>>(), *expected, "{at}");
    assert_eq!(orders.count("silver/latest"), latest.len() as u64, "{at}: no order is there twice");
    assert!(latest.values().all(|customer| customer != "older"), "{at}: a newer event stands");
    for table in ["silver/orders_quarantine", "silver/latest_quarantine"] {
        assert_eq!(orders.count(table), 0, "{at}: {table}");
    }
}

#[test]
fn e063_a_replayed_older_event_does_not_bring_a_deleted_order_back() {
    let orders = Orders::new();
    orders.land("1", &[order("a", 1, 1, "x"), order("b", 1, 1, "x"), order("a", 5, 3, "x")]);
    orders.run();
    orders.land("2", &[order("a", 9, 2, "gone")]);
    orders.run();
    assert_eq!(orders.query("silver/latest", "SELECT order_id FROM rows"), [[json!("b")]]);
    orders.serve_version_3();
    let done = orders.replay("silver.latest", &[]);
    let fates = json!({"inserted": 0, "updated": 0, "superseded": 1, "deleted": 0});
    assert_eq!(done["accounts"]["changes"], fates);
    assert_eq!(orders.query("silver/latest", "SELECT order_id FROM rows"), [[json!("b")]]);
    // What a replay deletes is remembered by the stream.
    orders.stop_version_3();
    orders.land("3", &[order("b", 30, 3, "gone")]);
    orders.run();
    orders.serve_version_3();
    orders.replay("silver.latest", &[]);
    orders.land("4", &[order("b", 20, 1, "x")]);
    orders.run();
    assert_eq!(orders.count("silver/latest"), 0);
}

#[test]
fn rows_are_counted_and_chosen_by_reason_stage_and_time() {
    let orders = Orders::new();
    orders.land("1", &mixed());
    orders.run();
    let listed = orders.told(&["quarantine", "list", "silver.orders"]);
    let of = |code: &str| listed.iter().find(|row| row["code"] == code).cloned().unwrap_or_default();
    assert_eq!((&of(UNSUPPORTED)["rows"], &of(UNSUPPORTED)["table"]), (&json!(3), &json!("silver.orders")));
    assert_eq!(of(UNSUPPORTED)["first"], of(UNSUPPORTED)["last"], "one batch");
    assert_eq!(listed.iter().filter_map(|row| row["rows"].as_u64()).sum::<u64>(), 4);
    assert_eq!(orders.told(&["quarantine", "list"]).len(), 2 * listed.len(), "all tables");
    assert!(orders.host(&["quarantine", "list", "silver.nothing"]).fail_with(3).contains("silver.nothing"));

    let show = |more: &[&str]| orders.told(&[&["quarantine", "show", "silver.orders"], more].concat());
    assert_eq!(show(&[]).len(), 4);
    let shown = show(&["--code", UNSUPPORTED, "--limit", "2"]);
    let payloads: Vec<&str> = shown.iter().filter_map(|row| row["payload"].as_str()).collect();
    assert!(payloads.len() == 2 && payloads[1].contains("\"e\""), "the newest: {payloads:?}");
    let stage = text(&of(UNSUPPORTED)["stage"]);
    assert_eq!(show(&["--stage", &stage]).len(), 4);
    assert_eq!(show(&["--stage", "not_null"]).len(), 0);
    assert_eq!(show(&["--since", "2020-01-01", "--until", "2020-01-02T00:00:00Z"]).len(), 0);
    assert_eq!(show(&["--since", "2020-01-01"]).len(), 4);
    let people = orders.host(&["quarantine", "list"]).succeed();
    assert!(String::from_utf8_lossy(&people.stdout).contains(UNSUPPORTED));
    orders.host(&["quarantine", "show", "silver.orders", "--since", "yesterday"]).fail_with(2);

    orders.serve_version_3();
    let none = orders.replay("silver.orders", &["--until", "2020-01-01"]);
    assert_eq!(none["accounts"]["rows_in"], json!(0));
    let all = orders.replay("silver.orders", &[]);
    assert_eq!((&all["accounts"]["rows_in"], &all["accounts"]["rows_written"]), (&json!(4), &json!(3)));
    assert_eq!(orders.count("silver/orders_quarantine"), 1, "what is refused again stays, once");
}

impl Orders {
    /// `silver.checked`, which has rules behind its decoder, and a NOT NULL column.
    fn with_rules(self) -> Self {
        let table = json!({ "name": "silver.checked", "from": "bronze.lines",
            "stages": [{ "decode": "orders" }, { "validate": "order-rules", "options": { "currencies": ["EUR"] } }],
            "columns": [{ "name": "order_id", "type": "string" }, { "name": "customer_id", "type": "string", "nullable": false }] });
        self.project.write("tables/silver/checked.json", &table.to_string());
        let rules = root().join("plugins/order-rules.wasm");
        fs::copy(rules, self.plugins.join("order-rules.wasm")).expect("the component is there");
        self
    }

    fn samples(&self, more: &[&str]) -> Value {
        let output = self.host(&[&["quarantine", "show", "silver.checked", "--as-test"], more].concat()).succeed();
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// What a host says of a component that carries these samples.
    fn judged(&self, component: &str, samples: &Value) -> Value {
        let folder = self.project.path().join("judged");
        let wasm = fs::read(self.plugins.join(component)).expect("the component is there");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("judged.wasm"), carrying(wasm, samples)).expect("a file can be written");
        let output = self.project.host(&["plugins", "-o", "json"]).plugins(&folder).run();
        fs::remove_dir_all(folder).expect("a folder");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    fn refused_rows(&self) {
        let mut negative = order("b", 2, 1, "x");
        negative["amount"] = json!("-3.25");
        let mut late = order("c", 3, 1, "x");
        late["event_ts"] = json!("2999-01-01T00:00:00.000001Z");
        self.land("1", &[order("a", 1, 1, "x"), negative, late, json!("no order"), json!({ "order_id": "d" })]);
        self.project.write(
            "landing/2.txt",
            "{\"order_id\": \"ñ\", \"event_ts\": \"2026-03-01\", \"amount\": 1, \"schema_version\": 1}\n",
        );
        self.run();
    }
}

#[test]
fn refused_rows_become_samples_that_the_plugin_that_refused_them_can_run() {
    let orders = Orders::new().with_rules();
    orders.refused_rows();
    let decoded = orders.samples(&["--stage", "decode orders"]);
    let codes = |samples: &Value| -> Vec<String> {
        let samples = samples.as_array().into_iter().flatten();
        samples.map(|sample| text(&sample["expect"]["rejected"][0]["code"])).collect()
    };
    assert_eq!(codes(&decoded), ["corrupt_record", "not_null: event_ts"]);
    assert_eq!(decoded[0]["given"], json!([{ "payload": "\"no order\"" }]));
    let name = text(&decoded[0]["name"]);
    assert!(name.starts_with("corrupt_record: ") && name.ends_with("1.txt, row 3"), "{name}");
    assert_eq!(orders.judged("orders.wasm", &decoded)["serving"][0]["name"], "orders");

    let checked = orders.samples(&["--stage", "validate order-rules"]);
    assert_eq!(codes(&checked), ["amount_not_positive", "event_in_future"]);
    assert_eq!(checked[0]["options"], json!({ "currencies": ["EUR"] }));
    assert_eq!(checked[0]["input"], json!({ "event_ts": "timestamp", "amount": "decimal(18,2)" }));
    assert_eq!(checked[0]["given"][0]["amount"], "-3.25");
    assert_eq!(checked[1]["given"][0]["event_ts"], "2999-01-01T00:00:00.000001Z");
    assert_eq!(orders.judged("order-rules.wasm", &checked)["serving"][0]["name"], "order-rules");

    // A person says what should come of the row: then it is a test that fails.
    let mut mended = checked;
    mended[0]["expect"] = json!({});
    let judged = orders.judged("order-rules.wasm", &mended);
    let reason = text(&judged["refused"][0]["reason"]);
    assert!(reason.contains("`given[0]`: expected the row goes on, got rejected as `amount_not_positive`"), "{reason}");
}

#[test]
fn a_row_that_broke_its_plugin_becomes_a_sample_that_fails_with_the_plugins_own_words() {
    let orders = Orders::new().with_rules();
    fs::copy(crisol_tests::guest("faulty-orders"), orders.plugins.join("orders.wasm")).expect("the component is there");
    orders.land("1", &[order("o-12", 1, 1, "x"), order("o-13", 2, 1, "x")]);
    orders.run();
    let samples = orders.samples(&[]);
    assert_eq!((samples.as_array().map(Vec::len), &samples[0]["expect"]), (Some(1), &json!({})));
    let reason = text(&orders.judged("orders.wasm", &samples)["refused"][0]["reason"]);
    assert!(reason.contains("sample `plugin_trap: ") && reason.contains("thirteen brings bad luck"), "{reason}");
}

#[test]
fn rows_that_no_one_plugin_refused_are_no_samples_and_say_why() {
    let orders = Orders::new().with_rules();
    orders.refused_rows();
    let refused = |table: &str, more: &[&str]| {
        let said = orders.host(&[&["quarantine", "show", table, "--as-test"], more].concat()).fail_with(3);
        assert!(said.contains("hint:") && said.contains("--stage"), "{said}");
        said
    };
    let said = refused("silver.checked", &[]);
    assert!(said.contains("several plugins"), "{said}");
    let said = refused("silver.checked", &["--stage", "not_null"]);
    assert!(said.contains("`not_null`: the host itself refuses it"), "{said}");
    // Which component gets a row is the host's to say.
    let said = refused("silver.orders", &["--code", "schema_version_missing"]);
    assert!(said.contains("no plugin sees it in `decode orders`"), "{said}");
    assert_eq!(orders.samples(&["--code", "no_such_code"]), json!([]));
    let without_rules = json!({ "name": "silver.checked", "from": "bronze.lines", "stages": [{ "decode": "orders" }],
        "columns": [{ "name": "order_id", "type": "string" }, { "name": "customer_id", "type": "string", "nullable": false }] });
    orders.project.write("tables/silver/checked.json", &without_rules.to_string());
    let said = refused("silver.checked", &["--code", "event_in_future"]);
    assert!(said.contains("the contract has no stage `validate order-rules` today"), "{said}");
}

#[test]
fn tables_of_groups_are_not_replayed_and_say_why() {
    let orders = Orders::new();
    orders.land("1", &mixed());
    orders.run();
    let said = orders.host(&["quarantine", "replay", "gold.customers"]).fail_with(3);
    assert!(said.contains("computed from all rows") && said.contains("hint:"), "{said}");
}

#[test]
fn a_rebuild_ends_an_unfinished_replay_and_no_row_comes_twice() {
    let orders = Orders::new();
    orders.land("1", &mixed());
    orders.run();
    orders.serve_version_3();
    let table = "replay:silver.orders/commit_table/before";
    let ended = orders.host(&["quarantine", "replay", "silver.orders"]).abort_at(table, 0).run();
    assert_eq!(ended.status.signal(), Some(Signal::SIGABRT as i32), "{ended:?}");
    fs::remove_dir_all(orders.project.checkpoint("tables/silver.orders")).expect("a checkpoint");
    orders.host(&["run", "-q", "silver.orders", "--rebuild"]).succeed();
    assert_eq!(orders.ids().len(), 5);
    let after = orders.replay("silver.orders", &[]);
    assert_eq!((&after["resumed"], &after["accounts"]["rows_written"]), (&json!(false), &json!(0)));
    assert_eq!(orders.ids().len(), 5);
    // The replay after a rebuild works as the first did.
    orders.stop_version_3();
    orders.land("2", &[order("f", 9, 3, "x")]);
    orders.run();
    orders.serve_version_3();
    orders.replay("silver.orders", &["--code", UNSUPPORTED]);
    assert_eq!(orders.ids().len(), 6);
}

#[test]
fn of_two_replays_at_once_the_second_to_bind_stops_and_says_so() {
    let orders = Orders::new();
    orders.land("1", &mixed());
    orders.run();
    orders.serve_version_3();
    // The first is held up before it binds its outcome, and stopped there while the second does all of it.
    let held_up = "replay:silver.orders/log_outcome/before=sleep(3000)";
    let first = orders.host(&["quarantine", "replay", "silver.orders"]).env("FAILPOINTS", held_up).start();
    let logged = orders.project.checkpoint("replay/silver.orders").join("offsets/0");
    wait_until("the first has bound its rows", Duration::from_secs(60), || logged.is_file());
    first.signal(Signal::SIGSTOP);
    orders.host(&["quarantine", "replay", "silver.orders"]).succeed();
    first.signal(Signal::SIGCONT);
    let ended = first.end();
    assert_eq!(ended.status.code(), Some(4), "{ended:?}");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(said.contains("replay:silver.orders"), "{said}");
    assert_eq!(orders.ids().len(), 5);
    assert_eq!(orders.count("silver/orders_quarantine"), 1);
}

#[test]
fn a_replay_beside_a_running_host_loses_and_doubles_nothing() {
    let orders = Orders::new();
    orders.land("000", &mixed());
    orders.run();
    // The running host serves versions 1 and 2 only; the replay has a folder of its own.
    let plugins = orders.project.path().join("more");
    crisol_tests::copy(&orders.plugins, &plugins);
    fs::copy(crisol_tests::guest("orders-v3"), plugins.join("orders-v3.wasm")).expect("the component is there");
    let run = orders.host(&["run", "-q", "--trigger", "continuous"]).start();
    for round in 1..=5 {
        let batch: Vec<Value> =
            (0..20).map(|n| order(&format!("r{round}-{n}"), n, if n % 4 == 0 { 3 } else { 1 }, "x")).collect();
        orders.land(&format!("{round:03}"), &batch);
        for table in ["silver.orders", "silver.latest"] {
            orders.project.host(&["quarantine", "replay", table]).plugins(&plugins).succeed();
        }
    }
    let seen = || orders.count("silver/orders") + orders.count("silver/orders_quarantine");
    wait_until("all rows are somewhere", Duration::from_secs(60), || seen() >= 106);
    let seen = || orders.count("silver/latest") + orders.count("silver/latest_quarantine");
    wait_until("all rows are somewhere", Duration::from_secs(60), || seen() >= 106);
    run.stop();
    assert!(run.end().status.success(), "the host ends well");
    for table in ["silver.orders", "silver.latest"] {
        orders.project.host(&["quarantine", "replay", table]).plugins(&plugins).succeed();
    }
    assert_eq!(orders.ids().len(), 105);
    assert_eq!(orders.count("silver/latest"), 105);
    for table in ["silver/orders_quarantine", "silver/latest_quarantine"] {
        assert_eq!(orders.count(table), 1, "{table}");
    }
}
