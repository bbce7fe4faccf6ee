//! Why rows do not go on, with an example of each reason.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use crisol_stage::ChunkOutput;
use serde::Serialize;

/// Rows that do not go on for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// Its code.
    pub code: String,
    /// How many.
    pub rows: u64,
    /// The words that came with the first of them; maybe none.
    pub example: String,
}

/// Input row, code and text of each row that was refused, ascending.
pub(super) fn refused(output: &ChunkOutput) -> Vec<(u32, String, String)> {
    let Some(rows) = &output.quarantined else { return Vec::new() };
    let (codes, texts) = (texts(rows, "code"), texts(rows, "text"));
    let refused = output.refused.iter().zip(codes).zip(texts);
    refused.map(|((row, code), text)| (*row, code, text)).collect()
}

fn texts(rows: &RecordBatch, name: &str) -> Vec<String> {
    let column = rows.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
    column.into_iter().flatten().map(|text| text.unwrap_or_default().to_owned()).collect()
}

/// Reasons by code.
pub(super) fn by_code(rows: impl Iterator<Item = (String, String)>) -> Vec<Reason> {
    let mut reasons = BTreeMap::<String, Reason>::new();
    for (code, text) in rows {
        let new = || Reason { code: code.clone(), rows: 0, example: text };
        reasons.entry(code.clone()).or_insert_with(new).rows += 1;
    }
    reasons.into_values().collect()
}
