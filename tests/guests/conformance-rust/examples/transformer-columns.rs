//! Rows of all types, given back as they came: over columns.

use std::sync::Arc;

use crisol_guest_conformance::{Copying, columns, divides, reads, refused, reject, skipped};
use crisol_sdk::arrow::{Array, ArrayRef, Int32Array, RecordBatch, SchemaRef, TimestampMicrosecondArray, take};
use crisol_sdk::columns::{Output, Stage, read};
use crisol_sdk::{About, Batch, Column, Failure, Plan, Text, transformer, types};

/// The stage.
#[derive(Debug)]
pub struct Conformance {
    asked: Copying,
    now_us: i64,
}

impl Stage for Conformance {
    type Options = Copying;
    const ABOUT: About = Copying::ABOUT;

    fn plan(_: &Copying, input: &[Column]) -> Result<Plan, Failure> {
        Ok(Plan { reads: reads(input)?, writes: columns() })
    }

    fn open(asked: Copying, _: &SchemaRef, batch: &Batch) -> Result<Self, Failure> {
        asked.opened()?;
        Ok(Conformance { asked, now_us: batch.timestamp_us })
    }

    fn push(&mut self, rows: &RecordBatch) -> Result<Output, Failure> {
        self.asked.pushed()?;
        let texts = read::<Text<'_>>(rows, "s")?;
        let mut output = Output::default();
        for row in 0..rows.num_rows() {
            let number = row + 1;
            if divides(self.asked.reject_every, number) {
                let text = texts.is_valid(row).then(|| texts.value(row));
                reject(&mut output.rejected, row, &refused(number, text));
            } else if divides(self.asked.filter_every, number) {
                reject(&mut output.rejected, row, &skipped());
            } else {
                let times = self.asked.repeat.map_or(1, |repeat| repeat.get());
                output.origin.extend(std::iter::repeat_n(row as i32, times));
            }
        }
        output.columns = self.taken(rows, &output.origin)?;
        Ok(output)
    }
}

impl Conformance {
    fn taken(&self, rows: &RecordBatch, origin: &[i32]) -> Result<Vec<ArrayRef>, Failure> {
        let indices = Int32Array::from(origin.to_vec());
        let schema = rows.schema();
        let columns = schema.fields().iter().zip(rows.columns());
        columns
            .map(|(field, column)| {
                if self.asked.stamp && field.name() == "ts" {
                    let now = TimestampMicrosecondArray::from_value(self.now_us, origin.len());
                    return Ok(Arc::new(now.with_timezone(types::UTC)) as ArrayRef);
                }
                Ok(take(column, &indices, None)?)
            })
            .collect()
    }
}

transformer!(columns Conformance);
