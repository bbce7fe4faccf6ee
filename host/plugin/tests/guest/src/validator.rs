//! The validator: ids that end with 3 break two rules, with 4 they are filtered.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use crisol_ipc::{Fate, Limits, Rejections};

use crate::crisol::stage::types::{Column, Failure};
use crate::exports::crisol::stage::verdicts::{Guest, GuestSession, Session};
use crate::{Component, ambient, disaster, failure, wanted};

pub struct Work {
    what: String,
    input: Vec<Column>,
}

impl Guest for Component {
    type Session = Work;
}

impl GuestSession for Work {
    fn open(options: String, input: Vec<Column>, _timestamp: i64) -> Result<Session, Failure> {
        let what = wanted(&options);
        if let Some(disaster) = what.strip_prefix("open-") {
            disaster::happen(disaster);
        }
        Ok(Session::new(Work { what, input }))
    }

    fn check(&self, rows: Vec<u8>) -> Result<Option<Vec<u8>>, Failure> {
        if let Some(disaster) = self.what.strip_prefix("push-") {
            disaster::happen(disaster);
        }
        let columns = self.input.iter().map(|c| (c.name.as_str(), c.type_.as_str(), c.nullable));
        let schema = crisol_ipc::schema_of(columns).map_err(|e| failure("input", &e))?;
        let batch =
            crisol_ipc::decode(rows, &schema, &Limits::default()).map_err(|e| failure("input", &e.to_string()))?;
        let mut rejections = Rejections::default();
        match self.what.as_str() {
            "ambient" => return Err(failure("told", &ambient::told())),
            "rejected-range" => rejections.push(batch.num_rows() as i32, Fate::Quarantine, "range", "t"),
            "pass" => return Ok(None),
            _ => {}
        }
        for (row, id) in batch.column(0).as_primitive::<Int64Type>().values().iter().enumerate() {
            match id % 10 {
                3 => {
                    rejections.push(row as i32, Fate::Quarantine, "three", "ends with 3");
                    rejections.push(row as i32, Fate::Quarantine, "odd", "is odd");
                }
                4 => rejections.push(row as i32, Fate::Filter, "four", "not wanted"),
                _ => {}
            }
        }
        let batch = rejections.finish().map_err(|e| failure("bug", &e.to_string()))?;
        batch.map(|batch| crisol_ipc::encode(&batch).map_err(|e| failure("bug", &e.to_string()))).transpose()
    }
}
