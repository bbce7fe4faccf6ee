//! The decoder: `value` is `id`; ids that end with 3 are quarantined, with 4 filtered.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch};
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
        if self.what == "ambient" {
            return Err(failure("told", &ambient::told()));
        }
        let mut answer = honest(&ids);
        self.spoil(&mut answer, &ids);
        Ok(self.output(answer))
    }
}

impl Work {
    fn spoil(&self, answer: &mut Answer, ids: &[i64]) {
        match self.what.as_str() {
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
        let rows = encoded("value", values, answer.rows);
        let rejected = answer.rejections.finish().unwrap().map(|batch| crisol_ipc::encode(&batch).unwrap());
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

fn encoded(name: &str, column: ArrayRef, rows: Vec<i32>) -> Vec<u8> {
    let schema = Arc::new(Schema::new(vec![
        Field::new(name, column.data_type().clone(), false),
        Field::new("_row", DataType::Int32, false),
    ]));
    let rows: ArrayRef = Arc::new(Int32Array::from(rows));
    crisol_ipc::encode(&RecordBatch::try_new(schema, vec![column, rows]).unwrap()).unwrap()
}
