//! Every input row must be answered for: given at least once, or rejected once, never both.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, RecordBatch};
use crisol_ipc::Fate;

use crate::limits::{Limits, MESSAGE_BYTES_MAX, count};
use crate::text::printable;
use crate::{CallError, Rejected};

/// Further codes of a row that are named; a component may give a million, and each is compared with these.
const ALSO_MAX: usize = 16;

/// The input row of each row given, from the last column.
pub(crate) fn origin(given: &RecordBatch, rows: usize) -> Result<Vec<u32>, CallError> {
    let column = given.columns().last().and_then(|column| column.as_primitive_opt::<Int32Type>());
    let Some(column) = column.filter(|column| column.null_count() == 0) else {
        return Err(CallError::Invalid { what: "`_row` is missing or has nulls".to_string() });
    };
    let mut origin = Vec::with_capacity(column.len());
    let mut last = 0;
    for (at, row) in column.values().iter().enumerate() {
        let row = input_row(*row, rows).ok_or_else(|| {
            let what = format!("`_row` {row} of the {} row it gave was not among its input", ordinal(at));
            CallError::Accounts { rows, row: None, what }
        })?;
        if row < last {
            let what = format!("`_row` goes back from {last} to {row} in the {} row it gave", ordinal(at));
            return Err(CallError::Accounts { rows, row: Some(row), what });
        }
        last = row;
        origin.push(row);
    }
    Ok(origin)
}

/// Rejections of a decoder or transformer, by row.
pub(crate) fn settle(
    rows: usize,
    origin: &[u32],
    rejected: Vec<crisol_ipc::Rejected>,
    limits: &Limits,
) -> Result<Vec<Rejected>, CallError> {
    const GIVEN: u8 = 1;
    const REJECTED: u8 = 2;
    let mut fates = vec![0_u8; rows];
    origin.iter().for_each(|row| fates[*row as usize] = GIVEN);
    let mut codes = Codes::default();
    let mut settled = Vec::with_capacity(rejected.len());
    for rejection in rejected {
        codes.add(&rejection.code, limits)?;
        let rejection = check(rejection, rows, limits)?;
        let fate = &mut fates[rejection.row as usize];
        if *fate != 0 {
            let both = if *fate == GIVEN { "both given and rejected" } else { "rejected twice" };
            return Err(wrong_row(rows, rejection.row, both));
        }
        *fate = REJECTED;
        settled.push(rejection);
    }
    if let Some(lost) = fates.iter().position(|fate| *fate == 0) {
        let others = fates.iter().filter(|fate| **fate == 0).count() - 1;
        let what = if others == 0 { String::new() } else { format!(" (and {others} more)") };
        return Err(wrong_row(rows, lost as u32, &format!("neither given nor rejected{what}")));
    }
    settled.sort_by_key(|rejection| rejection.row);
    Ok(settled)
}

/// Rejections of a validator: one for each row, the rows that pass beside them. A row that breaks several rules keeps
/// the first reason, quarantine before filter, and its text names the other codes.
pub(crate) fn judge(
    rows: usize,
    rejected: Vec<crisol_ipc::Rejected>,
    limits: &Limits,
) -> Result<(Vec<u32>, Vec<Rejected>), CallError> {
    let mut codes = Codes::default();
    let mut checked = Vec::with_capacity(rejected.len());
    for rejection in rejected {
        codes.add(&rejection.code, limits)?;
        checked.push(check(rejection, rows, limits)?);
    }
    // Stable: the reasons of a row stay in order.
    checked.sort_by_key(|rejection| rejection.row);
    let mut verdicts: Vec<Verdict> = Vec::new();
    for rejection in checked {
        match verdicts.last_mut().filter(|verdict| verdict.reason.row == rejection.row) {
            Some(verdict) => verdict.add(rejection),
            None => verdicts.push(Verdict { reason: rejection, also: Vec::new(), more: false }),
        }
    }
    let mut passed = Vec::with_capacity(rows - verdicts.len());
    let mut next = 0;
    for verdict in &verdicts {
        passed.extend(next..verdict.reason.row);
        next = verdict.reason.row + 1;
    }
    passed.extend(next..rows as u32);
    let text_bytes_max = count(limits.text_bytes_max);
    Ok((passed, verdicts.into_iter().map(|verdict| verdict.told(text_bytes_max)).collect()))
}

struct Verdict {
    reason: Rejected,
    also: Vec<String>,
    /// There were more codes than are named.
    more: bool,
}

impl Verdict {
    fn add(&mut self, mut other: Rejected) {
        if self.reason.filter && !other.filter {
            std::mem::swap(&mut self.reason, &mut other);
        }
        if other.code == self.reason.code || self.also.contains(&other.code) {
            return;
        }
        if self.also.len() == ALSO_MAX {
            self.more = true;
            return;
        }
        self.also.push(other.code);
    }

    fn told(mut self, text_bytes_max: usize) -> Rejected {
        if !self.also.is_empty() {
            let more = if self.more { ", …" } else { "" };
            let text = format!("{} (also {}{more})", self.reason.text, self.also.join(", "));
            self.reason.text = printable(&text, text_bytes_max);
        }
        self.reason
    }
}

/// The different codes of one call: they become names in accounts, progress and metrics, so there may not be many.
#[derive(Debug, Default)]
struct Codes(HashSet<String>);

impl Codes {
    fn add(&mut self, code: &str, limits: &Limits) -> Result<(), CallError> {
        let too_much = |actual: usize, limit: u64, unit, of, setting| {
            Err(CallError::Output { actual: Some(actual as u64), limit, unit, of, setting })
        };
        if code.len() as u64 > limits.code_bytes_max {
            return too_much(code.len(), limits.code_bytes_max, "bytes", "a code", "code_bytes_max");
        }
        if !self.0.contains(code) {
            self.0.insert(code.to_string());
        }
        if self.0.len() as u64 > limits.codes_max {
            return too_much(self.0.len(), limits.codes_max, "different codes", "a call", "codes_max");
        }
        Ok(())
    }
}

/// Row in range, code stable, text safe.
fn check(rejection: crisol_ipc::Rejected, rows: usize, limits: &Limits) -> Result<Rejected, CallError> {
    let Some(row) = input_row(rejection.row, rows) else {
        let what = format!("rejected row {} was not among its input", rejection.row);
        return Err(CallError::Accounts { rows, row: None, what });
    };
    if !is_code(&rejection.code) {
        let code = printable(&rejection.code, MESSAGE_BYTES_MAX);
        let what = format!(
            "the code `{code}` of rejected row {row}; codes have ASCII letters, digits, spaces and `_-.:/`, at least one"
        );
        return Err(CallError::Invalid { what });
    }
    let text = printable(&rejection.text, count(limits.text_bytes_max));
    Ok(Rejected { row, filter: rejection.kind == Fate::Filter, code: rejection.code, text })
}

fn is_code(code: &str) -> bool {
    let stable = |c: char| c.is_ascii_alphanumeric() || "_-.:/ ".contains(c);
    !code.is_empty() && code.chars().all(stable)
}

fn input_row(row: i32, rows: usize) -> Option<u32> {
    u32::try_from(row).ok().filter(|row| (*row as usize) < rows)
}

pub(crate) fn wrong_row(rows: usize, row: u32, what: &str) -> CallError {
    CallError::Accounts { rows, row: Some(row), what: format!("row {row} is {what}") }
}

pub(crate) fn ordinal(index: usize) -> String {
    let number = index + 1;
    let ending = match (number % 10, number % 100) {
        (1, not) if not != 11 => "st",
        (2, not) if not != 12 => "nd",
        (3, not) if not != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests;
