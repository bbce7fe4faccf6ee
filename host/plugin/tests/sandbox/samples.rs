//! Samples that a component carries: they run before it serves, and one that does not hold keeps it from serving.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use crisol_plugin::{
    Component, Difference, Expect, Kind, Limits, PluginError, Registry, SAMPLES_SECTION, Sample, SampleFault,
};
use serde_json::{Value, json};

use crate::harness::*;

fn bundled(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins").join(format!("{name}.wasm"));
    std::fs::read(path).unwrap_or_else(|_| panic!("plugins/{name}.wasm: `scripts/plugins.sh` builds it"))
}

/// A component with one more section of samples at its end.
fn carrying(mut wasm: Vec<u8>, samples: &Value) -> Vec<u8> {
    let (name, data) = (SAMPLES_SECTION.as_bytes(), samples.to_string().into_bytes());
    let content = [&[name.len() as u8], name, &data].concat();
    let mut rest = content.len();
    wasm.push(0);
    while rest > 0x7f {
        wasm.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    wasm.push(rest as u8);
    wasm.extend(content);
    wasm
}

static ORDERS: LazyLock<Arc<Component>> = LazyLock::new(|| Arc::new(load(&bundled("orders")).unwrap()));
static RULES: LazyLock<Arc<Component>> = LazyLock::new(|| Arc::new(load(&bundled("order-rules")).unwrap()));
static TOP_N: LazyLock<Arc<Component>> = LazyLock::new(|| Arc::new(load(&bundled("top-n")).unwrap()));
static AGGREGATE: LazyLock<Arc<Component>> = LazyLock::new(|| Arc::new(load(&bundled("aggregate")).unwrap()));

fn run(component: &Arc<Component>, sample: &Value) -> Result<(), SampleFault> {
    let mut samples = Sample::read(sample.to_string().as_bytes()).unwrap();
    assert_eq!(samples.len(), 1);
    samples.remove(0).run(component, &Limits::default())
}

#[track_caller]
fn differences(component: &Arc<Component>, sample: &Value) -> Vec<String> {
    match run(component, sample) {
        Err(SampleFault::Differs(differences)) => differences.iter().map(Difference::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn fault(component: &Arc<Component>, sample: &Value) -> String {
    run(component, sample).unwrap_err().to_string()
}

fn order(id: &str, amount: Value) -> Value {
    json!({ "payload": { "json":
        { "order_id": id, "event_ts": "2026-03-14T09:26:53Z", "amount": amount, "schema_version": 1 } } })
}

fn decoding(expect: Value) -> Value {
    json!({ "name": "an order", "given": [order("o-1", json!(12.5)), order("o-2", json!("mucho"))], "expect": expect })
}

#[test]
fn the_bundled_components_carry_samples_that_hold() {
    for name in ["json", "orders", "order-rules", "top-n", "aggregate", "later/orders-v3"] {
        let component = load(&bundled(name)).unwrap();
        assert!(!component.samples().is_empty(), "{name}");
    }
}

#[test]
fn the_sample_of_the_guide_holds() {
    let guide = include_str!("../../../../docs/plugin-rust.md");
    let (_, rest) = guide.split_once("in `tests/samples.json`:\n\n```json\n").expect("the guide has a sample");
    let (text, _) = rest.split_once("```").expect("it ends");
    assert!(run(&ORDERS, &serde_json::from_str(text).unwrap()).is_ok());
    let text = text.replace("12.50", "12.00");
    let error = load(&carrying(bundled("orders"), &serde_json::from_str(&text).unwrap())).unwrap_err().to_string();
    let (start, end) = error.split_once(" of /").expect("a path");
    assert!(
        guide.contains(&format!("{start} of plugins/orders.wasm {}", end.split_once("any.wasm ").unwrap().1)),
        "{error}"
    );
}

#[test]
fn samples_hold_when_only_what_they_name_comes_out() {
    let rejected = json!([{ "row": 1, "code": "corrupt_record" }]);
    for row in [json!({}), json!({ "amount": "12.50" }), json!({ "_row": 0, "order_id": "o-1", "country": null })] {
        let sample = decoding(json!({ "rows": [row], "rejected": rejected }));
        assert!(run(&ORDERS, &sample).is_ok(), "{sample}");
    }
}

#[test]
fn a_difference_names_place_expected_and_got() {
    let rejected = json!([{ "row": 1, "code": "corrupt_record" }]);
    let of = |expect: Value| differences(&ORDERS, &decoding(expect));
    assert_eq!(
        of(json!({ "rows": [{ "amount": "13", "order_id": "o-9", "country": null }], "rejected": rejected })),
        [
            r#"`expect.rows[0].amount`: expected "13.00", got "12.50""#,
            r#"`expect.rows[0].order_id`: expected "o-9", got "o-1""#
        ]
    );
    assert_eq!(of(json!({ "rejected": rejected })), ["`expect.rows`: expected 0 rows, got 1 row"]);
    let text = r#"rejected as `corrupt_record` (`amount`: "mucho" is not a decimal(18,2))"#;
    assert_eq!(of(json!({ "rows": [{}, {}] })), [format!("`given[1]`: expected the row goes on, got {text}")]);
    let code = json!([{ "row": 0, "code": "a" }, { "row": 1, "code": "corrupt_record", "text": "b" }]);
    assert_eq!(
        of(json!({ "filtered": code })),
        [
            "`given[0]`: expected filtered as `a`, got the row goes on".to_string(),
            format!("`given[1]`: expected filtered as `corrupt_record` (b), got {text}"),
        ]
    );
}

#[test]
fn the_refusal_names_file_sample_and_the_first_differences() {
    let given: Vec<Value> = (0..9).map(|n| order(&format!("o-{n}"), json!(n))).collect();
    let sample =
        json!({ "name": "\u{1b}[31mtoo many", "given": given, "expect": { "rows": vec![json!({ "amount": 10 }); 9] } });
    let error = load(&carrying(bundled("orders"), &sample)).unwrap_err().to_string();
    assert!(error.starts_with(r"sample `\u{1b}[31mtoo many` of /"), "{error}");
    assert!(
        error.contains(r#"any.wasm does not hold: `expect.rows[0].amount`: expected "10.00", got "0.00"; "#),
        "{error}"
    );
    assert!(error.ends_with("; and 4 more"), "{error}");
}

#[test]
fn rules_are_held_against_the_rows_that_they_refuse() {
    let sample = |expect: Value| {
        json!({ "name": "a", "input": { "event_ts": "timestamp", "amount": "decimal(18,2)" },
            "given": [{ "amount": "0", "currency": "EUR" }, { "amount": "1" }], "expect": expect })
    };
    let right = json!({ "rejected": [{ "row": 0, "code": "amount_not_positive" }] });
    assert!(run(&RULES, &sample(right)).is_ok());
    let text = "rejected as `amount_not_positive` (amount is 0.00)";
    let found = differences(&RULES, &sample(json!({ "rejected": [{ "row": 1, "code": "amount_not_positive" }] })));
    assert_eq!(found[0], format!("`given[0]`: expected the row goes on, got {text}"));
    assert_eq!(found[1], "`given[1]`: expected rejected as `amount_not_positive`, got the row goes on");
    let error = fault(&RULES, &sample(json!({ "rows": [{}] })));
    assert!(error.contains("`expect.rows` is not for a validator"), "{error}");
}

#[test]
fn groups_are_made_of_the_rows_with_equal_values_and_ranked_rows_keep_their_columns() {
    let sample = |rows: Value| {
        json!({ "name": "a", "options": { "n": 1, "order_by": ["amount desc"] }, "group_by": ["country"],
            "given": [{ "country": "ES", "amount": 1 }, { "country": null, "amount": 2 }, { "country": "ES", "amount": 3 }, {}],
            "expect": { "rows": rows } })
    };
    let ranked = json!([{ "_row": 2, "amount": 3, "country": "ES", "position": 1 }, { "_row": 1, "country": null }]);
    assert!(run(&TOP_N, &sample(ranked)).is_ok());
    let wrong = json!([{ "_row": 0 }, { "position": 2 }]);
    assert_eq!(
        differences(&TOP_N, &sample(wrong)),
        ["`expect.rows[0]._row`: expected 0, got 2", "`expect.rows[1].position`: expected 2, got 1"]
    );
}

#[test]
fn an_aggregate_has_the_columns_of_its_group_and_no_others() {
    let sample = |rows: Value| {
        json!({ "name": "a", "options": { "measures": { "orders": "count(*)" } }, "group_by": ["country"],
            "given": [{ "country": "ES", "amount": 1 }, { "country": "PT" }, { "country": "ES" }], "expect": { "rows": rows } })
    };
    let right = json!([{ "country": "ES", "orders": 2 }, { "country": "PT", "orders": 1 }]);
    assert!(run(&AGGREGATE, &sample(right)).is_ok());
    let error = fault(&AGGREGATE, &sample(json!([{ "amount": 1 }, {}])));
    assert!(error.contains("`expect.rows[0].amount`: no such column comes out; there are orders, country"), "{error}");
    let mut rejecting = sample(json!([{}, {}]));
    rejecting["expect"]["rejected"] = json!([{ "row": 0, "code": "a" }]);
    assert!(fault(&AGGREGATE, &rejecting).contains("aggregators reject no rows"));
    let mut nowhere = sample(json!([{}, {}]));
    nowhere["group_by"] = json!(["contry"]);
    assert!(fault(&AGGREGATE, &nowhere).contains("`group_by` has `contry`, and no given row has such a column"));
}

#[test]
fn a_sample_that_cannot_be_given_says_why() {
    let with = |key: &str, value: Value| {
        let mut sample = decoding(json!({}));
        sample[key] = value;
        fault(&ORDERS, &sample)
    };
    let text = with("options", json!({ "currency": "EUR" }));
    assert_eq!(text, "cannot be run: options of component `orders`: `/currency`: this component takes no options");
    assert!(with("given", json!([{ "payload": 7 }])).starts_with("cannot be run: component `orders"));
    assert!(
        with("given", json!([{ "payload": "a" }, { "payload": 7 }])).contains("column `payload` do not tell its type")
    );
    assert!(with("given", json!([{ "text": "a" }])).contains("payload"));
    let text = with("input", json!({ "payload": "int" }));
    assert!(
        text.starts_with("cannot be run: column `payload` of `given`: {") && text.ends_with("} is no int"),
        "{text}"
    );
    let text =
        with("expect", json!({ "rows": [{ "amuont": 1 }], "rejected": [{ "row": 1, "code": "corrupt_record" }] }));
    assert!(text.ends_with("`expect.rows[0].amuont`: no such column comes out; did you mean `amount`?"), "{text}");
    assert!(with("group_by", json!(["payload"])).contains("`group_by` is not for a decoder"));
}

#[test]
fn samples_that_cannot_be_read_refuse_the_component() {
    let error = load(&carrying(bundled("orders"), &json!({ "name": "a", "given": [{}], "expcet": {} }))).unwrap_err();
    assert!(matches!(error, PluginError::Samples { .. }), "{error}");
    assert!(error.to_string().ends_with("unknown key `expcet`; did you mean `expect`?"), "{error}");
}

#[test]
fn a_component_that_traps_on_its_sample_is_refused_with_its_own_words() {
    let sample = json!({ "name": "a", "options": { "do": "push-panic" }, "given": [{ "id": 1 }], "expect": {} });
    let guest = described(Kind::Decoder, &words(Kind::Decoder, json!({})));
    let error = load(&carrying(guest, &sample)).unwrap_err();
    let PluginError::Sample { fault, .. } = &error else { panic!("{error}") };
    assert!(matches!(**fault, SampleFault::Failed(_)), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("sample `a` of /") && text.contains(" fails: it trapped: it panicked"), "{text}");
    assert!(text.contains(r"out of \u{1b}[31mluck"), "{text}");
}

#[test]
fn a_folder_serves_without_the_component_whose_sample_does_not_hold() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("good.wasm"), bundled("order-rules")).unwrap();
    std::fs::write(folder.path().join("bad.wasm"), carrying(bundled("orders"), &decoding(json!({})))).unwrap();
    let registry = Registry::load(folder.path(), &ENGINE, None).unwrap();
    assert_eq!(registry.serving().iter().map(|one| one.name()).collect::<Vec<_>>(), ["order-rules"]);
    assert!(matches!(registry.refused()[0].reason, PluginError::Sample { .. }));
}

#[test]
fn a_sample_is_written_as_it_is_read() {
    let carried = [&*ORDERS, &*RULES, &*TOP_N, &*AGGREGATE].map(|component| component.samples());
    for sample in carried.into_iter().flatten() {
        assert_eq!(Sample::read(sample.to_json().to_string().as_bytes()).as_deref(), Ok(std::slice::from_ref(sample)));
    }
    let whole = Value::from(RULES.samples().iter().map(Sample::to_json).collect::<Vec<_>>());
    assert_eq!(Sample::read(whole.to_string().as_bytes()).unwrap(), RULES.samples());
}

#[test]
fn rows_that_a_component_was_given_become_a_sample() {
    let rows = ids(&[1, i64::MAX]);
    let expect = Expect { rows: Some(Vec::new()), ..Expect::default() };
    let sample = Sample::of("a", serde_json::Map::new(), NOW_US, &rows, expect);
    assert_eq!(
        sample.to_json(),
        json!({ "name": "a", "timestamp": "2023-11-14T22:13:20.123456Z",
            "given": [{ "id": 1 }, { "id": i64::MAX }], "expect": { "rows": [] } })
    );
    let untold = rows.slice(0, 0);
    assert_eq!(
        Sample::of("a", serde_json::Map::new(), 0, &untold, Expect::default()).to_json()["input"],
        json!({ "id": "bigint" })
    );
}
