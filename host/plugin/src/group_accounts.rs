//! What a session of groups was given and has answered: only what was given, and each at most once.

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, Int32Array, RecordBatch};

use crate::accounts::{ordinal, wrong_row};
use crate::{CallError, Kind};

/// The accounts of one session. What was never answered is no fault: a ranker chooses, an aggregator may skip a group.
#[derive(Debug)]
pub(crate) struct GroupAccounts {
    kind: Kind,
    rows: usize,
    /// The groups given, ascending.
    groups: Vec<i32>,
    /// Whether it was answered: by row for a ranker, by place in `groups` for an aggregator.
    answered: Vec<bool>,
}

impl GroupAccounts {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, rows: 0, groups: Vec::new(), answered: Vec::new() }
    }

    /// Counts rows that are about to be given; `_group` is their last column.
    pub(crate) fn add(&mut self, rows: &RecordBatch) -> Result<(), CallError> {
        let mut last = self.groups.last().copied();
        for group in last_column(rows).map_or(&[][..], |column| column.values()) {
            if last == Some(*group) {
                continue;
            }
            if *group < last.unwrap_or(0) {
                let what = format!("`_group` {group} was given after {}", last.unwrap_or(0));
                return Err(CallError::Host { what });
            }
            self.groups.push(*group);
            last = Some(*group);
        }
        self.rows += rows.num_rows();
        if i32::try_from(self.rows).is_err() {
            let what = format!("{} rows were given in one session, `_row` counts to {}", self.rows, i32::MAX);
            return Err(CallError::Host { what });
        }
        let answers = if self.kind == Kind::Aggregator { self.groups.len() } else { self.rows };
        self.answered.resize(answers, false);
        Ok(())
    }

    /// The rows or groups that an answer stands for, from its last column.
    pub(crate) fn answer(&mut self, given: &RecordBatch) -> Result<Vec<u32>, CallError> {
        let (rows, index) = (self.rows, self.kind.index());
        let Some(column) = last_column(given).filter(|column| column.null_count() == 0) else {
            return Err(CallError::Invalid { what: format!("`{index}` is missing or has nulls") });
        };
        let mut answer = Vec::with_capacity(column.len());
        for (at, value) in column.values().iter().enumerate() {
            let (Ok(number), Some(place)) = (u32::try_from(*value), self.place(*value)) else {
                let what = format!("`{index}` {value} of the {} row it gave was not among its input", ordinal(at));
                return Err(CallError::Accounts { rows, row: None, what });
            };
            if std::mem::replace(&mut self.answered[place], true) {
                return Err(self.twice(number));
            }
            answer.push(number);
        }
        Ok(answer)
    }

    /// Where it is noted whether this row, or group, was answered.
    fn place(&self, value: i32) -> Option<usize> {
        if self.kind == Kind::Aggregator {
            return self.groups.binary_search(&value).ok();
        }
        usize::try_from(value).ok().filter(|row| *row < self.rows)
    }

    fn twice(&self, number: u32) -> CallError {
        if self.kind == Kind::Aggregator {
            let what = format!("group {number} is given twice");
            return CallError::Accounts { rows: self.rows, row: None, what };
        }
        wrong_row(self.rows, number, "given twice")
    }
}

fn last_column(rows: &RecordBatch) -> Option<&Int32Array> {
    rows.columns().last().and_then(|column| column.as_primitive_opt::<Int32Type>())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::ArrayRef;

    use super::*;

    fn batch(values: &[i32]) -> RecordBatch {
        let column: ArrayRef = Arc::new(Int32Array::from(values.to_vec()));
        RecordBatch::try_from_iter([("_any", column)]).unwrap()
    }

    fn accounts(kind: Kind, groups: &[i32]) -> GroupAccounts {
        let mut accounts = GroupAccounts::new(kind);
        accounts.add(&batch(groups)).unwrap();
        accounts
    }

    #[test]
    fn a_ranker_answers_some_rows_in_any_order() {
        let mut accounts = accounts(Kind::Ranker, &[0, 0, 7]);
        assert_eq!(accounts.answer(&batch(&[2, 0])).unwrap(), [2, 0]);
        assert_eq!(accounts.answer(&batch(&[])).unwrap(), [0_u32; 0]);
        accounts.add(&batch(&[7, 9])).unwrap();
        assert_eq!(accounts.answer(&batch(&[4, 1])).unwrap(), [4, 1]);
    }

    #[test]
    fn an_aggregator_answers_some_groups_in_any_order() {
        let mut accounts = accounts(Kind::Aggregator, &[3, 3, 7]);
        assert_eq!(accounts.answer(&batch(&[7])).unwrap(), [7]);
        accounts.add(&batch(&[7, 9])).unwrap();
        assert_eq!(accounts.answer(&batch(&[9, 3])).unwrap(), [9, 3]);
    }

    #[test]
    fn what_was_not_given_or_was_answered_before_is_refused_by_number() {
        for (kind, answer, expected) in [
            (Kind::Ranker, vec![0, 4], "`_row` 4 of the 2nd row it gave was not among its input"),
            (Kind::Ranker, vec![-1], "`_row` -1 of the 1st row it gave was not among its input"),
            (Kind::Ranker, vec![1, 0, 1], "row 1 is given twice"),
            (Kind::Aggregator, vec![3, 4], "`_group` 4 of the 2nd row it gave was not among its input"),
            (Kind::Aggregator, vec![i32::MIN], "`_group` -2147483648 of the 1st row it gave was not among its input"),
            (Kind::Aggregator, vec![7, 7], "group 7 is given twice"),
        ] {
            let error = accounts(kind, &[3, 3, 7, 9]).answer(&batch(&answer)).unwrap_err();
            assert_eq!(error.to_string(), format!("its accounts do not hold for 4 rows: {expected}"));
        }
    }

    #[test]
    fn a_row_answered_in_an_earlier_message_counts() {
        let mut accounts = accounts(Kind::Ranker, &[0, 0]);
        accounts.answer(&batch(&[1])).unwrap();
        let error = accounts.answer(&batch(&[1])).unwrap_err();
        assert!(matches!(error, CallError::Accounts { row: Some(1), rows: 2, .. }), "{error}");
    }

    #[test]
    fn groups_that_go_back_or_are_negative_are_the_hosts_fault() {
        for groups in [&[1, 0][..], &[-1]] {
            let error = GroupAccounts::new(Kind::Ranker).add(&batch(groups)).unwrap_err();
            assert!(matches!(error, CallError::Host { .. }), "{error}");
        }
        let error = accounts(Kind::Ranker, &[5]).add(&batch(&[4])).unwrap_err();
        assert_eq!(error.to_string(), "internal error: `_group` 4 was given after 5");
    }
}
