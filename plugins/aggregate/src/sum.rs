//! `sum` and `avg`. Whole numbers and decimals are added exactly, so that no order of rows changes the result.

use std::ops::Range;

use crisol_sdk::arrow::{ArrayRef, DataType, RecordBatch};
use crisol_sdk::{Failure, types};

use crate::aggregate::Accumulator;
use crate::values::{self, Class};

/// An exact sum that may pass the range of `i128` on its way.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    /// The sum, wrapped.
    low: i128,
    /// How often it wrapped upwards, less how often downwards.
    wraps: i64,
    count: i64,
}

impl Total {
    #[inline]
    fn add(&mut self, value: i128) {
        let (low, wrapped) = self.low.overflowing_add(value);
        self.low = low;
        if wrapped {
            self.wraps += if value < 0 { -1 } else { 1 };
        }
        self.count += 1;
    }

    fn add_all(&mut self, values: &[i128]) {
        for some in values.chunks(values::SOME) {
            match values::short_fold(some, 0, i64::wrapping_add) {
                Some(sum) => {
                    self.add(sum.into());
                    self.count += some.len() as i64 - 1;
                }
                None => some.iter().for_each(|value| self.add(*value)),
            }
        }
    }

    /// `None` when it has more than 38 digits.
    fn value(&self) -> Option<i128> {
        (self.wraps == 0 && self.low.unsigned_abs() < limit(38)).then_some(self.low)
    }
}

/// The least number that has more digits.
fn limit(digits: u8) -> u128 {
    10_u128.saturating_pow(digits.into())
}

/// Sums of integers (bigint) and decimals, and averages of decimals.
#[derive(Debug)]
pub(crate) struct ExactSum {
    column: usize,
    result: DataType,
    /// For an average: what the sum is multiplied by before it is divided.
    average: Option<i128>,
    total: Total,
    closed: Vec<Option<i128>>,
}

impl ExactSum {
    pub(crate) fn sum(column: usize, result: DataType) -> Self {
        ExactSum { column, result, average: None, total: Total::default(), closed: Vec::new() }
    }

    /// The average of a decimal that has so many places less than the result.
    pub(crate) fn average(column: usize, result: DataType, places: u8) -> Self {
        let average = Some(10_i128.saturating_pow(places.into()));
        ExactSum { column, result, average, total: Total::default(), closed: Vec::new() }
    }

    fn value(&self, total: &Total) -> Option<i128> {
        let sum = total.value()?;
        let value = match self.average {
            Some(factor) => quotient(sum, factor, total.count.into())?,
            None => sum,
        };
        let fits = match self.result {
            DataType::Decimal128(precision, _) => value.unsigned_abs() < limit(precision),
            _ => i64::try_from(value).is_ok(),
        };
        fits.then_some(value)
    }
}

/// `sum * factor / count`, rounded half up (away from zero); `None` when it does not fit.
fn quotient(sum: i128, factor: i128, count: i128) -> Option<i128> {
    let whole = (sum / count).checked_mul(factor)?;
    // The rest is less than the number of rows, so this never overflows.
    let rest = sum % count * factor;
    let half = if rest.abs() % count * 2 >= count { rest.signum() } else { 0 };
    whole.checked_add(rest / count + half)
}

impl Accumulator for ExactSum {
    fn add(&mut self, rows: &RecordBatch, range: Range<usize>) -> Result<(), Failure> {
        // A copy that can stay out of memory while the values are added.
        let mut total = self.total;
        let column = rows.column(self.column);
        let added = match values::decimals(column, range.clone()) {
            Some(values) => {
                total.add_all(values);
                Ok(())
            }
            None => values::exact(column, range, |value| total.add(value)),
        };
        self.total = total;
        added
    }

