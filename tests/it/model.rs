//! Random sequences of messages, crashes, restarts and exchanged components against a computation of the tables that knows
//! nothing of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crisol_tests::{Project, Topic, generate, root};
use serde_json::{Value, json};

const STREAMS: [&str; 5] =
    ["orders", "silver.orders", "silver.orders_current", "gold.top_orders", "gold.daily_revenue"];
const STEPS: [&str; 6] = ["plan", "log_range", "write_files", "log_outcome", "commit_table", "mark"];
const MOMENTS: [&str; 2] = ["before", "after"];
const MESSAGES: usize = 6_000;

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let seed = std::env::var("CRISOL_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or_else(|| {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            since.map_or(1, |since| since.as_nanos() as u64)
        });
        println!("CRISOL_TEST_SEED={seed}");
        Self(seed)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

#[test]
fn any_sequence_of_messages_crashes_and_builds_leaves_the_tables_that_the_messages_come_to() {
    let mut random = Random::new();
    let topic = Topic::create("model.orders", 2);
    let project = project(topic.name());
    let text = generate("orders", MESSAGES);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut produced, mut builds, mut crashes, mut step) = (1_000, 0_u8, 0, 0);
    topic.produce_lines(&lines[..produced].concat());
    check(&project, &topic, &lines[..produced]);
    while produced < lines.len() {
        step += 1;
        match random.below(10) {
            0..=3 => {
                let end = (produced + 1 + random.below(900)).min(lines.len());
                topic.produce_lines(&lines[produced..end].concat());
                produced = end;
                println!("{step}: {end} messages so far");
            }
            4..=5 => {
                builds += 1;
                put_build(&project, builds);
                println!("{step}: build {builds} of `orders`");
            }
            6..=7 => {
                let failpoint =
                    format!("{}/{}/{}", random.one_of(&STREAMS), random.one_of(&STEPS), random.one_of(&MOMENTS));
                let passes = random.below(2) as u32;
                println!("{step}: ended at {failpoint} after {passes}");
                let ended = host(&project, &topic).abort_at(&failpoint, passes).run();
                crashes += u32::from(!ended.status.success());
            }
            _ => {
                println!("{step}: run");
                check(&project, &topic, &lines[..produced]);
            }
        }
    }
    check(&project, &topic, &lines);
    assert!(crashes > 0 && builds > 0, "{crashes} crashes and {builds} builds are too few to say much: another seed");
}

/// Runs what is pending and compares every table; the newest commit names the build that serves.
fn check(project: &Project, topic: &Topic, lines: &[&str]) {
    let before = project.tables().exists("silver/orders").then(|| commits(project));
    host(project, topic).succeed();
    let input = project.write("orders.tsv", &lines.concat());
    project.tables().as_expected("orders", &input);
    let after = commits(project);
    if before.is_some_and(|before| before.len() < after.len()) {
        let named = &after.last().expect("a commit")["crisol"]["components"];
        let digest = sha256(&plugins(project).join("orders.wasm"));
        let names_it = named.as_object().is_some_and(|named| named.values().any(|one| *one == json!(digest)));
        assert!(names_it, "{named} does not name {digest}");
    }
}

fn commits(project: &Project) -> Vec<Value> {
    project.tables().log("silver/orders")["commits"].as_array().expect("commits").clone()
}

fn host(project: &Project, topic: &Topic) -> crisol_tests::Host {
    project.host(&["run", "-q"]).env("KAFKA_BROKERS", topic.brokers()).plugins(&plugins(project))
}

fn plugins(project: &Project) -> PathBuf {
    project.path().join("plugins")
}

/// The same component with other bytes: a section that nobody reads.
fn put_build(project: &Project, mark: u8) {
    let mut bytes = fs::read(root().join("plugins/orders.wasm")).expect("`make test` builds it");
    bytes.extend([0, 3, 1, b'm', mark]);
    let path = plugins(project).join("orders.wasm");
    let new = path.with_extension("new");
    fs::write(&new, bytes).expect("a component can be written");
    fs::rename(&new, &path).expect("it can be put in place");
}

fn sha256(path: &Path) -> String {
    let output = Command::new("sha256sum").arg(path).output().expect("sha256sum can be started");
    String::from_utf8_lossy(&output.stdout).split(' ').next().unwrap_or_default().to_owned()
}

fn project(topic: &str) -> Project {
    let project = Project::orders_of(topic, 400);
    fs::create_dir_all(plugins(&project)).expect("a folder");
    for name in ["orders", "order-rules", "top-n", "aggregate"] {
        let file = format!("{name}.wasm");
        fs::copy(root().join("plugins").join(&file), plugins(&project).join(&file)).expect("`make test` builds it");
    }
    project
}
