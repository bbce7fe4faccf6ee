//! `min` and `max`.

use std::cmp::Ordering;
use std::ops::Range;

use crisol_sdk::Failure;
use crisol_sdk::arrow::{ArrayRef, DataType, RecordBatch};

use crate::aggregate::Accumulator;
use crate::values::{self, Class, compare_floats};

/// The least or the greatest value of a group; null when all are.
#[derive(Debug)]
pub(crate) struct Extreme {
    column: usize,
    data_type: DataType,
    /// How a value compares to the best one when it is better.
    better: Ordering,
    best: Best,
}

#[derive(Debug)]
enum Best {
    Exact(Kept<i128>),
    Float(Kept<f64>),
    Bytes(Kept<Box<[u8]>>),
}

/// The best value of the group at work, and those of closed groups.
#[derive(Debug)]
struct Kept<V> {
    best: Option<V>,
    closed: Vec<Option<V>>,
}

impl<V> Kept<V> {
    fn new() -> Self {
        Kept { best: None, closed: Vec::new() }
    }

    fn see(&mut self, is_better: impl FnOnce(&V) -> bool, value: impl FnOnce() -> V) {
        if self.best.as_ref().is_none_or(is_better) {
            self.best = Some(value());
        }
    }

    fn close(&mut self) {
        self.closed.push(self.best.take());
    }
}

impl Extreme {
    pub(crate) fn min(column: usize, class: Class, data_type: DataType) -> Self {
        Self::new(column, class, data_type, Ordering::Less)
    }

    pub(crate) fn max(column: usize, class: Class, data_type: DataType) -> Self {
        Self::new(column, class, data_type, Ordering::Greater)
    }

    fn new(column: usize, class: Class, data_type: DataType, better: Ordering) -> Self {
        let best = match class {
            Class::Exact => Best::Exact(Kept::new()),
            Class::Float => Best::Float(Kept::new()),
            Class::Bytes => Best::Bytes(Kept::new()),
        };
        Extreme { column, data_type, better, best }
    }
}

impl Accumulator for Extreme {
    fn add(&mut self, rows: &RecordBatch, range: Range<usize>) -> Result<(), Failure> {
        let (column, better) = (rows.column(self.column), self.better);
        match &mut self.best {
            Best::Exact(kept) => {
                let mut see = |value: i128| kept.see(|best| value.cmp(best) == better, || value);
                match values::decimals(column, range.clone()) {
                    Some(values) => values::best(values, better).into_iter().for_each(see),
                    None => return values::exact(column, range, &mut see),
                }
                Ok(())
            }
            Best::Float(kept) => values::floats(column, range, |value| {
                kept.see(|best| compare_floats(value, *best) == better, || value);
            }),
            Best::Bytes(kept) => {
                values::bytes(column, range, |value| kept.see(|best| value.cmp(best) == better, || value.into()))
            }
        }
    }

    fn close(&mut self) -> Result<(), Failure> {
        match &mut self.best {
            Best::Exact(kept) => kept.close(),
            Best::Float(kept) => kept.close(),
            Best::Bytes(kept) => kept.close(),
        }
        Ok(())
    }

    fn take(&mut self) -> Result<ArrayRef, Failure> {
        match &mut self.best {
            Best::Exact(kept) => values::exact_column(&self.data_type, std::mem::take(&mut kept.closed)),
            Best::Float(kept) => Ok(values::float_column(&self.data_type, std::mem::take(&mut kept.closed))),
            Best::Bytes(kept) => values::bytes_column(&self.data_type, &std::mem::take(&mut kept.closed)),
        }
    }
}
