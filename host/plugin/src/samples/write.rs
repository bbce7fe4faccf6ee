//! From rows that a component was given to a sample, and from a sample to its JSON.

use arrow_array::RecordBatch;
use crisol_ipc::types;
use serde_json::{Value, json};

use super::{Expect, ExpectedRejection, Object, Sample, decode, encode};

impl Sample {
    /// A sample of these rows, as a component was given them. Types are named where the values do not tell them.
    pub fn of(name: &str, options: Object, timestamp_us: i64, rows: &RecordBatch, expect: Expect) -> Self {
        let schema = rows.schema_ref();
        let cells = |row: usize| {
            let columns = schema.fields().iter().zip(rows.columns());
            columns.map(|(field, column)| (field.name().clone(), encode::value(column.as_ref(), row))).collect()
        };
        let given: Vec<Object> = (0..rows.num_rows()).map(cells).collect();
        let tells = |name: &str| decode::inferred(&given.iter().filter_map(|row| row.get(name)).collect::<Vec<_>>());
        let untold = schema.fields().iter().filter(|field| tells(field.name()).as_ref() != Some(field.data_type()));
        let input = untold.map(|field| (field.name().clone(), field.data_type().clone())).collect();
        Self { name: name.into(), options, timestamp_us, input, group_by: Vec::new(), given, expect }
    }

    /// As a file has it; what is empty is left out.
    pub fn to_json(&self) -> Value {
        let mut written = json!({ "name": self.name });
        if !self.options.is_empty() {
            written["options"] = self.options.clone().into();
        }
        written["timestamp"] = match jiff::Timestamp::from_microsecond(self.timestamp_us) {
            Ok(time) => time.to_string().into(),
            Err(_) => Value::Null,
        };
        if !self.input.is_empty() {
            let named = |(name, data_type): &(String, _)| Some((name.clone(), types::name(data_type)?.into()));
            written["input"] = Value::Object(self.input.iter().filter_map(named).collect());
        }
        if !self.group_by.is_empty() {
            written["group_by"] = self.group_by.clone().into();
        }
        written["given"] = self.given.clone().into();
        written["expect"] = self.expect.to_json();
        written
    }
}

impl Expect {
    /// As a file has it; what is empty is left out.
    pub fn to_json(&self) -> Value {
        let mut written = json!({});
        if let Some(rows) = &self.rows {
            written["rows"] = rows.clone().into();
        }
        for (key, rejections) in [("rejected", &self.rejected), ("filtered", &self.filtered)] {
            if !rejections.is_empty() {
                written[key] = rejections.iter().map(ExpectedRejection::to_json).collect();
            }
        }
        written
    }
}

impl ExpectedRejection {
    fn to_json(&self) -> Value {
        let mut written = json!({ "row": self.row, "code": self.code });
        if let Some(text) = &self.text {
            written["text"] = text.clone().into();
        }
        written
    }
}
