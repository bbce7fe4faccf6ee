//! From the JSON of a sample to a [`Sample`]. Keys that are not known are refused.

use std::collections::HashSet;

use arrow_schema::DataType;
use crisol_ipc::types;
use serde_json::Value;

use super::{Expect, ExpectedRejection, Object, Sample};
use crate::columns::nearest;
use crate::limits::COLUMNS_MAX;
use crate::text::printable;

const KEYS: [&str; 7] = ["name", "options", "timestamp", "input", "group_by", "given", "expect"];
const EXPECT_KEYS: [&str; 3] = ["rows", "rejected", "filtered"];
const REJECTION_KEYS: [&str; 3] = ["row", "code", "text"];
const NAME_BYTES_MAX: usize = 200;
/// 2026-04-01T00:00:00Z, as in the tests of the SDK.
const TIMESTAMP_US: i64 = 1_775_001_600_000_000;

/// Reads a sample.
pub(super) fn sample(value: Value) -> Result<Sample, String> {
    let mut written = Keys::of(value, "", &KEYS)?;
    let name = match written.take("name") {
        Some(Value::String(name)) if !name.trim().is_empty() => printable(&name, NAME_BYTES_MAX),
        _ => return Err("`name` is a text that says what it shows".into()),
    };
    let named = |what: String| format!("`{name}`: {what}");
    read(&name, written).map_err(named)
}

fn read(name: &str, mut written: Keys) -> Result<Sample, String> {
    let given = rows(written.take("given"), "given")?.unwrap_or_default();
    if given.is_empty() {
        return Err("`given` is a list of rows, at least one".into());
    }
    let expect =
        written.take("expect").ok_or("`expect` is missing: an object with `rows`, `rejected` or `filtered`")?;
    Ok(Sample {
        name: name.to_string(),
        options: object(written.take("options"), "options")?,
        timestamp_us: written.take("timestamp").map_or(Ok(TIMESTAMP_US), timestamp)?,
        input: input(object(written.take("input"), "input")?)?,
        group_by: group_by(written.take("group_by"))?,
        expect: expected(expect, given.len())?,
        given,
    })
}

fn expected(value: Value, given: usize) -> Result<Expect, String> {
    let mut written = Keys::of(value, "expect", &EXPECT_KEYS)?;
    let rejected = rejections(written.take("rejected"), "expect.rejected", given)?;
    let filtered = rejections(written.take("filtered"), "expect.filtered", given)?;
    let mut seen = HashSet::new();
    match rejected.iter().chain(&filtered).find(|rejection| !seen.insert(rejection.row)) {
        Some(ExpectedRejection { row, .. }) => Err(format!("`expect` has row {row} rejected or filtered twice")),
        None => Ok(Expect { rows: rows(written.take("rows"), "expect.rows")?, rejected, filtered }),
    }
}

fn rejections(value: Option<Value>, place: &str, given: usize) -> Result<Vec<ExpectedRejection>, String> {
    list(value, place)?
        .unwrap_or_default()
        .into_iter()
        .enumerate()
        .map(|(at, value)| rejection(value, &format!("{place}[{at}]"), given))
        .collect()
}

fn rejection(value: Value, place: &str, given: usize) -> Result<ExpectedRejection, String> {
    let mut written = Keys::of(value, place, &REJECTION_KEYS)?;
    let row = written.take("row").and_then(|row| row.as_u64()).and_then(|row| usize::try_from(row).ok());
    let row = row.filter(|row| *row < given).ok_or_else(|| {
        format!("`{place}.row` is the number of a given row, counted from 0; the last is {}", given - 1)
    })?;
    let Some(Value::String(code)) = written.take("code") else {
        return Err(format!("`{place}.code` is a text, `corrupt_record`"));
    };
    let text = match written.take("text") {
        None => None,
        Some(Value::String(text)) => Some(text),
        Some(_) => return Err(format!("`{place}.text` is a text")),
    };
    Ok(ExpectedRejection { row, code, text })
}

fn timestamp(value: Value) -> Result<i64, String> {
    let parsed = value.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    parsed.map(|time| time.as_microsecond()).ok_or_else(|| "`timestamp` is a time, `2026-04-01T00:00:00Z`".into())
}

fn input(written: Object) -> Result<Vec<(String, DataType)>, String> {
    if written.len() > COLUMNS_MAX {
        return Err(format!("`input` has {} columns, {COLUMNS_MAX} are allowed", written.len()));
    }
    let column = |(name, value): (String, Value)| {
        let wrong = |what: &str| format!("`input.{}`: {}", printable(&name, 200), printable(what, 500));
        let text = value.as_str().ok_or_else(|| wrong("a type, `decimal(18,2)`"))?;
        let data_type = types::parse(text).map_err(|what| wrong(&what))?;
        Ok((name, data_type))
    };
    written.into_iter().map(column).collect()
}

fn group_by(value: Option<Value>) -> Result<Vec<String>, String> {
    let name = |value: Value| match value {
        Value::String(name) => Ok(name),
        _ => Err("`group_by` is a list of columns".to_string()),
    };
    list(value, "group_by")?.unwrap_or_default().into_iter().map(name).collect()
}

