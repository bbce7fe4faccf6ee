//! Columns that a step leaves alone, brought to the rows that it gave.

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, UInt32Array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::ArrowError;
use arrow_select::filter::{FilterBuilder, FilterPredicate};
use arrow_select::take::take;

use crate::{Rejection, StageOutput};

/// Rows `0..rows`, each once.
pub(crate) fn is_identity(origin: &[u32], rows: usize) -> bool {
    origin.len() == rows && origin.iter().enumerate().all(|(at, row)| at == *row as usize)
}

/// How columns follow the rows of a step; `origin` has been checked.
#[derive(Debug)]
pub(crate) enum Selection {
    /// All rows, in place: nothing is copied.
    All,
    /// Some rows once: whole runs are copied.
    Some(FilterPredicate),
    /// Rows may come several times.
    Repeated(UInt32Array),
}

impl Selection {
    /// The selection that a step's origin makes of `rows` rows.
    pub(crate) fn of(origin: &[u32], rows: usize) -> Self {
        if is_identity(origin, rows) {
            return Self::All;
        }
        if origin.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Self::Repeated(UInt32Array::from(origin.to_vec()));
        }
        let mut kept = vec![false; rows];
        for row in origin {
            kept[*row as usize] = true;
        }
        Self::Some(FilterBuilder::new(&BooleanArray::from(kept)).optimize().build())
    }

    /// A column, brought to the selected rows.
    pub(crate) fn apply(&self, column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        match self {
            Self::All => Ok(column.clone()),
            Self::Some(predicate) => predicate.filter(column),
            Self::Repeated(rows) => take(column, rows, None),
        }
    }
}

/// The output of a step that only rejects: `rows` without the rejected ones, nothing copied when there are none.
pub(crate) fn without_rejected(rows: &RecordBatch, rejected: Vec<Rejection>) -> Result<StageOutput, ArrowError> {
    let count = rows.num_rows();
    if rejected.is_empty() {
        let origin = (0..count as u32).collect();
        return Ok(StageOutput { rows: rows.clone(), origin, rejected, rules: Vec::new() });
    }
    let mut kept = vec![true; count];
    for rejection in &rejected {
        let place = kept.get_mut(rejection.row as usize).ok_or_else(|| out_of_range(rejection.row, count))?;
        *place = false;
    }
    let kept = BooleanBuffer::from(kept);
    let origin = kept.set_indices_u32().collect();
    let predicate = FilterBuilder::new(&BooleanArray::new(kept, None)).optimize().build();
    Ok(StageOutput { rows: predicate.filter_record_batch(rows)?, origin, rejected, rules: Vec::new() })
}

fn out_of_range(row: u32, count: usize) -> ArrowError {
    ArrowError::InvalidArgumentError(format!("row {row} is rejected, but there are only {count}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int32Array, StringArray};

    use super::*;

    fn apply(origin: &[u32], column: &ArrayRef) -> ArrayRef {
        Selection::of(origin, column.len()).apply(column).unwrap()
    }

    #[test]
    fn identity_copies_nothing() {
        let column: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
        assert!(Arc::ptr_eq(&apply(&[0, 1], &column), &column));
    }

    #[test]
    fn columns_follow_gaps_and_repetitions() {
        let column: ArrayRef = Arc::new(Int32Array::from(vec![10, 11, 12, 13]));
        assert_eq!(apply(&[0, 3], &column).as_ref(), &Int32Array::from(vec![10, 13]));
        assert_eq!(apply(&[1, 1, 3], &column).as_ref(), &Int32Array::from(vec![11, 11, 13]));
        assert_eq!(apply(&[], &column).len(), 0);
        assert_eq!(apply(&[0, 0, 2, 3], &column).as_ref(), &Int32Array::from(vec![10, 10, 12, 13]));
    }
}
