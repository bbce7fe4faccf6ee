//! Bytes that the table holds as `string`: checked in bulk, turned into text without copying.
//!
//! A row whose bytes are not UTF-8 goes to quarantine with its bytes as they were (P-051).

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryArray, RecordBatch, StringArray, cast::AsArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::columns::without_rejected;
use crate::{BatchContext, Fate, Rejection, Stage, StageError, StageOutput};

/// Code of the rows refused here.
pub(crate) const INVALID_UTF8: &str = "invalid_utf8";
const NAME: &str = "utf8";

/// The step; columns not named pass untouched.
#[derive(Debug)]
pub(crate) struct Utf8Stage {
    columns: Vec<usize>,
    schema: SchemaRef,
}

/// `input` with the named binary columns as text.
pub(crate) fn text_schema(input: &Schema, names: &[String]) -> SchemaRef {
    let text = |field: &Arc<Field>| match names.contains(field.name()) {
        true => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8)),
        false => Arc::clone(field),
    };
    Arc::new(Schema::new_with_metadata(input.fields().iter().map(text).collect::<Vec<_>>(), input.metadata().clone()))
}

impl Utf8Stage {
    /// Turns the named columns, which are binary in `input`, into text.
    pub(crate) fn new(input: &Schema, names: &[String]) -> Self {
        let columns = names.iter().filter_map(|name| input.index_of(name).ok()).collect();
        Self { columns, schema: text_schema(input, names) }
    }

    /// Rows that are not UTF-8, looked for one by one: only when a bulk check failed.
    fn search(&self, rows: &RecordBatch) -> Vec<Rejection> {
        let mut rejected = Vec::new();
        for &at in &self.columns {
            let Some(column) = rows.column(at).as_binary_opt::<i32>() else { continue };
            for (row, bytes) in column.iter().enumerate() {
                if let Some(Err(error)) = bytes.map(simdutf8::compat::from_utf8) {
                    let name = self.schema.field(at).name();
                    let text = format!("column `{name}` is not UTF-8 at byte {}", error.valid_up_to()).into();
                    let code = INVALID_UTF8.into();
                    rejected.push(Rejection { row: row as u32, fate: Fate::Quarantine, code, text, component: None });
                }
            }
        }
        rejected
    }

    fn texts(&self, rows: &RecordBatch) -> Option<RecordBatch> {
        let mut columns = rows.columns().to_vec();
        for &at in &self.columns {
            columns[at] = Arc::new(as_text(rows.column(at).as_binary_opt::<i32>()?)?) as ArrayRef;
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns).ok()
    }

    /// Text of columns whose valid rows are all UTF-8, whatever bytes lie under their nulls.
    fn copied(&self, rows: &RecordBatch) -> Option<RecordBatch> {
        let mut columns = rows.columns().to_vec();
        for &at in &self.columns {
            let values = rows.column(at).as_binary_opt::<i32>()?.iter();
            let texts =
                values.map(|bytes| bytes.map(std::str::from_utf8).transpose()).collect::<Result<StringArray, _>>();
            columns[at] = Arc::new(texts.ok()?);
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns).ok()
    }
}

