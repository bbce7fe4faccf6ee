//! Rows of all types, given back as they came: over rows.

use std::cell::Cell;

use crisol_guest_conformance::{Copying, Row, divides, refused, skipped};
use crisol_sdk::{About, Batch, Failure, Rejection, Timestamp, Transformer, transformer};

/// The stage.
#[derive(Debug)]
pub struct Conformance {
    asked: Copying,
    now: Timestamp,
    /// Rows of the message so far.
    rows: Cell<usize>,
}

impl Transformer for Conformance {
    type Options = Copying;
    type Input<'a> = Row<'a>;
    type Output<'a> = Row<'a>;
    const ABOUT: About = Copying::ABOUT;

    fn open(asked: Copying, batch: &Batch) -> Result<Self, Failure> {
        asked.opened()?;
        Ok(Conformance { asked, now: Timestamp { micros: batch.timestamp_us }, rows: Cell::default() })
    }

    fn begin(&mut self) -> Result<(), Failure> {
        self.rows.set(0);
        self.asked.pushed()
    }

    fn transform<'a>(&self, mut row: Row<'a>, out: &mut Vec<Row<'a>>) -> Result<(), Rejection> {
        let number = self.rows.get() + 1;
        self.rows.set(number);
        if divides(self.asked.reject_every, number) {
            return Err(refused(number, row.s.as_deref()));
        }
        if divides(self.asked.filter_every, number) {
            return Err(skipped());
        }
        if self.asked.stamp {
            row.ts = Some(self.now);
        }
        out.resize(self.asked.repeat.map_or(1, |repeat| repeat.get()), row);
        Ok(())
    }
}

transformer!(Conformance);
