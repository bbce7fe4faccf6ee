//! What came against what should have come.

use arrow_array::{Array, RecordBatch};
use crisol_plugin::{Rejected, RowOutput, printable, sample_value};

const SHOWN_BYTES_MAX: usize = 200;

/// That both are the same rows, value by value; floats by their bits.
///
/// # Errors
/// The first value that differs.
pub(super) fn rows(expected: &RecordBatch, got: &RecordBatch) -> Result<(), String> {
    if (expected.num_rows(), expected.num_columns()) != (got.num_rows(), got.num_columns()) {
        let size = |batch: &RecordBatch| format!("{} rows of {} columns", batch.num_rows(), batch.num_columns());
        return Err(format!("expected {}, got {}", size(expected), size(got)));
    }
    let (schema, columns) = (expected.schema_ref(), expected.columns().iter().zip(got.columns()));
    columns.enumerate().try_for_each(|(at, (expected, got))| column(schema.field(at).name(), expected, got))
}

fn column(name: &str, expected: &dyn Array, got: &dyn Array) -> Result<(), String> {
    if expected.to_data() == got.to_data() {
        return Ok(());
    }
    let different = (0..expected.len()).find(|row| expected.slice(*row, 1).to_data() != got.slice(*row, 1).to_data());
    let Some(row) = different else {
        return Err(format!("column `{name}`: expected {}, got {}", expected.data_type(), got.data_type()));
    };
    let shown = |column: &dyn Array| printable(&sample_value(column, row).to_string(), SHOWN_BYTES_MAX);
    Err(format!("row {row}, `{name}`: expected {}, got {}", shown(expected), shown(got)))
}

/// That both are the same answer.
///
/// # Errors
/// The first thing that differs.
pub(super) fn outputs(expected: &RowOutput, got: &RowOutput) -> Result<(), String> {
    rejections(&expected.rejected, &got.rejected)?;
    if expected.origin != got.origin {
        let pairs = || expected.origin.iter().zip(&got.origin);
        let at = pairs().position(|(expected, got)| expected != got).unwrap_or(pairs().count());
        let shown = |origin: &[u32]| origin.get(at).map_or("nothing".into(), |row| format!("row {row}"));
        let (expected, got) = (shown(&expected.origin), shown(&got.origin));
        return Err(format!("the {at}. row that comes out, counted from 0: expected that of {expected}, got {got}"));
    }
    match (&expected.rows, &got.rows) {
        (Some(expected), Some(got)) => rows(expected, got),
        _ => Ok(()),
    }
}

fn rejections(expected: &[Rejected], got: &[Rejected]) -> Result<(), String> {
    if expected == got {
        return Ok(());
    }
    let pairs = || expected.iter().zip(got);
    let at = pairs().position(|(expected, got)| expected != got).unwrap_or(pairs().count());
    let shown = |all: &[Rejected]| all.get(at).map_or("none".into(), told);
    let counts = format!("{} rejections expected, {} came", expected.len(), got.len());
    Err(format!("{counts}; expected {}, got {}", shown(expected), shown(got)))
}

fn told(rejected: &Rejected) -> String {
    let Rejected { row, filter, code, text } = rejected;
    let word = if *filter { "filtered" } else { "rejected" };
    format!("row {row} {word} as `{code}` ({})", printable(text, SHOWN_BYTES_MAX))
}