impl Stage for Utf8Stage {
    fn name(&self) -> String {
        NAME.into()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn process(&self, rows: &RecordBatch, _context: &BatchContext) -> Result<StageOutput, StageError> {
        if let Some(texts) = self.texts(rows) {
            let origin = (0..rows.num_rows() as u32).collect();
            return Ok(StageOutput { rows: texts, origin, rejected: Vec::new(), rules: Vec::new() });
        }
        let mut output =
            without_rejected(rows, self.search(rows)).map_err(|error| StageError::internal(NAME, error))?;
        let texts = self.texts(&output.rows).or_else(|| self.copied(&output.rows));
        output.rows =
            texts.ok_or_else(|| StageError::internal(NAME, "columns are not binary, or hold more than text"))?;
        Ok(output)
    }
}

/// The same bytes as text, when all of them are UTF-8 and no row begins within a character.
fn as_text(bytes: &BinaryArray) -> Option<StringArray> {
    let offsets = bytes.value_offsets();
    let (first, last) = (*offsets.first()? as usize, *offsets.last()? as usize);
    let values = simdutf8::basic::from_utf8(bytes.value_data().get(first..last)?).ok()?;
    if !offsets.iter().all(|offset| values.is_char_boundary(*offset as usize - first)) {
        return None;
    }
    // SAFETY: offsets, values and nulls are those of a valid `BinaryArray` of the same layout; the bytes between the
    // first and the last offset are UTF-8 as a whole, and every offset is on a character boundary, so the bytes of
    // each row are UTF-8.
    Some(unsafe { StringArray::new_unchecked(bytes.offsets().clone(), bytes.values().clone(), bytes.nulls().cloned()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PoisonSearch;

    fn batch(keys: Vec<Option<&[u8]>>, payloads: Vec<Option<&[u8]>>) -> RecordBatch {
        let schema = Schema::new(vec![
            Field::new("message_key", DataType::Binary, true),
            Field::new("payload", DataType::Binary, true),
        ]);
        let columns: Vec<ArrayRef> = vec![Arc::new(BinaryArray::from(keys)), Arc::new(BinaryArray::from(payloads))];
        RecordBatch::try_new(Arc::new(schema), columns).unwrap()
    }

    fn process(rows: &RecordBatch) -> StageOutput {
        let stage = Utf8Stage::new(&rows.schema(), &["message_key".into(), "payload".into()]);
        stage.process(rows, &BatchContext { batch: 0, timestamp_us: 0, poison: PoisonSearch::new(None) }).unwrap()
    }

    #[test]
    fn p051_valid_bytes_become_text_without_copying() {
        let rows = batch(vec![None, Some(b"k")], vec![Some("año".as_bytes()), Some(b"")]);
        let output = process(&rows.slice(0, 2));
        let payload = output.rows.column(1).as_string::<i32>();
        assert_eq!(payload.value(0), "año");
        assert_eq!(payload.value_data().as_ptr(), rows.column(1).as_binary::<i32>().value_data().as_ptr());
        assert!(output.rows.column(0).is_null(0));
        assert!(output.rejected.is_empty());
    }

    #[test]
    fn p051_a_slice_is_checked_alone() {
        let rows = batch(vec![None; 3], vec![Some(b"\xff"), Some("ñ".as_bytes()), Some(b"\xfe")]);
        let output = process(&rows.slice(1, 1));
        assert_eq!(output.rows.column(1).as_string::<i32>().value(0), "ñ");
    }

    #[test]
    fn p051_invalid_rows_are_refused_and_the_others_go_on() {
        let rows = batch(
            vec![Some(b"a"), Some(b"\xc3"), Some(b"c"), None],
            vec![Some(b"ok"), Some(b"x\xff"), Some(b"ab\xff"), None],
        );
        let output = process(&rows);
        assert_eq!(output.origin, [0, 3]);
        let found: Vec<_> = output.rejected.iter().map(|r| (r.row, &*r.code, &*r.text)).collect();
        assert_eq!(
            found,
            [
                (1, "invalid_utf8", "column `message_key` is not UTF-8 at byte 0"),
                (1, "invalid_utf8", "column `payload` is not UTF-8 at byte 1"),
                (2, "invalid_utf8", "column `payload` is not UTF-8 at byte 2"),
            ]
        );
    }

    #[test]
    fn p051_a_character_cut_by_a_row_boundary_is_no_text() {
        let rows = batch(vec![None, None], vec![Some(b"\xc3"), Some(b"\xb1")]);
        let output = process(&rows);
        assert_eq!((output.origin.len(), output.rejected.len()), (0, 2));
    }

    #[test]
    fn p051_bytes_under_a_null_do_not_matter() {
        let nulls = arrow_buffer::NullBuffer::from(vec![true, false]);
        let offsets = arrow_buffer::OffsetBuffer::from_lengths([1, 1]);
        let odd = BinaryArray::new(offsets, arrow_buffer::Buffer::from(b"a\xff".as_slice()), Some(nulls));
        let rows = batch(vec![None, None], vec![None, None]);
        let rows = RecordBatch::try_new(rows.schema(), vec![rows.column(0).clone(), Arc::new(odd)]).unwrap();
        let output = process(&rows);
        assert_eq!((output.origin.len(), output.rejected.len()), (2, 0));
        assert_eq!(output.rows.column(1).as_string::<i32>().value(0), "a");
        assert!(output.rows.column(1).is_null(1));
    }
}
