//! Messages with every type that JSON has.

use crisol_guest_conformance::{Asking, Textual};
use crisol_sdk::{About, Batch, Decoder, Failure, JsonRecord, Rejection, decoder};

/// The stage.
#[derive(Debug)]
pub struct Conformance(Asking);

impl Decoder for Conformance {
    type Options = Asking;
    type Row<'a> = Textual<'a>;
    const ABOUT: About = Asking::ABOUT;

    fn open(asked: Asking, _: &Batch) -> Result<Self, Failure> {
        asked.opened()?;
        Ok(Conformance(asked))
    }

    fn begin(&mut self) -> Result<(), Failure> {
        self.0.pushed()
    }

    fn decode<'a>(&self, message: &'a str) -> Result<Textual<'a>, Rejection> {
        Ok(Textual::from_json(message)?)
    }
}

decoder!(Conformance);