    fn close(&mut self) -> Result<(), Failure> {
        let total = std::mem::take(&mut self.total);
        if total.count == 0 {
            self.closed.push(None);
            return Ok(());
        }
        let Some(value) = self.value(&total) else {
            let result = types::name(&self.result).unwrap_or_default();
            let text = format!("the result of a group of {} values does not fit {result}", total.count);
            return Err(Failure::new("overflow", text));
        };
        self.closed.push(Some(value));
        Ok(())
    }

    fn take(&mut self) -> Result<ArrayRef, Failure> {
        values::exact_column(&self.result, std::mem::take(&mut self.closed))
    }
}

/// Sums and averages of floats, and averages of integers: doubles.
#[derive(Debug)]
pub(crate) struct DoubleSum {
    column: usize,
    class: Class,
    average: bool,
    exact: Total,
    float: f64,
    count: u64,
    closed: Vec<Option<f64>>,
}

impl DoubleSum {
    pub(crate) fn new(column: usize, class: Class, average: bool) -> Self {
        DoubleSum { column, class, average, exact: Total::default(), float: 0.0, count: 0, closed: Vec::new() }
    }
}

impl Accumulator for DoubleSum {
    fn add(&mut self, rows: &RecordBatch, range: Range<usize>) -> Result<(), Failure> {
        let column = rows.column(self.column);
        match self.class {
            Class::Exact => values::exact(column, range, |value| {
                self.exact.add(value);
                self.count += 1;
            }),
            _ => values::floats(column, range, |value| {
                self.float += value;
                self.count += 1;
            }),
        }
    }

    fn close(&mut self) -> Result<(), Failure> {
        let (exact, float) = (std::mem::take(&mut self.exact), std::mem::take(&mut self.float));
        let count = std::mem::take(&mut self.count);
        // Only one of the two was added to; integers never leave the range of the exact one.
        let sum = exact.low as f64 + float;
        let value = if self.average { sum / count as f64 } else { sum };
        self.closed.push((count > 0).then_some(value));
        Ok(())
    }

    fn take(&mut self) -> Result<ArrayRef, Failure> {
        Ok(values::float_column(&DataType::Float64, std::mem::take(&mut self.closed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_may_pass_the_range_and_come_back() {
        let big = 99_999_999_999_999_999_999_999_999_999_999_999_999_i128;
        let mut total = Total::default();
        [big, big, big, 5].iter().for_each(|value| total.add(*value));
        assert_eq!(total.value(), None);
        [-big, -big, -big].iter().for_each(|value| total.add(*value));
        assert_eq!(total.value(), Some(5));
        [-big, -big, -big].iter().for_each(|value| total.add(*value));
        assert_eq!(total.value(), None);
    }

    #[test]
    fn many_values_are_added_as_one_by_one() {
        let edges =
            [0, 1, -1, 1 << 60, (1 << 60) - 1, -(1 << 60), -(1 << 60) - 1, 1 << 63, i128::MAX / 3, i128::MIN / 3];
        for first in edges {
            for second in edges {
                let values: Vec<i128> = (0..21).map(|i| if i % 5 == 0 { first } else { second }).collect();
                let (mut all, mut each) = (Total::default(), Total::default());
                all.add_all(&values);
                values.iter().for_each(|value| each.add(*value));
                assert_eq!((all.low, all.wraps, all.count), (each.low, each.wraps, each.count), "{first} {second}");
            }
        }
    }

    #[test]
    fn p054_quotients_are_rounded_half_away_from_zero() {
        for (sum, count, expected) in [(1, 2, 5_000), (1, 3, 3_333), (2, 3, 6_667), (-2, 3, -6_667), (-1, 2, -5_000)] {
            assert_eq!(quotient(sum, 10_000, count), Some(expected), "{sum} / {count}");
        }
        for (sum, count, expected) in [(5, 2, 3), (-5, 2, -3), (7, 3, 2), (0, 7, 0), (1, 8, 0), (4, 8, 1)] {
            assert_eq!(quotient(sum, 1, count), Some(expected), "{sum} / {count}");
        }
        assert_eq!(quotient(i128::MAX, 10_000, 1), None);
    }
}
