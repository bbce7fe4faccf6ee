//! A transformer that gives `id` back as it came, and is wrong in the way that its option `fault` names.
#![allow(clippy::panic, reason = "a defect")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crisol_sdk::arrow::cast::AsArray;
use crisol_sdk::arrow::types::Int64Type;
use crisol_sdk::arrow::{ArrayRef, Int64Array, RecordBatch, SchemaRef};
use crisol_sdk::columns::{Output, Stage};
use crisol_sdk::{About, Batch, Column, Failure, Plan, transformer, types};
use serde::Deserialize;

/// Sessions that were opened in this instance.
static OPENED: AtomicI64 = AtomicI64::new(0);

/// How to be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fault {
    /// The last row of a message is neither given nor rejected.
    Loses,
    /// Adds how many rows it has seen in the session.
    Counts,
    /// Adds how many sessions were opened before.
    Ages,
    /// Traps on an empty name.
    Traps,
    /// What it writes depends on columns that it does not read.
    Peeks,
    /// Needs rows that are not there.
    Hungers,
}

/// Options of a contract.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    fault: Option<Fault>,
}

/// The stage.
#[derive(Debug)]
pub struct WrongRows {
    fault: Option<Fault>,
    seen: i64,
    older: i64,
}

impl Stage for WrongRows {
    type Options = Options;
    const ABOUT: About = About::new("wrong-rows", "1.0.0").reuse().options(
        r#"{
            "type": "object",
            "properties": { "fault": { "enum": ["loses", "counts", "ages", "traps", "peeks", "hungers"] } },
            "additionalProperties": false
        }"#,
    );

    fn plan(options: &Options, input: &[Column]) -> Result<Plan, Failure> {
        let known = |name: &str| input.iter().any(|column| column.name == name);
        if !known("id") || !known("name") {
            return Err(Failure::input("it needs `id` and `name`"));
        }
        let more = options.fault == Some(Fault::Peeks) && input.len() > 2;
        let id = Column::new(if more { "more" } else { "id" }, types::parse("bigint").map_err(Failure::bug)?);
        Ok(Plan { reads: vec!["id".into(), "name".into()], writes: vec![id] })
    }

    fn open(options: Options, _: &SchemaRef, _: &Batch) -> Result<Self, Failure> {
        Ok(Self { fault: options.fault, seen: 0, older: OPENED.fetch_add(1, Ordering::Relaxed) })
    }

    fn push(&mut self, rows: &RecordBatch) -> Result<Output, Failure> {
        let names = rows.column(1).as_string::<i32>();
        match self.fault {
            Some(Fault::Traps) if names.iter().flatten().any(str::is_empty) => panic!("an empty name brings bad luck"),
            Some(Fault::Hungers) if rows.num_rows() == 0 => panic!("where are the rows?"),
            _ => {}
        }
        let more = match self.fault {
            Some(Fault::Counts) => self.seen,
            Some(Fault::Ages) => self.older,
            _ => 0,
        };
        self.seen += rows.num_rows() as i64;
        let ids: &Int64Array = rows.column(0).as_primitive::<Int64Type>();
        let given = ids.len() - usize::from(self.fault == Some(Fault::Loses) && !ids.is_empty());
        let ids: Int64Array = ids.iter().take(given).map(|id| id.map(|id| id.wrapping_add(more))).collect();
        let origin = (0..given as i32).collect();
        Ok(Output { columns: vec![Arc::new(ids) as ArrayRef], origin, ..Output::default() })
    }
}

transformer!(columns WrongRows);
