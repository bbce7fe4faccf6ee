//! What the tests of exchanges share.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use crisol_tests::{Host, Project, Run, Topic, root, wait_until};
use serde_json::{Value, json};

use crate::model::builds::{self, sha256};

pub(super) const DEADLINE: Duration = Duration::from_secs(90);

/// A project whose decoder is `orders`, a folder of components of its own, and a host that runs until it is stopped.
pub(super) struct Lab {
    pub(super) topic: Topic,
    pub(super) project: Project,
    pub(super) run: Option<Run>,
    produced: u32,
}

impl Lab {
    /// `silver` is what is special about the silver contract.
    pub(super) fn new(topic: &str, silver: Value) -> Self {
        let topic = Topic::create(topic, 1);
        let project = Project::orders_to_silver();
        project.read_orders_from(topic.name());
        let mut contract = json!({ "name": "silver.orders", "from": "bronze.orders_raw",
            "stages": [{ "decode": "orders" }] });
        contract.as_object_mut().expect("an object").extend(silver.as_object().expect("an object").clone());
        project.write("tables/silver/orders.json", &contract.to_string());
        fs::create_dir(project.path().join("plugins")).expect("a folder");
        Self { topic, project, run: None, produced: 0 }
    }

    pub(super) fn plugin(&self, file: &str) -> PathBuf {
        self.project.path().join("plugins").join(file)
    }

    pub(super) fn start(&mut self) {
        self.start_as(|host| host);
    }

    /// Starts a host that differs from the usual one.
    pub(super) fn start_as(&mut self, differs: impl FnOnce(Host) -> Host) {
        let host = self.host(&["run", "--trigger", "continuous", "-o", "json"]);
        self.run = Some(differs(host).start());
    }

    /// A command on the project and its own components.
    pub(super) fn host(&self, arguments: &[&str]) -> Host {
        let host = self.project.host(arguments).env("KAFKA_BROKERS", self.topic.brokers());
        host.plugins(&self.project.path().join("plugins"))
    }

