//! The same rows and the same component give the same answers: in chunks of any size, and whatever the clock, the time
//! zone and the environment of the host are.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use arrow_array::{
    ArrayRef, BinaryArray, Decimal128Array, Int32Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow_select::concat::concat_batches;
use crisol_plugin::{Component, Kind, Limits, ROWS_MAX, Rejected};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::harness::*;

/// More than one chunk, and the last one is not full.
const ROWS: usize = ROWS_MAX + 700;
/// Of so many rows, chunks of so many.
const CHUNKS: [(usize, usize); 4] = [(ROWS, ROWS_MAX), (ROWS, 1_000), (2_100, 7), (2_100, 1)];
const DAY_US: i64 = 86_400_000_000;

/// What a component gave for all rows; places are counted from the first row.
#[derive(Debug, PartialEq)]
struct Answers {
    rows: Option<RecordBatch>,
    index: Vec<u32>,
    rejected: Vec<Rejected>,
}

/// Each bundled component, its options, and what it is given.
fn bundled() -> [(&'static str, Value, RecordBatch); 6] {
    let columns = json!({ "columns": [
        { "name": "order_id", "type": "string" }, { "name": "amount", "type": "decimal(18,2)" },
        { "name": "event_ts", "type": "timestamp" }, { "name": "items", "type": "array<struct<sku:string,qty:int>>" } ] });
    let measures = json!({ "measures": { "orders": "count(*)", "revenue": "sum(amount)", "last": "max(event_ts)",
        "currencies": "count(distinct currency)" } });
    [
        ("json", columns, messages()),
        ("orders", json!({}), messages()),
        ("later/orders-v3", json!({}), messages()),
        ("order-rules", json!({ "currencies": ["EUR", "USD"] }), orders(false)),
        ("top-n", json!({ "n": 3, "order_by": ["amount desc", "order_id"] }), orders(true)),
        ("aggregate", measures, orders(true)),
    ]
}

/// Orders as JSON, in three versions, some of them broken.
fn messages() -> RecordBatch {
    let message = |n: usize| -> Option<Vec<u8>> {
        let more = match n % 5 {
            0 => "",
            1 => r#","customer_id":"c-1","country":"ES","currency":"EUR""#,
            2 => r#","channel":"web","items":[{"sku":"a","qty":2},{"sku":null}]"#,
            3 => r#","amount":1"#,
            _ => r#","event_ts":"ayer""#,
        };
        let text = format!(
            r#"{{"order_id":"o-{n}","event_ts":"2026-03-14T09:26:53.{:03}Z","amount":{}.5,"schema_version":{}{more}}}"#,
            n % 1000,
            n % 77,
            1 + n % 4
        );
        match n % 13 {
            11 => None,
            12 => Some(text.as_bytes()[..text.len() / 2].to_vec()),
            _ => Some(text.into_bytes()),
        }
    };
    let payloads: ArrayRef = Arc::new((0..ROWS).map(message).collect::<BinaryArray>());
    RecordBatch::try_from_iter_with_nullable([("payload", payloads, true)]).unwrap()
}

/// Orders as rows, 100 a group when they are in groups.
fn orders(grouped: bool) -> RecordBatch {
    let numbers = || 0..ROWS as i64;
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values(numbers().map(|n| format!("o-{n:06}"))));
    let times = numbers().map(|n| (n % 17 != 0).then_some(NOW_US + (n % 5 - 2) * DAY_US));
    let times: ArrayRef = Arc::new(times.collect::<TimestampMicrosecondArray>().with_timezone("UTC"));
    let amounts = numbers().map(|n| (n % 19 != 0).then_some(i128::from(n * 37 % 101 - 3)));
    let amounts = amounts.collect::<Decimal128Array>().with_precision_and_scale(18, 2).unwrap();
    let currencies = numbers().map(|n| ["EUR", "USD", "XXX"].get(n as usize % 4).copied());
    let mut columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("order_id", ids, false),
        ("event_ts", times, true),
        ("amount", Arc::new(amounts), true),
        ("currency", Arc::new(currencies.collect::<StringArray>()), true),
    ];
    if grouped {
        columns.push(("_group", Arc::new(numbers().map(|n| Some(n as i32 / 100)).collect::<Int32Array>()), false));
    }
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// What a component gives when it gets the rows in pieces.
fn answers(component: &Arc<Component>, options: &Value, input: &RecordBatch, chunk: usize) -> Answers {
    let options = options.as_object().unwrap();
    let limits = Limits { deadline_ms_max: 120_000, ..Limits::default() };
    if matches!(component.kind(), Kind::Ranker | Kind::Aggregator) {
        let without_group = input.project(&[0, 1, 2, 3]).unwrap();
        let stage = component.group_stage(options, without_group.schema_ref(), &limits).unwrap();
        let read = seen(input, &[stage.reads(), &["_group".to_string()]].concat());
        let mut session = stage.session(NOW_US).unwrap();
        let mut given = Vec::new();
        pieces(&read, chunk).for_each(|(_, piece)| given.extend(session.push(&piece).unwrap()));
        given.extend(session.finish().unwrap());
        let index = given.iter().flat_map(|answer| answer.index.iter().copied()).collect();
        let rows = concat_batches(&stage.writes(), given.iter().map(|answer| &answer.rows)).unwrap();
        return Answers { rows: Some(rows), index, rejected: Vec::new() };
    }
    let stage = component.row_stage(options, input.schema_ref(), &limits).unwrap();
    let read = seen(input, stage.reads());
    let (mut batches, mut index, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
    for (first, piece) in pieces(&read, chunk) {
        let output = stage.call(&piece, NOW_US).unwrap();
        batches.extend(output.rows);
        index.extend(output.origin.iter().map(|row| row + first));
        rejected.extend(output.rejected.into_iter().map(|one| Rejected { row: one.row + first, ..one }));
    }
    let rows = (component.kind() != Kind::Validator).then(|| concat_batches(&stage.writes(), &batches).unwrap());
    Answers { rows, index, rejected }
}

fn seen(input: &RecordBatch, names: &[String]) -> RecordBatch {
    let places: Vec<usize> = names.iter().map(|name| input.schema_ref().index_of(name).unwrap()).collect();
    input.project(&places).unwrap()
}

/// Each with the number of its first row.
fn pieces(rows: &RecordBatch, chunk: usize) -> impl Iterator<Item = (u32, RecordBatch)> {
    let starts = (0..rows.num_rows()).step_by(chunk);
    starts.map(move |first| (first as u32, rows.slice(first, chunk.min(rows.num_rows() - first))))
}

/// One line that is the same only for the same answers.
fn digest(answers: &Answers) -> String {
    let mut hasher = Sha256::new();
    if let Some(rows) = &answers.rows {
        hasher.update(crisol_ipc::encode(rows).unwrap());
    }
    hasher.update(format!("{:?}{:?}", answers.index, answers.rejected));
    format!("{:x}", hasher.finalize())
}

#[test]
fn answers_do_not_depend_on_the_size_of_chunks() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    eprintln!("\nclock {now}");
    for (name, options, input) in bundled() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins").join(format!("{name}.wasm"));
        let file =
            std::fs::read(path).unwrap_or_else(|_| panic!("plugins/{name}.wasm: `scripts/plugins.sh` builds it"));
        let component = Arc::new(load(&file).unwrap());
        let first = answers(&component, &options, &input, ROWS_MAX);
        assert!(!first.index.is_empty(), "{name} gave nothing");
        let rejects = !matches!(component.kind(), Kind::Ranker | Kind::Aggregator);
        assert_eq!(!first.rejected.is_empty(), rejects, "{name}");
        for (rows, chunk) in CHUNKS {
            let some = input.slice(0, rows);
            let whole = if rows == ROWS { &first } else { &answers(&component, &options, &some, ROWS_MAX) };
            let again = answers(&component, &options, &some, chunk);
            assert!(again == *whole, "{name} gives something else in chunks of {chunk} rows");
        }
        eprintln!("answers {name} {}", digest(&first));
    }
}

