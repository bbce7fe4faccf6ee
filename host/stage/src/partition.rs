//! Partition columns: a value that Delta's log cannot keep goes to quarantine, not to the whole batch (D-089, D-090).
//!
//! Partition values stand in the log as text: an empty one reads back as null, and a year that has not four digits is
//! read by some engines and not by others.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef, TimeUnit};

use crate::columns::without_rejected;
use crate::{BatchContext, Fate, Rejection, Stage, StageError, StageOutput};

const NAME: &str = "partition_by";
/// 0001-01-01 to 9999-12-31, in days since 1970.
const DAYS: std::ops::RangeInclusive<i32> = -719_162..=2_932_896;
const DAY_US: i64 = 86_400_000_000;

/// The step.
#[derive(Debug)]
pub(crate) struct PartitionStage {
    columns: Vec<usize>,
    schema: SchemaRef,
}

impl PartitionStage {
    /// Values in the named columns of `schema` are checked. `None` when all values of their types can be kept.
    pub(crate) fn new(schema: &SchemaRef, names: &[String]) -> Option<Self> {
        let columns = names.iter().filter_map(|name| Schema::index_of(schema, name).ok());
        let columns: Vec<usize> = columns.filter(|at| is_checked(schema.field(*at).data_type())).collect();
        (!columns.is_empty()).then(|| Self { columns, schema: Arc::clone(schema) })
    }
}

impl Stage for PartitionStage {
    fn name(&self) -> String {
        NAME.into()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn process(&self, rows: &RecordBatch, _context: &BatchContext) -> Result<StageOutput, StageError> {
        let mut rejected = Vec::new();
        for &at in &self.columns {
            let name = self.schema.field(at).name();
            let (bad, why) = unfit(rows.column(at));
            let code: Arc<str> = format!("partition_value: {name}").into();
            let text: Arc<str> = format!("column `{name}` partitions the table and {why}").into();
            rejected.extend(bad.into_iter().map(|row| Rejection {
                row,
                fate: Fate::Quarantine,
                code: Arc::clone(&code),
                text: Arc::clone(&text),
                component: None,
            }));
        }
        without_rejected(rows, rejected).map_err(|error| StageError::internal(NAME, error))
    }
}

fn is_checked(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::Date32 | DataType::Timestamp(TimeUnit::Microsecond, _))
}

/// Rows whose value cannot be kept, and what is said of them.
fn unfit(column: &ArrayRef) -> (Vec<u32>, &'static str) {
    const YEAR: &str = "has a year that is not between 1 and 9999";
    match column.data_type() {
        DataType::Utf8 => {
            let lengths = column.as_string::<i32>().offsets().lengths();
            (rows_where(column, lengths.map(|length| length == 0)), "is empty, which Delta would give back as null")
        }
        DataType::Date32 => {
            let days = column.as_primitive::<Date32Type>().values().iter();
            (rows_where(column, days.map(|day| !DAYS.contains(day))), YEAR)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            let days =
                column.as_primitive::<TimestampMicrosecondType>().values().iter().map(|us| us.div_euclid(DAY_US));
            let days = days.map(|day| i32::try_from(day).ok());
            (rows_where(column, days.map(|day| !day.is_some_and(|day| DAYS.contains(&day)))), YEAR)
        }
        _ => (Vec::new(), ""),
    }
}

/// Rows that are not null and for which `unfit` says so.
fn rows_where(column: &ArrayRef, unfit: impl Iterator<Item = bool>) -> Vec<u32> {
    let rows = (0..).zip(unfit).filter(|(_, unfit)| *unfit).map(|(row, _)| row);
    rows.filter(|row| column.is_valid(*row as usize)).collect()
}

#[cfg(test)]
mod tests {
    use arrow_array::{Date32Array, Int32Array, StringArray, TimestampMicrosecondArray};
    use arrow_schema::Field;

    use super::*;
    use crate::PoisonSearch;

    fn rejected(column: ArrayRef) -> Vec<u32> {
        let schema = Arc::new(Schema::new(vec![Field::new("p", column.data_type().clone(), true)]));
        let rows = RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap();
        let stage = PartitionStage::new(&schema, &["p".into()]).unwrap();
        let output =
            stage.process(&rows, &BatchContext { batch: 0, timestamp_us: 0, poison: PoisonSearch::new(None) }).unwrap();
        assert!(output.rejected.iter().all(|r| &*r.code == "partition_value: p" && r.text.starts_with("column `p` ")));
        assert_eq!(output.rows.num_rows() + output.rejected.len(), rows.num_rows());
        output.rejected.iter().map(|r| r.row).collect()
    }

    #[test]
    fn d090_empty_text_is_refused_and_null_is_kept() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some(""), Some(" "), Some("")]));
        assert_eq!(rejected(Arc::clone(&texts)), [2, 4]);
        assert_eq!(rejected(texts.slice(2, 3)), [0, 2]);
    }

    #[test]
    fn d089_years_of_other_than_four_digits_are_refused() {
        let days = vec![Some(-719_163), Some(-719_162), None, Some(0), Some(2_932_896), Some(2_932_897)];
        assert_eq!(rejected(Arc::new(Date32Array::from(days.clone()))), [0, 5]);
        assert_eq!(rejected(Arc::new(Date32Array::from(vec![i32::MIN, i32::MAX]))), [0, 1]);
        let us = days.into_iter().map(|day| day.map(|day| i64::from(day) * DAY_US + DAY_US - 1));
        assert_eq!(rejected(Arc::new(us.collect::<TimestampMicrosecondArray>())), [0, 5]);
        assert_eq!(rejected(Arc::new(TimestampMicrosecondArray::from(vec![i64::MIN, i64::MAX]))), [0, 1]);
    }

    #[test]
    fn types_whose_values_can_all_be_kept_cost_nothing() {
        let column = Int32Array::from(vec![1]);
        let schema = Arc::new(Schema::new(vec![Field::new("p", column.data_type().clone(), true)]));
        assert!(PartitionStage::new(&schema, &["p".into()]).is_none());
    }
}