    /// What a command says that does what was asked.
    pub(super) fn said(&self, arguments: &[&str]) -> String {
        let ended = self.host(arguments).succeed();
        format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr))
    }

    /// What a command gives as JSON.
    pub(super) fn told(&self, arguments: &[&str]) -> Value {
        let ended = self.host(&[arguments, &["-o", "json"]].concat()).succeed();
        serde_json::from_slice(&ended.stdout).expect("JSON")
    }

    pub(super) fn stop(&mut self) -> Output {
        let run = self.run.take().expect("it runs");
        run.stop();
        let ended = run.end();
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        ended
    }

    /// Produces orders of a schema version.
    pub(super) fn produce(&mut self, orders: u32, version: u32) {
        let numbers = self.produced..self.produced + orders;
        let messages: Vec<_> = numbers.map(|n| (format!("o-{n}"), order(n, version))).collect();
        self.topic.produce(messages.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        self.produced += orders;
    }

    /// Produces orders, and waits until the host has taken all that there are.
    pub(super) fn take(&mut self, orders: u32, version: u32) {
        self.produce(orders, version);
        let tables = self.project.tables();
        let taken = || tables.count("silver/orders") + tables.count("silver/orders_quarantine");
        wait_until("the orders are taken", DEADLINE, || taken() == u64::from(self.produced));
    }

    /// What the running host wrote down.
    pub(super) fn decisions(&self) -> Value {
        let text = fs::read(self.project.checkpoint("plugins.json")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Versions and digests of those that serve.
    pub(super) fn serving(&self) -> Vec<(String, String)> {
        let decisions = self.decisions();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let serving = decisions["serving"].as_array().into_iter().flatten();
        serving.map(|one| (text(&one["version"]), text(&one["digest"]))).collect()
    }

    pub(super) fn wait_for_versions(&self, versions: &[&str]) {
        let now = || self.serving().into_iter().map(|(version, _)| version).collect::<Vec<_>>();
        wait_until(&format!("{versions:?} serve"), DEADLINE, || now() == versions);
    }

    /// Waits until another build serves alone; gives its digest.
    pub(super) fn wait_for_another(&self, digest: &str) -> String {
        let other = || match self.serving().as_slice() {
            [(_, serves)] if serves != digest => Some(serves.clone()),
            _ => None,
        };
        wait_until("another build serves", DEADLINE, || other().is_some());
        other().expect("it serves")
    }

    /// Waits until a build of these bytes serves.
    pub(super) fn wait_for_build(&self, bytes: &[u8]) -> String {
        let wanted = sha256(bytes);
        let serves = || self.serving().iter().any(|(_, digest)| *digest == wanted);
        wait_until(&format!("{wanted} serves"), DEADLINE, serves);
        wanted
    }

    pub(super) fn wait_for_refusal(&self, file: &str, why: &str) {
        let refused = || {
            let decisions = self.decisions();
            let all = decisions["refused"].as_array().into_iter().flatten();
            let named = |one: &&Value| one["file"].as_str().is_some_and(|path| path.ends_with(file));
            all.filter(named).any(|one| one["reason"].as_str().is_some_and(|reason| reason.contains(why)))
        };
        wait_until(&format!("{file} is refused: {why}"), DEADLINE, refused);
    }

    /// The components of each commit of silver that holds a batch, equal ones in a row once.
    pub(super) fn components(&self) -> Vec<Value> {
        self.components_of("silver/orders")
    }

    pub(super) fn components_of(&self, table: &str) -> Vec<Value> {
        let log = self.project.tables().log(table);
        let commits = log["commits"].as_array().expect("commits").clone();
        let batches = commits.into_iter().filter(|commit| commit["crisol"]["batch"].is_u64());
        let mut components: Vec<Value> = batches.map(|commit| commit["crisol"]["components"].clone()).collect();
        components.dedup();
        components
    }

    /// Every row was made by a component that the commit which brought it names. Builds are told apart by the marks of
    /// [`marked`], of which `marks` is the number.
    pub(super) fn assert_commits_name_the_builds_of_their_rows(&self, marks: u8) {
        let by_digest: BTreeMap<String, String> =
            (0..marks).map(|mark| (sha256(&marked(mark)), mark_of(mark))).collect();
        let tables = self.project.tables();
        let log = tables.log("silver/orders");
        let rows = tables.query("silver/orders", "SELECT DISTINCT committed_in, build FROM committed ORDER BY ALL");
        assert!(!rows.is_empty(), "there are rows");
        for row in rows {
            let version = row[0].as_u64().expect("a version") as usize;
            let named = &log["commits"][version]["crisol"]["components"]["orders@1.0.0"];
            let made = by_digest.get(named.as_str().expect("a digest")).map(String::as_str);
            assert_eq!(made, row[1].as_str(), "version {version} names {named}");
        }
    }

    /// Every order once.
    pub(super) fn assert_no_offset_is_missing_or_doubled(&self) {
        let offsets = "SELECT count(*), count(DISTINCT \"offset\"), max(\"offset\") FROM rows";
        let produced = self.produced;
        assert_eq!(
            self.project.tables().query("silver/orders", offsets),
            [[json!(produced), json!(produced), json!(produced - 1)]]
        );
    }
}

pub(super) fn order(number: u32, version: u32) -> String {
    let mut order = json!({ "order_id": format!("o-{number}"), "event_ts": "2026-03-01T10:00:00Z", "amount": 1.5,
        "schema_version": version });
    if version == 3 {
        order["channel"] = json!("web");
    }
    order.to_string()
}

pub(super) fn bundled() -> Vec<u8> {
    fs::read(root().join("plugins/orders.wasm")).expect("the bundled component")
}

/// The bundled `orders` as another build would be: other bytes that do the same, told apart by a custom section.
pub(super) fn another_build(mark: u8) -> Vec<u8> {
    let mut bytes = bundled();
    bytes.extend([0, 6, 4, b'm', b'a', b'r', b'k', mark]);
    bytes
}

fn mark_of(mark: u8) -> String {
    format!("mark-{mark:016}")
}

/// A build of `orders` for versions 1 and 2 whose rows say in a column `build` which one made them.
pub(super) fn marked(mark: u8) -> Vec<u8> {
    builds::marked(&mark_of(mark), &(1..=2))
}

/// A contract that keeps the mark.
pub(super) fn with_marks() -> Value {
    json!({ "columns": [{ "name": "order_id", "type": "string" }, { "name": "build", "type": "string" }] })
}

/// Lines of one kind that a host wrote.
pub(super) fn lines(ended: &Output, schema: &str) -> Vec<Value> {
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["schema"] == schema).collect()
}

/// As deployments do it: beside, then by one rename.
pub(super) fn place(path: &Path, bytes: &[u8]) {
    let beside = path.with_extension("new");
    fs::write(&beside, bytes).expect("a file can be written");
    fs::rename(&beside, path).expect("a file can be moved");
}

pub(super) fn routed() -> Value {
    json!({ "stages": [{ "decode": "orders", "version": { "json": "schema_version", "in": "payload" } }],
        "columns": [{ "name": "order_id", "type": "string" }, { "name": "schema_version", "type": "int" }] })
}
