//! Rules over rows of all types: over rows.

use std::cell::Cell;

use crisol_guest_conformance::{Judging, Row, divides, refused, skipped};
use crisol_sdk::{About, Batch, Failure, Rejection, Validator, validator};

/// The stage.
#[derive(Debug)]
pub struct Conformance {
    asked: Judging,
    /// Rows of the message so far.
    rows: Cell<usize>,
}

impl Validator for Conformance {
    type Options = Judging;
    type Row<'a> = Row<'a>;
    const ABOUT: About = Judging::ABOUT;

    fn open(asked: Judging, _: &Batch) -> Result<Self, Failure> {
        asked.opened()?;
        Ok(Conformance { asked, rows: Cell::default() })
    }

    fn begin(&mut self) -> Result<(), Failure> {
        self.rows.set(0);
        self.asked.pushed()
    }

    fn check(&self, row: &Row<'_>, broken: &mut Vec<Rejection>) {
        let number = self.rows.get() + 1;
        self.rows.set(number);
        if row.b == Some(false) {
            broken.push(Rejection::new("b_false", ""));
        }
        if row.s.is_none() {
            broken.push(Rejection::new("s_null", format!("row {number} has no s")));
        }
        if divides(self.asked.reject_every, number) {
            broken.push(refused(number, row.s.as_deref()));
        }
        if divides(self.asked.filter_every, number) {
            broken.push(skipped());
        }
    }
}

validator!(Conformance);
