//! Which rows of a quarantine are meant.

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;
use serde::{Deserialize, Serialize};

/// Rows of a quarantine by reason, stage and time; what is absent chooses all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The reason, `unsupported_schema_version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The stage that refused them, `decode orders`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// Earliest timestamp of the batch, microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_us: Option<i64>,
    /// First timestamp of a batch that is too late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_us: Option<i64>,
}

impl Selection {
    /// The rows that are meant, of rows with the columns `code`, `stage` and `batch_timestamp`.
    ///
    /// # Errors
    /// A column is missing.
    pub fn of(&self, rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let [codes, stages] = [text(rows, "code")?, text(rows, "stage")?];
        let times =
            rows.column_by_name("batch_timestamp").and_then(|c| c.as_primitive_opt::<TimestampMicrosecondType>());
        let times = times.ok_or_else(|| missing("batch_timestamp"))?;
        let is = |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|wanted| wanted == found);
        let meant = |row: usize| {
            is(&self.code, codes.value(row))
                && is(&self.stage, stages.value(row))
                && self.since_us.is_none_or(|since| times.value(row) >= since)
                && self.until_us.is_none_or(|until| times.value(row) < until)
        };
        let meant: BooleanArray = (0..rows.num_rows()).map(|row| Some(meant(row))).collect();
        filter_record_batch(rows, &meant)
    }
}

fn text<'a>(rows: &'a RecordBatch, name: &str) -> Result<&'a arrow_array::StringArray, ArrowError> {
    rows.column_by_name(name).and_then(|column| column.as_string_opt::<i32>()).ok_or_else(|| missing(name))
}

fn missing(name: &str) -> ArrowError {
    ArrowError::SchemaError(format!("a quarantine has no column `{name}`"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, StringArray, TimestampMicrosecondArray};

    use super::*;

    fn chosen(selection: &Selection) -> Vec<i64> {
        let rows = RecordBatch::try_from_iter([
            ("code", Arc::new(StringArray::from(vec!["a", "b", "a"])) as ArrayRef),
            ("stage", Arc::new(StringArray::from(vec!["decode x", "decode x", "not_null"]))),
            ("batch_timestamp", Arc::new(TimestampMicrosecondArray::from(vec![1, 2, 3]).with_timezone("UTC"))),
        ])
        .unwrap();
        let chosen = selection.of(&rows).unwrap();
        chosen.column(2).as_primitive::<TimestampMicrosecondType>().values().to_vec()
    }

    #[test]
    fn rows_are_chosen_by_reason_stage_and_time_and_all_without_a_word() {
        assert_eq!(chosen(&Selection::default()), [1, 2, 3]);
        assert_eq!(chosen(&Selection { code: Some("a".into()), ..Selection::default() }), [1, 3]);
        assert_eq!(chosen(&Selection { stage: Some("decode x".into()), ..Selection::default() }), [1, 2]);
        assert_eq!(chosen(&Selection { since_us: Some(2), ..Selection::default() }), [2, 3]);
        assert_eq!(chosen(&Selection { until_us: Some(2), ..Selection::default() }), [1], "until is exclusive");
    }
}