fn rows(value: Option<Value>, place: &str) -> Result<Option<Vec<Object>>, String> {
    let Some(rows) = list(value, place)? else { return Ok(None) };
    let row = |(at, value)| match value {
        Value::Object(row) => Ok(row),
        _ => Err(format!("`{place}[{at}]` is no row: an object with its columns")),
    };
    rows.into_iter().enumerate().map(row).collect::<Result<_, _>>().map(Some)
}

fn list(value: Option<Value>, place: &str) -> Result<Option<Vec<Value>>, String> {
    match value {
        None => Ok(None),
        Some(Value::Array(list)) => Ok(Some(list)),
        Some(_) => Err(format!("`{place}` is no list")),
    }
}

fn object(value: Option<Value>, place: &str) -> Result<Object, String> {
    match value {
        None => Ok(Object::new()),
        Some(Value::Object(object)) => Ok(object),
        Some(_) => Err(format!("`{place}` is no object")),
    }
}

/// An object whose keys are all known.
struct Keys(Object);

impl Keys {
    fn of(value: Value, place: &str, known: &[&'static str]) -> Result<Self, String> {
        let Value::Object(written) = value else {
            return Err(if place.is_empty() { "it is no object".into() } else { format!("`{place}` is no object") });
        };
        match written.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(Self(written)),
            Some(key) => {
                let place = if place.is_empty() { String::new() } else { format!("`{place}`: ") };
                let hint = match nearest(key, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("keys are {}", known.join(", ")),
                };
                Err(format!("{place}unknown key `{}`; {hint}", printable(key, 100)))
            }
        }
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_sample_needs_a_name_rows_and_what_is_expected_of_them() {
        let read = sample(json!({ "name": "a", "given": [{ "a": 1 }], "expect": {} })).unwrap();
        assert_eq!((read.timestamp_us, read.expect), (TIMESTAMP_US, Expect::default()));
        let whole = json!({
            "name": "b", "options": { "n": 1 }, "timestamp": "1970-01-01T00:00:01+00:00", "input": { "a": "long" },
            "group_by": ["a"], "given": [{ "a": 1 }, {}],
            "expect": { "rows": [{}], "rejected": [{ "row": 1, "code": "x", "text": "why" }], "filtered": [] },
        });
        let read = sample(whole).unwrap();
        assert_eq!((read.timestamp_us, &*read.group_by), (1_000_000, &["a".to_string()][..]));
        assert_eq!(read.input, [("a".to_string(), DataType::Int64)]);
        assert_eq!(read.expect.rows.map(|rows| rows.len()), Some(1));
        assert_eq!(read.expect.rejected, [ExpectedRejection { row: 1, code: "x".into(), text: Some("why".into()) }]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place_and_the_nearest_key() {
        let refused = |key: &str, value: Value| {
            let mut written = json!({ "name": "a", "given": [{ "a": 1 }], "expect": {} });
            written[key] = value;
            sample(written).unwrap_err()
        };
        assert_eq!(refused("expct", json!({})), "unknown key `expct`; did you mean `expect`?");
        assert_eq!(refused("name", json!(" ")), "`name` is a text that says what it shows");
        assert_eq!(refused("given", json!([])), "`a`: `given` is a list of rows, at least one");
        assert_eq!(refused("given", json!([7])), "`a`: `given[0]` is no row: an object with its columns");
        assert_eq!(refused("expect", json!({ "row": [] })), "`a`: `expect`: unknown key `row`; did you mean `rows`?");
        let rejected = |rejection: Value| refused("expect", json!({ "rejected": [rejection] }));
        let text = "`a`: `expect.rejected[0].row` is the number of a given row, counted from 0; the last is 0";
        assert_eq!(rejected(json!({ "row": 1, "code": "x" })), text);
        assert_eq!(rejected(json!({ "row": -1, "code": "x" })), text);
        assert_eq!(rejected(json!({ "row": 0 })), "`a`: `expect.rejected[0].code` is a text, `corrupt_record`");
        let twice = json!({ "rejected": [{ "row": 0, "code": "x" }], "filtered": [{ "row": 0, "code": "y" }] });
        assert_eq!(refused("expect", twice), "`a`: `expect` has row 0 rejected or filtered twice");
        assert_eq!(refused("timestamp", json!("today")), "`a`: `timestamp` is a time, `2026-04-01T00:00:00Z`");
        assert_eq!(
            refused("input", json!({ "a": "strin" })),
            "`a`: `input.a`: `strin` is not a type; did you mean `string`?"
        );
        assert_eq!(refused("group_by", json!("a")), "`a`: `group_by` is no list");
    }

    #[test]
    fn text_of_a_stranger_is_safe_to_print() {
        let error = sample(json!({ "name": "a", "\u{1b}[31m": 1 })).unwrap_err();
        assert!(error.contains("`\\u{1b}[31m`"), "{error}");
        let read = sample(json!({ "name": "\u{1b}[31m", "given": [{}], "expect": {} })).unwrap();
        assert_eq!(read.name, "\\u{1b}[31m");
    }
}
