//! Rules over rows of all types: over columns.

use crisol_guest_conformance::{Judging, divides, reads, refused, reject, skipped};
use crisol_sdk::arrow::{Array, RecordBatch, SchemaRef};
use crisol_sdk::columns::{Validator, read};
use crisol_sdk::{About, Batch, Column, Failure, Rejection, Rejections, Text, validator};

/// The stage.
#[derive(Debug)]
pub struct Conformance(Judging);

impl Validator for Conformance {
    type Options = Judging;
    const ABOUT: About = Judging::ABOUT;

    fn reads(_: &Judging, input: &[Column]) -> Result<Vec<String>, Failure> {
        reads(input)
    }

    fn open(asked: Judging, _: &SchemaRef, _: &Batch) -> Result<Self, Failure> {
        asked.opened()?;
        Ok(Conformance(asked))
    }

    fn check(&mut self, rows: &RecordBatch) -> Result<Rejections, Failure> {
        self.0.pushed()?;
        let (truths, texts) = (read::<bool>(rows, "b")?, read::<Text<'_>>(rows, "s")?);
        let mut broken = Rejections::default();
        for row in 0..rows.num_rows() {
            let number = row + 1;
            let text = texts.is_valid(row).then(|| texts.value(row));
            if truths.is_valid(row) && !truths.value(row) {
                reject(&mut broken, row, &Rejection::new("b_false", ""));
            }
            if text.is_none() {
                reject(&mut broken, row, &Rejection::new("s_null", format!("row {number} has no s")));
            }
            if divides(self.0.reject_every, number) {
                reject(&mut broken, row, &refused(number, text));
            }
            if divides(self.0.filter_every, number) {
                reject(&mut broken, row, &skipped());
            }
        }
        Ok(broken)
    }
}

validator!(columns Conformance);
