//! Transformers and validators over the table of all types.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, TimestampMicrosecondArray, UInt32Array};
use arrow_select::take::take_record_batch;
use crisol_ipc::types;
use crisol_plugin::{Rejected, RowOutput, RowStage, printable};
use serde_json::{Value, json};

use super::{NOW_US, options, table, told};
use crate::Kind;
use crate::conformance::given::limits;
use crate::conformance::{Suite, compare};

/// What a stage does to the rows of a message.
#[derive(Debug, Clone, Copy)]
struct Rules {
    reject_every: Option<usize>,
    filter_every: Option<usize>,
    repeat: usize,
    stamp: bool,
}

impl Suite {
    pub(super) fn changed_or_judged(&mut self) {
        let kind = self.component.kind();
        let schema = table::all();
        let messages = match table::messages(&schema) {
            Ok(messages) => messages,
            Err(error) => return self.holds("exact: rows can be made", || Err(told(error))),
        };
        for written in sets(kind) {
            let component = self.component.clone();
            self.holds(&format!("exact: rows of all types, options {written}"), || {
                let rules = Rules::of(&written);
                let stage = component.row_stage(&options(written), &schema, &limits()).map_err(told)?;
                in_one_session(&stage, rules, &messages)?;
                kept(&stage, rules, &messages)
            });
        }
    }
}

fn sets(kind: Kind) -> Vec<Value> {
    let mut sets = vec![
        json!({}),
        json!({ "reject_every": 1 }),
        json!({ "reject_every": 3 }),
        json!({ "filter_every": 2 }),
        json!({ "reject_every": 3, "filter_every": 2 }),
    ];
    if kind == Kind::Transformer {
        sets.extend([json!({ "repeat": 3 }), json!({ "stamp": true })]);
        sets.push(json!({ "reject_every": 4, "filter_every": 3, "repeat": 2, "stamp": true }));
    }
    sets
}

/// One message after the other, and the small ones once more.
fn in_one_session(stage: &RowStage, rules: Rules, messages: &[(&str, RecordBatch)]) -> Result<(), String> {
    let mut session = stage.session(NOW_US);
    let small = messages.iter().filter(|(_, rows)| rows.num_rows() < 100);
    messages.iter().chain(small).try_for_each(|(name, rows)| {
        let output = session.push(rows).map_err(|error| format!("{name}: {error}"))?;
        compare::outputs(&expected(stage, rows, rules, NOW_US)?, &output).map_err(|what| format!("{name}: {what}"))
    })
}

/// In an instance that is kept, at one time after the other.
fn kept(stage: &RowStage, rules: Rules, messages: &[(&str, RecordBatch)]) -> Result<(), String> {
    let small = || messages.iter().filter(|(_, rows)| rows.num_rows() < 100);
    let times = [NOW_US, NOW_US, NOW_US + 1, -1];
    times.into_iter().flat_map(|now| small().map(move |message| (now, message))).try_for_each(|(now, (name, rows))| {
        let output = stage.call(rows, now).map_err(|error| format!("{name}, kept: {error}"))?;
        compare::outputs(&expected(stage, rows, rules, now)?, &output).map_err(|what| format!("{name}, kept: {what}"))
    })
}

fn expected(stage: &RowStage, rows: &RecordBatch, rules: Rules, now: i64) -> Result<RowOutput, String> {
    match stage.component().kind() {
        Kind::Validator => Ok(judged(rows, rules)),
        _ => changed(rows, rules, now),
    }
}

impl Rules {
    fn of(written: &Value) -> Self {
        let number = |key: &str| written.get(key).and_then(Value::as_u64).map(|number| number as usize);
        Self {
            reject_every: number("reject_every"),
            filter_every: number("filter_every"),
            repeat: number("repeat").unwrap_or(1),
            stamp: written.get("stamp") == Some(&json!(true)),
        }
    }

    fn rejects(self, number: usize) -> bool {
        self.reject_every.is_some_and(|every| number.is_multiple_of(every))
    }

    fn filters(self, number: usize) -> bool {
        self.filter_every.is_some_and(|every| number.is_multiple_of(every))
    }
}

/// The text of `s` in a row; `None`: null.
fn text(rows: &RecordBatch, row: usize) -> Option<&str> {
    let column = rows.column_by_name("s").and_then(|column| column.as_string_opt::<i32>())?;
    column.is_valid(row).then(|| column.value(row))
}

fn rejected(row: usize, filter: bool, code: &str, text: &str) -> Rejected {
    let text = printable(text, limits().text_bytes_max as usize);
    Rejected { row: row as u32, filter, code: code.into(), text }
}

fn every(rows: &RecordBatch, row: usize) -> Rejected {
    rejected(row, false, "every", &format!("row {}: {}", row + 1, text(rows, row).unwrap_or("null")))
}

fn changed(rows: &RecordBatch, rules: Rules, now: i64) -> Result<RowOutput, String> {
    let (mut origin, mut refused) = (Vec::new(), Vec::new());
    for row in 0..rows.num_rows() {
        if rules.rejects(row + 1) {
            refused.push(every(rows, row));
        } else if rules.filters(row + 1) {
            refused.push(rejected(row, true, "skipped", ""));
        } else {
            origin.extend(std::iter::repeat_n(row as u32, rules.repeat));
        }
    }
    let mut out = take_record_batch(rows, &UInt32Array::from(origin.clone())).map_err(told)?;
    if rules.stamp {
        let stamps = TimestampMicrosecondArray::from(vec![now; origin.len()]).with_timezone(types::UTC);
        let mut columns = out.columns().to_vec();
        columns[out.schema_ref().index_of("ts").map_err(told)?] = Arc::new(stamps);
        out = RecordBatch::try_new(out.schema(), columns).map_err(told)?;
    }
    Ok(RowOutput { rows: Some(out), origin, rejected: refused })
}

/// With what a host makes of several reasons: the first, and the codes of the others in its text.
fn judged(rows: &RecordBatch, rules: Rules) -> RowOutput {
    let (mut origin, mut refused) = (Vec::new(), Vec::new());
    for row in 0..rows.num_rows() {
        let mut broken = broken(rows, row, rules).into_iter();
        let Some(mut first) = broken.next() else {
            origin.push(row as u32);
            continue;
        };
        let others: Vec<String> = broken.map(|other| other.code).collect();
        if !others.is_empty() {
            first = rejected(row, first.filter, &first.code, &format!("{} (also {})", first.text, others.join(", ")));
        }
        refused.push(first);
    }
    RowOutput { rows: None, origin, rejected: refused }
}

fn broken(rows: &RecordBatch, row: usize, rules: Rules) -> Vec<Rejected> {
    let flags = rows.column_by_name("b").and_then(|column| column.as_boolean_opt());
    let mut broken = Vec::new();
    if flags.is_some_and(|flags| flags.is_valid(row) && !flags.value(row)) {
        broken.push(rejected(row, false, "b_false", ""));
    }
    if text(rows, row).is_none() {
        broken.push(rejected(row, false, "s_null", &format!("row {} has no s", row + 1)));
    }
    if rules.rejects(row + 1) {
        broken.push(every(rows, row));
    }
    if rules.filters(row + 1) {
        broken.push(rejected(row, true, "skipped", ""));
    }
    broken
}
