//! The decoder: `value` is `id`; ids that end with 3 are quarantined, with 4 filtered.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use crisol_ipc::{Fate, Limits, Rejections};

use crate::crisol::stage::types::{Column, Failure};
use crate::exports::crisol::stage::transform::{Guest, GuestSession, Output, Session};
use crate::{Component, ambient, disaster, failure, wanted};

static CALLS: AtomicI64 = AtomicI64::new(0);

pub struct Work {
    what: String,
    input: Vec<Column>,
    timestamp: i64,
    pushes: Cell<i64>,
}

impl Guest for Component {
    type Session = Work;
}

/// What goes out: values, their rows, rejections.
struct Answer {
    values: Vec<i64>,
    rows: Vec<i32>,
    rejections: Rejections,
}

impl GuestSession for Work {
    fn open(options: String, input: Vec<Column>, timestamp: i64) -> Result<Session, Failure> {
        let what = wanted(&options);
        if let Some(disaster) = what.strip_prefix("open-") {
            disaster::happen(disaster);
        }
        if what == "fail-open" {
            return Err(failure("input", "no such\nfield"));
        }
        Ok(Session::new(Work { what, input, timestamp, pushes: Cell::new(0) }))
    }

    fn push(&self, rows: Vec<u8>) -> Result<Output, Failure> {
        if let Some(disaster) = self.what.strip_prefix("push-") {
            disaster::happen(disaster);
        }
        let columns = self.input.iter().map(|c| (c.name.as_str(), c.type_.as_str(), c.nullable));
        let schema = crisol_ipc::schema_of(columns).map_err(|e| failure("input", &e))?;
        let batch =
            crisol_ipc::decode(rows, &schema, &Limits::default()).map_err(|e| failure("input", &e.to_string()))?;
        let ids: Vec<i64> = batch.column(0).as_primitive::<Int64Type>().values().to_vec();
        match self.what.as_str() {
            "fail-push" => return Err(failure("bug", "cannot go on")),
            "ambient" => return Err(failure("told", &ambient::told())),
            "garbage" => return Ok(bytes(vec![7; 1000])),
            "empty" => return Ok(bytes(Vec::new())),
            "huge" => return Ok(bytes(vec![0; 4 << 20])),
            "wrong-schema" => return Ok(bytes(wrong_schema(&ids))),
            _ => {}
        }
        let mut answer = honest(&ids);
        self.spoil(&mut answer, &ids);
        Ok(self.output(answer))
    }
}

impl Work {
    fn spoil(&self, answer: &mut Answer, ids: &[i64]) {
        let last = answer.rows.len() - 1;
        let refuse =
            |answer: &mut Answer, row: i32, code: &str| answer.rejections.push(row, Fate::Quarantine, code, "t");
        match self.what.as_str() {
            "out-of-range" => answer.rows[last] = ids.len() as i32,
            "negative" => answer.rows[0] = -1,
            "backwards" => answer.rows.reverse(),
            "dropped" => {
                answer.rows.remove(0);
                answer.values.remove(0);
            }
            "both" => refuse(answer, 0, "both"),
            "twice" => refuse(answer, 3, "twice"),
            "rejected-range" => refuse(answer, ids.len() as i32, "range"),
            "long-code" => refuse(answer, 0, &"c".repeat(1_000_000)),
            "escape-code" => refuse(answer, 0, "\u{1b}[2J"),
            "explode" => {
                answer.rows = (0..ids.len() as i32).flat_map(|row| [row; 1000]).collect();
                answer.values = vec![1; answer.rows.len()];
                answer.rejections = Rejections::default();
            }
            "timestamp" => answer.values.fill(self.timestamp),
            "calls" => answer.values.fill(CALLS.fetch_add(1, Ordering::Relaxed)),
            "pushes" => answer.values.fill(self.pushes.replace(self.pushes.get() + 1)),
            "leak" => std::mem::forget(std::hint::black_box(vec![1_u8; 8 << 20])),
            _ => {}
        }
    }

    fn output(&self, answer: Answer) -> Output {
        let values: ArrayRef = Arc::new(Int64Array::from(answer.values));
        let mut rows = encoded("value", values, answer.rows);
        match self.what.as_str() {
            "truncated" => rows.truncate(rows.len() - 8),
            "trailing" => rows.extend([0; 8]),
            _ => {}
        }
        let rejected = answer.rejections.finish().unwrap().map(|batch| crisol_ipc::encode(&batch).unwrap());
        let rejected = if self.what == "garbage-rejected" { Some(vec![255; 64]) } else { rejected };
        Output { rows, rejected }
    }
}

fn honest(ids: &[i64]) -> Answer {
    let mut answer = Answer { values: Vec::new(), rows: Vec::new(), rejections: Rejections::default() };
    for (row, id) in ids.iter().enumerate() {
        match id % 10 {
            3 => {
                answer.rejections.push(row as i32, Fate::Quarantine, "three", &format!("id {id} ends with \u{1b}[1m3"))
            }
            4 => answer.rejections.push(row as i32, Fate::Filter, "four", "not wanted"),
            _ => {
                answer.values.push(*id);
                answer.rows.push(row as i32);
            }
        }
    }
    answer
}

fn wrong_schema(ids: &[i64]) -> Vec<u8> {
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(ids.iter().map(ToString::to_string)));
    encoded("value", texts, (0..ids.len() as i32).collect())
}

fn encoded(name: &str, column: ArrayRef, rows: Vec<i32>) -> Vec<u8> {
    let schema = Arc::new(Schema::new(vec![
        Field::new(name, column.data_type().clone(), false),
        Field::new("_row", DataType::Int32, false),
    ]));
    let rows: ArrayRef = Arc::new(Int32Array::from(rows));
    crisol_ipc::encode(&RecordBatch::try_new(schema, vec![column, rows]).unwrap()).unwrap()
}

fn bytes(rows: Vec<u8>) -> Output {
    Output { rows, rejected: None }
}
