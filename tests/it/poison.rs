//! Rows on which a component traps, loops or runs out of memory: they go to quarantine with the cause, all others pass.

use std::fs;
use std::path::PathBuf;

use crisol_tests::{Host, Project, guest, root};
use serde_json::{Value, json};

/// Orders as lines of text; silver decodes them with a component that does what a message says.
struct Orders {
    project: Project,
    plugins: PathBuf,
}

impl Orders {
    fn new(limits: &Value) -> Self {
        let project = Project::lines();
        let table = json!({
            "name": "silver.orders",
            "from": "bronze.lines",
            "stages": [{ "decode": "orders", "limits": limits }],
            "columns": [{ "name": "order_id", "type": "string" }]
        });
        project.write("tables/silver/orders.json", &table.to_string());
        let plugins = project.path().join("components");
        fs::create_dir(&plugins).expect("a folder");
        let orders = Self { project, plugins };
        orders.serve(guest("marked-orders"));
        orders
    }

    fn serve(&self, component: PathBuf) {
        fs::copy(component, self.plugins.join("orders.wasm")).expect("the component is there");
    }

    /// Lands orders from 0 on; `disaster` says what the decoder does with one.
    fn land(&self, count: usize, disaster: impl Fn(usize) -> Option<&'static str>) {
        let order = |number| {
            let order = json!({ "order_id": format!("o-{number}"), "event_ts": "2026-03-01T10:00:00Z", "amount": 1.5,
                "schema_version": 1, "do": disaster(number) });
            format!("{order}\n")
        };
        self.project.write("landing/orders.txt", &(0..count).map(order).collect::<String>());
    }

    fn host(&self, arguments: &[&str]) -> Host {
        self.project.host(arguments).plugins(&self.plugins)
    }

    fn ids(&self) -> Vec<String> {
        let rows = self
            .project
            .tables()
            .query("silver/orders", "SELECT order_id FROM rows ORDER BY CAST(order_id[3:] AS INT)");
        rows.iter().map(|row| row[0].as_str().expect("text").to_owned()).collect()
    }
}

fn ids(numbers: impl Iterator<Item = usize>) -> Vec<String> {
    numbers.map(|number| format!("o-{number}")).collect()
}

#[test]
fn rows_that_a_component_cannot_bear_go_to_quarantine_and_can_be_replayed() {
    let orders = Orders::new(&json!({ "deadline_ms_max": 300, "memory_bytes_max": 33_554_432 }));
    let disaster = |number| match number {
        3 => Some("trap"),
        400 => Some("grow"),
        777 => Some("loop"),
        999 => Some("trap"),
        _ => None,
    };
    orders.land(1_000, disaster);
    orders.host(&["run", "-q"]).succeed();
    assert_eq!(orders.ids(), ids((0..1_000).filter(|number| disaster(*number).is_none())));

    let refused = orders.project.tables().query(
        "silver/orders_quarantine",
        "SELECT json_extract_string(decode(payload), '$.order_id'), code, text, stage, component FROM rows ORDER BY 1",
    );
    let told: Vec<(&str, &str)> =
        refused.iter().map(|row| (row[0].as_str().expect("text"), row[1].as_str().expect("text"))).collect();
    assert_eq!(
        told,
        [("o-3", "plugin_trap"), ("o-400", "plugin_memory"), ("o-777", "plugin_timeout"), ("o-999", "plugin_trap")]
    );
    for (row, cause) in [
        (0, "a message said so"),
        (1, "33554432 are allowed; if it needs more, raise `limits.memory_bytes_max` of the stage"),
        (2, "it was stopped after 200 ms of processor time, what these rows have of the 300 ms of a call"),
    ] {
        let text = refused[row][2].as_str().expect("text");
        assert!(text.contains(cause), "{text}");
    }
    assert_eq!((&refused[0][3], &refused[0][4]), (&json!("decode orders"), &json!("orders")));

    orders.serve(root().join("plugins/orders.wasm"));
    orders.host(&["quarantine", "replay", "silver.orders"]).succeed();
    assert_eq!(orders.ids(), ids(0..1_000));
    assert_eq!(orders.project.tables().count("silver/orders_quarantine"), 0);
}

#[test]
fn more_than_a_hundred_poison_rows_and_one_in_a_hundred_stop_the_stream_and_nothing_is_committed() {
    let orders = Orders::new(&json!({}));
    orders.land(400, |number| (number % 3 == 0).then_some("trap"));
    let said = orders.host(&["run", "-q"]).fail_with(1);
    for word in
        ["silver.orders", "batch 0", "on 101 rows so far", "the greater of 1 % of a batch and 100", "a message said so"]
    {
        assert!(said.contains(word), "`{word}` is missing in:\n{said}");
    }
    assert!(!orders.project.tables().exists("silver/orders") || orders.project.tables().count("silver/orders") == 0);
    orders.serve(root().join("plugins/orders.wasm"));
    orders.host(&["run", "-q"]).succeed();
    assert_eq!(orders.ids(), ids(0..400), "the same rows are read again");
}
