//! Bytes as text, for people and for JSON: as they are when they are UTF-8, else `0x` and hexadecimal digits.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, RecordBatch, StringArray, StructArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};

/// The same rows without binary columns, at every depth.
pub(crate) fn readable(rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = rows.columns().iter().map(column).collect::<Result<Vec<_>, _>>()?;
    let schema = rows.schema();
    let fields = schema.fields().iter().zip(&columns).map(|(field, column)| retyped(field, column.data_type()));
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns)
}

fn column(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(match array.data_type() {
        DataType::Binary => {
            let bytes = array.as_binary::<i32>();
            Arc::new(bytes.iter().map(|value| value.map(text)).collect::<StringArray>())
        }
        DataType::Struct(_) => Arc::new(structure(array.as_struct())?),
        DataType::List(field) => {
            let list = array.as_list::<i32>();
            let values = column(list.values())?;
            let field = retyped(field, values.data_type());
            Arc::new(ListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned())?)
        }
        DataType::Map(field, ordered) => {
            let map = array.as_map();
            let entries = structure(map.entries())?;
            let field = retyped(field, entries.data_type());
            Arc::new(MapArray::try_new(field, map.offsets().clone(), entries, map.nulls().cloned(), *ordered)?)
        }
        _ => Arc::clone(array),
    })
}

fn structure(array: &StructArray) -> Result<StructArray, ArrowError> {
    let columns = array.columns().iter().map(column).collect::<Result<Vec<_>, _>>()?;
    let fields = array.fields().iter().zip(&columns).map(|(field, column)| retyped(field, column.data_type()));
    StructArray::try_new(fields.collect::<Vec<_>>().into(), columns, array.nulls().cloned())
}

fn retyped(field: &FieldRef, data_type: &DataType) -> FieldRef {
    Arc::new(Field::clone(field).with_data_type(data_type.clone()))
}

fn text(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    bytes.iter().fold("0x".into(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::BinaryArray;
    use arrow_array::builder::{BinaryBuilder, ListBuilder};

    #[test]
    fn bytes_are_text_where_they_are_utf8_and_marked_where_not() {
        let bytes: ArrayRef = Arc::new(BinaryArray::from_opt_vec(vec![Some("añ".as_bytes()), Some(b"\xff\x00"), None]));
        let mut lists = ListBuilder::new(BinaryBuilder::new());
        for _ in 0..3 {
            lists.values().append_value(b"h");
            lists.append(true);
        }
        let lists: ArrayRef = Arc::new(lists.finish());
        let rows = RecordBatch::try_from_iter([("payload", bytes), ("list", lists)]).unwrap();
        let shown = readable(&rows).unwrap();
        let payloads: Vec<_> = shown.column(0).as_string::<i32>().iter().collect();
        assert_eq!(payloads, [Some("añ"), Some("0xff00"), None]);
        assert_eq!(shown.column(1).as_list::<i32>().value(2).as_string::<i32>().value(0), "h");
    }
}