/// Moves the clock of a process by 400 days.
const SHIFT: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (clock == CLOCK_REALTIME) time->tv_sec += 400L * 86400;
    return result;
}
"#;

/// Lines of a process that runs the test above, and what its clock says.
fn run(change: impl FnOnce(&mut Command)) -> (u64, Vec<String>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "determinism::answers_do_not_depend_on_the_size_of_chunks", "--nocapture"]);
    change(&mut command);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    let clock = text.lines().find_map(|line| line.strip_prefix("clock ")).expect("it tells its clock");
    (clock.parse().unwrap(), text.lines().filter(|line| line.starts_with("answers ")).map(Into::into).collect())
}

#[test]
fn answers_do_not_depend_on_clock_time_zone_or_environment() {
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("shift.c"), folder.path().join("shift.so"));
    std::fs::write(&source, SHIFT).unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl").status();
    assert!(built.unwrap().success(), "the library that moves the clock does not build");
    let (now, here) = run(|command| {
        command.env("TZ", "UTC");
    });
    let (later, there) = run(|command| {
        command.env("LD_PRELOAD", &library).env("TZ", "Pacific/Kiritimati").env("LC_ALL", "tr_TR.UTF-8");
        command.env("ORDERS_CURRENCY", "XXX").env("RUST_LOG", "trace");
    });
    assert!(later - now > 399 * 86_400, "the clock was not moved: {now}, {later}");
    assert_eq!(here.len(), bundled().len(), "{here:?}");
    assert_eq!(here, there);
}
