//! A transformer called `conformance` that does little of what its name promises: it makes empty texts of nulls, leaves out
//! the text of rejections, and heeds neither `repeat` nor `stamp`.

use std::sync::Arc;

use arrow_select::take::take_record_batch;
use crisol_sdk::arrow::cast::AsArray;
use crisol_sdk::arrow::{ArrayRef, RecordBatch, SchemaRef, StringArray, UInt32Array};
use crisol_sdk::columns::{Output, Stage};
use crisol_sdk::{About, Batch, Column, Failure, Fate, Level, Plan, Rejections, log, transformer};
use serde::Deserialize;

/// Options of a contract; others are taken.
#[derive(Debug, Deserialize)]
pub struct Options {
    reject_every: Option<usize>,
    log: Option<String>,
    fail: Option<String>,
}

/// The stage.
#[derive(Debug)]
pub struct FalseConformance {
    options: Options,
}

impl Stage for FalseConformance {
    type Options = Options;
    const ABOUT: About = About::new("conformance", "0.1.0").reuse().options(
        r#"{
            "type": "object",
            "properties": {
                "reject_every": {}, "filter_every": {}, "repeat": {}, "stamp": {}, "log": {}, "fail": {}
            },
            "additionalProperties": false
        }"#,
    );

    fn plan(_: &Options, input: &[Column]) -> Result<Plan, Failure> {
        if !input.iter().any(|column| column.name == "s") {
            return Err(Failure::input("it needs `s`"));
        }
        let reads = input.iter().map(|column| column.name.clone()).collect();
        Ok(Plan { reads, writes: input.to_vec() })
    }

    fn open(options: Options, _: &SchemaRef, _: &Batch) -> Result<Self, Failure> {
        if let Some(text) = &options.log {
            log(Level::Warn, text);
        }
        match options.fail.as_deref() {
            Some("open") => Err(Failure::new("refused", "to fail in open")),
            _ => Ok(Self { options }),
        }
    }

    fn push(&mut self, rows: &RecordBatch) -> Result<Output, Failure> {
        if let Some(place @ ("push" | "trap")) = self.options.fail.as_deref() {
            return Err(Failure::new("asked", format!("to fail in {place}")));
        }
        let (mut origin, mut rejected) = (Vec::new(), Rejections::default());
        for row in 0..rows.num_rows() {
            match self.options.reject_every {
                Some(every) if (row + 1).is_multiple_of(every.max(1)) => {
                    rejected.push(row as i32, Fate::Quarantine, "every", "");
                }
                _ => origin.push(row as u32),
            }
        }
        let kept = take_record_batch(rows, &UInt32Array::from(origin.clone())).map_err(Failure::bug)?;
        let columns = kept.schema_ref().fields().iter().zip(kept.columns());
        let columns =
            columns.map(|(field, column)| if field.name() == "s" { without_nulls(column) } else { column.clone() });
        Ok(Output { columns: columns.collect(), origin: origin.iter().map(|row| *row as i32).collect(), rejected })
    }
}

fn without_nulls(column: &ArrayRef) -> ArrayRef {
    let texts: StringArray = column.as_string::<i32>().iter().map(|text| Some(text.unwrap_or_default())).collect();
    Arc::new(texts)
}

transformer!(columns FalseConformance);
