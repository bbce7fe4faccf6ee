//! The ranker gives the first id of each group, the aggregator their sum; both as soon as the group is complete.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use crisol_ipc::Limits;

use crate::crisol::stage::types::{Column, Failure};
use crate::exports::crisol::stage::group::{Guest, GuestSession, Session};
use crate::{Component, ambient, description, disaster, failure, wanted};

/// Sessions of this instance.
static SESSIONS: AtomicI64 = AtomicI64::new(0);

pub struct Work {
    what: String,
    input: Vec<Column>,
    timestamp: i64,
    aggregates: bool,
    seen: RefCell<Seen>,
}

#[derive(Default)]
struct Seen {
    rows: i32,
    /// Number, first row, first id and sum of each group that is not yet answered.
    groups: Vec<(i32, i32, i64, i64)>,
}

impl Guest for Component {
    type Session = Work;
}

impl GuestSession for Work {
    fn open(options: String, input: Vec<Column>, timestamp: i64) -> Result<Session, Failure> {
        let what = wanted(&options);
        if let Some(disaster) = what.strip_prefix("open-") {
            disaster::happen(disaster);
        }
        SESSIONS.fetch_add(1, Ordering::Relaxed);
        let aggregates = description().contains("\"kind\":\"aggregator\"");
        Ok(Session::new(Work { what, input, timestamp, aggregates, seen: RefCell::default() }))
    }

    fn push(&self, rows: Vec<u8>) -> Result<Vec<Vec<u8>>, Failure> {
        if let Some(disaster) = self.what.strip_prefix("push-") {
            disaster::happen(disaster);
        }
        if self.what == "ambient" {
            return Err(failure("told", &ambient::told()));
        }
        self.see(rows)?;
        let mut seen = self.seen.borrow_mut();
        let complete = seen.groups.len().saturating_sub(1);
        let groups: Vec<_> = seen.groups.drain(..complete).collect();
        Ok(self.answer(groups))
    }

    fn finish(&self) -> Result<Vec<Vec<u8>>, Failure> {
        if let Some(disaster) = self.what.strip_prefix("finish-") {
            disaster::happen(disaster);
        }
        let mut seen = self.seen.borrow_mut();
        let groups = std::mem::take(&mut seen.groups);
        Ok(self.answer(groups))
    }
}

impl Work {
    fn see(&self, rows: Vec<u8>) -> Result<(), Failure> {
        let columns = self.input.iter().map(|c| (c.name.as_str(), c.type_.as_str(), c.nullable));
        let columns = columns.chain([("_group", "int", false)]);
        let schema = crisol_ipc::schema_of(columns).map_err(|e| failure("input", &e))?;
        let batch =
            crisol_ipc::decode(rows, &schema, &Limits::default()).map_err(|e| failure("input", &e.to_string()))?;
        let groups = batch.columns().last().unwrap().as_primitive::<Int32Type>();
        let ids = batch.column(0).as_primitive_opt::<Int64Type>();
        let mut seen = self.seen.borrow_mut();
        for row in 0..batch.num_rows() {
            let (group, id) = (groups.value(row), ids.map_or(1, |ids| ids.value(row)));
            let number = seen.rows;
            match seen.groups.last_mut() {
                Some(last) if last.0 == group => last.3 += id,
                _ => seen.groups.push((group, number, id, id)),
            }
            seen.rows += 1;
        }
        Ok(())
    }

    fn answer(&self, groups: Vec<(i32, i32, i64, i64)>) -> Vec<Vec<u8>> {
        let mut index: Vec<i32> = groups.iter().map(|g| if self.aggregates { g.0 } else { g.1 }).collect();
        let mut values: Vec<i64> = groups.iter().map(|g| if self.aggregates { g.3 } else { g.2 }).collect();
        if index.is_empty() {
            return Vec::new();
        }
        match self.what.as_str() {
            "skip" => return Vec::new(),
            "twice" => (index, values) = (index.repeat(2), values.repeat(2)),
            "backwards" => {
                index.reverse();
                values.reverse();
            }
            "timestamp" => values.fill(self.timestamp),
            "sessions" => values.fill(SESSIONS.load(Ordering::Relaxed)),
            _ => {}
        }
        if self.what == "large" {
            (index, values) = ((0..9_000).collect(), vec![0; 9_000]);
        }
        vec![encoded(Arc::new(Int64Array::from(values)), index)]
    }
}

fn encoded(values: ArrayRef, index: Vec<i32>) -> Vec<u8> {
    let schema = Arc::new(Schema::new(vec![
        Field::new("value", values.data_type().clone(), true),
        Field::new("_index", DataType::Int32, false),
    ]));
    let index: ArrayRef = Arc::new(Int32Array::from(index));
    crisol_ipc::encode(&RecordBatch::try_new(schema, vec![values, index]).unwrap()).unwrap()
}
