//! Decoders, transformers and validators on whatever their columns may hold.

use arrow_array::{RecordBatch, UInt32Array};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use crisol_plugin::{CallError, ROWS_MAX, RowOutput, RowStage};

use super::given::{Given, limits};
use super::values::Choice;
use super::{NAME, Suite, clean, compare, cut, values};

impl Suite {
    pub(super) fn rows(&mut self, given: &Given) {
        let (label, timestamp_us) = (&given.label, given.timestamp_us);
        let stage = match self.component.row_stage(&given.options, &given.schema, &limits()) {
            Ok(stage) => stage,
            Err(error) => return self.holds(&format!("it can be set up{label}"), || Err(error.to_string())),
        };
        let decks = match given.seen(stage.reads()).and_then(|rows| decks(&rows)) {
            Ok(decks) => decks,
            Err(error) => return self.holds(&format!("rows can be made{label}"), || Err(error.to_string())),
        };
        for (name, rows) in &decks {
            self.case(&format!("{name}{label}"), || Ok(clean(stage.session(timestamp_us).push(rows))?.err()));
        }
        // Stages of this name number the rows of a message.
        if self.component.name() == NAME {
            return;
        }
        let mixed = decks.iter().find(|(name, _)| *name == MIXED).map(|(_, rows)| rows);
        let Some(mixed) = mixed else { return };
        self.case(&format!("rows cut into other messages{label}"), || {
            let mut session = stage.session(timestamp_us);
            same(&stage, mixed, timestamp_us, |piece| session.push(piece))
        });
        if self.component.reuse() {
            self.case(&format!("an instance that is kept gives what a new one gives{label}"), || {
                same(&stage, mixed, timestamp_us, |piece| {
                    // What it does for another batch ends the session.
                    stage.call(piece, timestamp_us + 1)?;
                    stage.call(piece, timestamp_us)
                })
            });
        }
    }
}

const MIXED: &str = "rows of samples among extreme ones";

/// Rows to be tried, and what they are called.
fn decks(samples: &RecordBatch) -> Result<Vec<(&'static str, RecordBatch)>, ArrowError> {
    let schema = samples.schema();
    let mixed = mixed(&schema, samples)?;
    Ok(vec![
        ("a message without rows", RecordBatch::new_empty(schema.clone())),
        ("one row", mixed.slice(0, 1)),
        ("rows of nulls", values::nulls(&schema, 3)?),
        ("extreme values, texts of 64 KiB", values::rows(&schema, 64, Choice::Long)?),
        ("16,384 rows", many(&mixed)?),
        (MIXED, mixed),
    ])
}

/// Rows of samples in front of extreme ones.
pub(super) fn mixed(schema: &SchemaRef, samples: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    concat_batches(schema, [samples, &values::rows(schema, 97, Choice::Rare)?])
}

/// The same rows again and again, as many as one message holds.
pub(super) fn many(rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let count = rows.num_rows().max(1) as u32;
    take_record_batch(rows, &(0..ROWS_MAX as u32).map(|at| at % count).collect::<UInt32Array>())
}

/// That pieces give what the whole gives in a new instance. Where that cannot work, the pieces are not looked at.
fn same(
    stage: &RowStage,
    rows: &RecordBatch,
    timestamp_us: i64,
    mut push: impl FnMut(&RecordBatch) -> Result<RowOutput, CallError>,
) -> Result<Option<String>, String> {
    let whole = match clean(stage.session(timestamp_us).push(rows))? {
        Ok(whole) => whole,
        Err(said) => return Ok(Some(said)),
    };
    let (mut first, mut batches) = (0, Vec::new());
    let mut together = RowOutput { rows: None, origin: Vec::new(), rejected: Vec::new() };
    for piece in cut::pieces(rows) {
        let output = push(&piece).map_err(|error| format!("{} rows from row {first} on: {error}", piece.num_rows()))?;
        together.origin.extend(output.origin.iter().map(|row| row + first));
        together.rejected.extend(output.rejected.into_iter().map(|mut rejected| {
            rejected.row += first;
            rejected
        }));
        batches.extend(output.rows);
        first += piece.num_rows() as u32;
    }
    if whole.rows.is_some() {
        together.rows = Some(concat_batches(&stage.writes(), &batches).map_err(|error| error.to_string())?);
    }
    compare::outputs(&whole, &together).map(|()| None)
}
