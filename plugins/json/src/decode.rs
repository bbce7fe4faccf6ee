//! A column of payloads in, typed columns out; a row that does not fit is rejected, and says why.

use arrow_array::cast::AsArray;
use arrow_array::types::ByteArrayType;
use arrow_array::{Array, GenericByteArray};
use arrow_schema::{ArrowError, DataType, Fields};
use crisol_sdk::columns::Output;
use crisol_sdk::{Fate, Rejections};

use crate::fault::{Fault, Parsed};
use crate::object::Object;
use crate::row;

/// A payload that does not fit the columns.
const CORRUPT: &str = "corrupt_record";
/// A payload that is null.
const NULL: &str = "null_payload";

/// Decodes payloads into columns that are fixed beforehand.
#[derive(Debug)]
pub struct Decoder {
    columns: Object,
    /// Name of the column of payloads, for messages.
    input: String,
}

impl Decoder {
    /// A decoder from the column `input` into `columns`.
    ///
    /// # Errors
    /// A column whose type JSON cannot fill, in words for people.
    pub fn new(input: &str, columns: &Fields) -> Result<Self, String> {
        Ok(Self { columns: Object::new(columns)?, input: input.to_string() })
    }

    /// Decodes strings or binaries. Each row is in the columns once or rejected once.
    ///
    /// # Errors
    /// Payloads of another type, and defects of this component.
    pub fn decode(&mut self, payloads: &dyn Array) -> Result<Output, ArrowError> {
        match payloads.data_type() {
            DataType::Utf8 => self.decode_rows(payloads.as_string::<i32>(), true),
            DataType::Binary => {
                let payloads = payloads.as_binary::<i32>();
                self.decode_rows(payloads, is_all_text(payloads))
            }
            other => Err(ArrowError::InvalidArgumentError(format!("`{}` is {other}, not text or bytes", self.input))),
        }
    }

    /// `text`: all payloads are known to be UTF-8.
    fn decode_rows<T: ByteArrayType<Offset = i32>>(
        &mut self,
        payloads: &GenericByteArray<T>,
        text: bool,
    ) -> Result<Output, ArrowError> {
        let mut origin = Vec::with_capacity(payloads.len());
        let mut rejected = Rejections::default();
        self.columns.reserve(payloads.len());
        for index in 0..payloads.len() {
            let row = i32::try_from(index).map_err(|e| ArrowError::InvalidArgumentError(e.to_string()))?;
            if payloads.is_null(index) {
                rejected.push(row, Fate::Quarantine, NULL, &format!("`{}` is null", self.input));
                continue;
            }
            let payload: &[u8] = payloads.value(index).as_ref();
            match self.decode_row(payload, text) {
                Ok(()) => origin.push(row),
                Err(fault) => {
                    self.columns.truncate(origin.len());
                    rejected.push(row, Fate::Quarantine, CORRUPT, &fault.to_string());
                }
            }
        }
        Ok(Output { columns: self.columns.finish()?, origin, rejected })
    }

    fn decode_row(&mut self, payload: &[u8], text: bool) -> Parsed<()> {
        if !text && let Err(error) = std::str::from_utf8(payload) {
            return Err(Fault::new(format!("invalid UTF-8 at byte {}", error.valid_up_to())));
        }
        row::read(payload, &mut self.columns)
    }
}

/// All payloads are UTF-8: their bytes together are, and none starts within a character.
fn is_all_text(payloads: &GenericByteArray<arrow_array::types::BinaryType>) -> bool {
    let offsets = payloads.value_offsets();
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else { return true };
    let Some(bytes) = payloads.value_data().get(first as usize..last as usize) else { return false };
    simdutf8::basic::from_utf8(bytes)
        .is_ok_and(|text| offsets.iter().all(|&offset| text.is_char_boundary((offset - first) as usize)))
}
