//! What came out against what was expected.

use arrow_array::{ArrayRef, RecordBatch};
use serde_json::Value;

use super::input::wrong;
use super::{Difference, Expect, ExpectedRejection, Object, Sample, SampleFault, decode, encode};
use crate::columns::nearest;
use crate::text::printable;
use crate::{Kind, Rejected};

/// The number of the given row that a row stands for, among its columns.
pub(super) const ROW: &str = "_row";
const SHOWN_BYTES_MAX: usize = 200;

/// A row that came out: a row of what was written, and the given row behind it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Out {
    /// Which batch of the written rows.
    pub(super) batch: usize,
    /// Which row of it.
    pub(super) row: usize,
    /// Which row of the batch that was given.
    pub(super) given: usize,
    /// What a sample calls that row.
    pub(super) number: usize,
}

/// Everything that came out.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Columns that the component gave; none from a validator.
    pub(super) written: Vec<RecordBatch>,
    /// Columns of the given rows that follow them.
    pub(super) given: RecordBatch,
    /// The rows, in order.
    pub(super) rows: Vec<Out>,
    /// Given rows that do not go on, by row.
    pub(super) rejected: Vec<Rejected>,
}

/// Where it differs from what a sample expects.
///
/// # Errors
/// A row of `expect` names a column that there is not, or a value that does not fit.
pub(super) fn differences(outcome: &Outcome, sample: &Sample, kind: Kind) -> Result<Vec<Difference>, SampleFault> {
    let fates = fates(&outcome.rejected, &sample.expect, sample.given.len());
    if !fates.is_empty() || kind == Kind::Validator {
        return Ok(fates);
    }
    rows(outcome, sample.expect.rows.as_deref().unwrap_or_default())
}

fn rows(outcome: &Outcome, expected: &[Object]) -> Result<Vec<Difference>, SampleFault> {
    if outcome.rows.len() != expected.len() {
        let rows = |count: usize| format!("{count} row{}", if count == 1 { "" } else { "s" });
        let got = rows(outcome.rows.len());
        return Ok(vec![Difference { place: "expect.rows".into(), expected: rows(expected.len()), got }]);
    }
    let mut differences = Vec::new();
    for (at, (out, row)) in outcome.rows.iter().zip(expected).enumerate() {
        for (name, value) in row {
            let place = format!("expect.rows[{at}].{}", printable(name, SHOWN_BYTES_MAX));
            let (expected, got) = outcome.pair(out, name, value).map_err(|what| wrong(format!("`{place}`: {what}")))?;
            if expected != got {
                differences.push(Difference { place, expected: shown(&expected), got: shown(&got) });
            }
        }
    }
    Ok(differences)
}

impl Outcome {
    /// A value of `expected` and the one that came, as both are written.
    fn pair(&self, out: &Out, name: &str, expected: &Value) -> Result<(Value, Value), String> {
        if name == ROW {
            return Ok((expected.clone(), Value::from(out.number)));
        }
        let (column, row) = self.column(out, name).ok_or_else(|| self.unknown(name))?;
        let expected = decode::column(column.data_type(), &[expected])?;
        Ok((encode::value(expected.as_ref(), 0), encode::value(column.as_ref(), row)))
    }

    /// A column that a row has, and where in it.
    pub(super) fn column(&self, out: &Out, name: &str) -> Option<(&ArrayRef, usize)> {
        let written = self.written.get(out.batch).and_then(|batch| Some((batch.column_by_name(name)?, out.row)));
        written.or_else(|| Some((self.given.column_by_name(name)?, out.given)))
    }

    fn unknown(&self, name: &str) -> String {
        let given = self.given.schema_ref().fields().iter();
        let all = self.written.iter().take(1).flat_map(|batch| batch.schema_ref().fields().iter()).chain(given);
        let names: Vec<&str> = all.map(|field| field.name().as_str()).collect();
        match nearest(name, names.iter().copied()) {
            Some(near) => format!("no such column comes out; did you mean `{}`?", printable(near, SHOWN_BYTES_MAX)),
            None => format!("no such column comes out; there are {}", printable(&names.join(", "), 500)),
        }
    }
}

/// What becomes of a given row that does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fate<'a> {
    /// Dropped on purpose; else it goes to quarantine.
    filter: bool,
    code: &'a str,
    text: Option<&'a str>,
}

/// The fates of the given rows against those expected.
fn fates(rejected: &[Rejected], expect: &Expect, given: usize) -> Vec<Difference> {
    let mut got: Vec<Option<Fate<'_>>> = vec![None; given];
    for Rejected { row, filter, code, text } in rejected {
        if let Some(fate) = got.get_mut(*row as usize) {
            *fate = Some(Fate { filter: *filter, code, text: Some(text) });
        }
    }
    let told = |fate: Option<&Fate<'_>>| fate.map_or_else(|| "the row goes on".to_string(), Fate::told);
    let rows = got.iter().zip(expected(expect, given)).enumerate();
    let different = rows.filter(|(_, (got, expected))| !same(expected.as_ref(), got.as_ref()));
    let difference = |(row, (got, expected)): (usize, (&Option<Fate<'_>>, Option<Fate<'_>>))| Difference {
        place: format!("given[{row}]"),
        expected: told(expected.as_ref()),
        got: told(got.as_ref()),
    };
    different.map(difference).collect()
}

fn expected(expect: &Expect, rows: usize) -> Vec<Option<Fate<'_>>> {
    let mut fates = vec![None; rows];
    for (filter, rejections) in [(false, &expect.rejected), (true, &expect.filtered)] {
        for ExpectedRejection { row, code, text } in rejections {
            if let Some(fate) = fates.get_mut(*row) {
                *fate = Some(Fate { filter, code, text: text.as_deref() });
            }
        }
    }
    fates
}

fn same(expected: Option<&Fate<'_>>, got: Option<&Fate<'_>>) -> bool {
    match (expected, got) {
        (Some(expected), Some(got)) => {
            let words = expected.text.is_none_or(|text| got.text == Some(text));
            expected.filter == got.filter && expected.code == got.code && words
        }
        (expected, got) => expected.is_none() && got.is_none(),
    }
}

impl Fate<'_> {
    fn told(&self) -> String {
        let word = if self.filter { "filtered" } else { "rejected" };
        let text = self.text.map(|text| format!(" ({})", printable(text, SHOWN_BYTES_MAX))).unwrap_or_default();
        format!("{word} as `{}`{text}", printable(self.code, SHOWN_BYTES_MAX))
    }
}

fn shown(value: &Value) -> String {
    printable(&value.to_string(), SHOWN_BYTES_MAX)
}
