//! No text, however wrong, makes `resolve` panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use proptest::prelude::*;
use support::{Project, files, kafka_topic, silver};

fn resolved_or_explained(project: &Project) {
    if let Err(problems) = project.resolve() {
        assert!(!problems.as_slice().is_empty());
        assert!(problems.to_string().starts_with("error: "));
        serde_json::to_string(&problems).unwrap();
    }
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let word = prop_oneof![
        Just("name"),
        Just("from"),
        Just("source"),
        Just("format"),
        Just("kafka"),
        Just("path"),
        Just("columns"),
        Just("type"),
        Just("stages"),
        Just("decode"),
        Just("write"),
        Just("mode"),
        Just("upsert"),
        Just("keys"),
        Just("partition_by"),
        Just("options"),
        Just("topic"),
        Just("assign"),
        Just("b"),
        Just("{path.tables}"),
        Just("${env:X}"),
        Just("delta"),
        Just("json"),
        Just("int"),
        Just(""),
        Just("{"),
        Just("$"),
        Just("é.ü")
    ]
    .prop_map(str::to_owned);
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        word.clone().prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map(word.clone(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(settings in any::<String>(), ingestion in any::<String>(), table in any::<String>()) {
        resolved_or_explained(&Project::new().settings(&settings).ingestion("a.json", &ingestion).table("b.json", &table));
    }

    #[test]
    fn arbitrary_json_never_panics(ingestion in json(), table in json()) {
        let project = Project::new().ingestion("a.json", &ingestion.to_string()).table("b.json", &table.to_string());
        resolved_or_explained(&project);
    }

    #[test]
    fn a_good_project_with_a_piece_replaced_never_panics(
        which in 0..4_usize, at in 0.0..1.0_f64, length in 0..12_usize, piece in "[\\[\\]{}\",:.a-z0-9$é\\\\ \n=-]{0,6}",
    ) {
        let mut project = silver(
            r#", "stages": [{"decode": "orders@^1", "version": {"json": "v", "in": "payload"}}],
            "columns": [{"name": "a", "type": "decimal(18,2)"}, {"name": "b", "type": "array<struct<c: int>>"}],
            "expectations": [{"name": "x", "condition": "a > 0"}], "partition_by": ["a"],
            "write": {"mode": "upsert", "keys": ["a"], "sequence_by": ["b"]}, "properties": {"delta.appendOnly": true}"#,
        );
        project.ingestion.extend(files(r#", "options": {"latestFirst": true}"#).ingestion);
        project.ingestion.extend(kafka_topic(r#", "starting_offsets": "{\"t\":{\"0\":1}}""#).ingestion);
        let text = match which {
            0 => project.settings.as_mut().unwrap(),
            1 => &mut project.ingestion[1].1,
            2 => &mut project.ingestion[2].1,
            _ => &mut project.tables[1].1,
        };
        let start = text.floor_char_boundary((text.len() as f64 * at) as usize);
        let end = text.floor_char_boundary((start + length).min(text.len()));
        text.replace_range(start..end, &piece);
        resolved_or_explained(&project);
    }

    #[test]
    fn arbitrary_overrides_never_panic(key in "[a-z._]{0,20}", value in any::<String>(), name in "[A-Z_]{0,12}") {
        let project = kafka_topic("").set(&key, &value).env(&format!("CRISOL__{name}"), &value);
        resolved_or_explained(&project);
    }
}

#[test]
fn deep_nesting_is_refused_in_words() {
    for deep in ["[".repeat(100_000), "{\"a\":".repeat(100_000)] {
        resolved_or_explained(&Project::new().table("a.json", &deep).settings(&format!("x = {deep}")));
    }
}
