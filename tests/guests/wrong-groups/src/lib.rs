//! An aggregator that counts the rows of a group, and is wrong in the way that its option `fault` names.

use std::ops::Range;
use std::sync::Arc;

use crisol_sdk::arrow::{ArrayRef, Int64Array, RecordBatch, SchemaRef};
use crisol_sdk::columns::Aggregator;
use crisol_sdk::{About, Batch, Column, Failure, Plan, aggregator, types};
use serde::Deserialize;

/// How to be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fault {
    /// Goes on from the count of the group before.
    Carries,
    /// Begins anew with each message.
    Forgets,
}

/// Options of a contract; others are taken, which the schema forbids.
#[derive(Debug, Deserialize)]
pub struct Options {
    fault: Option<Fault>,
}

/// The stage.
#[derive(Debug)]
pub struct WrongGroups {
    fault: Option<Fault>,
    rows: i64,
    done: Vec<i64>,
}

impl Aggregator for WrongGroups {
    type Options = Options;
    const ABOUT: About = About::new("wrong-groups", "1.0.0").options(
        r#"{
            "type": "object", "properties": { "fault": { "enum": ["carries", "forgets"] } }, "additionalProperties": false
        }"#,
    );

    fn plan(_: &Options, input: &[Column]) -> Result<Plan, Failure> {
        if !input.iter().any(|column| column.name == "id") {
            return Err(Failure::input("it needs `id`"));
        }
        let rows = Column::new("rows", types::parse("bigint").map_err(Failure::bug)?);
        Ok(Plan { reads: vec!["id".into()], writes: vec![rows] })
    }

    fn open(options: Options, _: &SchemaRef, _: &Batch) -> Result<Self, Failure> {
        Ok(Self { fault: options.fault, rows: 0, done: Vec::new() })
    }

    fn add(&mut self, _: &RecordBatch, range: Range<usize>) -> Result<(), Failure> {
        let before = if self.fault == Some(Fault::Forgets) { 0 } else { self.rows };
        self.rows = before + range.len() as i64;
        Ok(())
    }

    fn close(&mut self) -> Result<bool, Failure> {
        self.done.push(self.rows);
        if self.fault != Some(Fault::Carries) {
            self.rows = 0;
        }
        Ok(true)
    }

    fn take(&mut self) -> Result<Vec<ArrayRef>, Failure> {
        Ok(vec![Arc::new(Int64Array::from(std::mem::take(&mut self.done))) as ArrayRef])
    }
}

aggregator!(columns WrongGroups);
