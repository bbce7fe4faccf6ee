//! Counts: rows, values, distinct values.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crisol_sdk::Failure;
use crisol_sdk::arrow::{Array, ArrayRef, Int64Array, RecordBatch};

use crate::aggregate::Accumulator;
use crate::values::{self, Class};

/// `count(*)`, and `count(column)` when it has one.
#[derive(Debug)]
pub(crate) struct Count {
    column: Option<usize>,
    count: i64,
    closed: Vec<i64>,
}

impl Count {
    pub(crate) fn new(column: Option<usize>) -> Self {
        Count { column, count: 0, closed: Vec::new() }
    }
}

impl Accumulator for Count {
    fn add(&mut self, rows: &RecordBatch, range: Range<usize>) -> Result<(), Failure> {
        let nulls = self.column.and_then(|column| rows.column(column).nulls());
        let nulls = nulls.map_or(0, |nulls| nulls.slice(range.start, range.len()).null_count());
        self.count += (range.len() - nulls) as i64;
        Ok(())
    }

    fn close(&mut self) -> Result<(), Failure> {
        self.closed.push(std::mem::take(&mut self.count));
        Ok(())
    }

    fn take(&mut self) -> Result<ArrayRef, Failure> {
        Ok(Arc::new(Int64Array::from(std::mem::take(&mut self.closed))))
    }
}

/// `count(distinct column)`.
#[derive(Debug)]
pub(crate) struct CountDistinct {
    column: usize,
    class: Class,
    numbers: HashSet<i128>,
    bytes: HashSet<Box<[u8]>>,
    closed: Vec<i64>,
}

impl CountDistinct {
    pub(crate) fn new(column: usize, class: Class) -> Self {
        CountDistinct { column, class, numbers: HashSet::new(), bytes: HashSet::new(), closed: Vec::new() }
    }
}

impl Accumulator for CountDistinct {
    fn add(&mut self, rows: &RecordBatch, range: Range<usize>) -> Result<(), Failure> {
        let (column, numbers, bytes) = (rows.column(self.column), &mut self.numbers, &mut self.bytes);
        match self.class {
            Class::Exact => values::exact(column, range, |value| {
                numbers.insert(value);
            }),
            Class::Float => values::floats(column, range, |value| {
                numbers.insert(identity(value).into());
            }),
            Class::Bytes => values::bytes(column, range, |value| {
                if !bytes.contains(value) {
                    bytes.insert(value.into());
                }
            }),
        }
    }

    fn close(&mut self) -> Result<(), Failure> {
        // The sets are given up, not emptied: one large group should not hold its memory for all that follow.
        let (numbers, bytes) = (std::mem::take(&mut self.numbers), std::mem::take(&mut self.bytes));
        self.closed.push((numbers.len() + bytes.len()) as i64);
        Ok(())
    }

    fn take(&mut self) -> Result<ArrayRef, Failure> {
        Ok(Arc::new(Int64Array::from(std::mem::take(&mut self.closed))))
    }
}

/// The same for floats that are equal in SQL: all NaN, both zeroes.
fn identity(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() }
}
