//! Records: a Rust struct as a row of typed columns.

mod declare;

use arrow_array::{Array, ArrayRef};

use crate::about::type_name;
use crate::json::{Fault, Quick, Reader};
use crate::value::{Field, Value};
use crate::{Column, Failure};

/// A row of typed columns; made by [`record!`](macro@crate::record).
pub trait Record<'a>: Sized {
    /// Builders of its columns.
    type Builders: std::fmt::Debug;
    /// Its columns in a batch.
    type Arrays;

    /// Its columns.
    fn columns() -> Vec<Column>;
    /// Builders for so many rows.
    fn builders(rows: usize) -> Self::Builders;
    /// One more row; without a record a row of nulls, which stands under a struct that is null.
    fn append(record: Option<&Self>, builders: &mut Self::Builders);
    /// The columns that were built.
    fn finish(builders: Self::Builders) -> Vec<ArrayRef>;
    /// Its columns, which are in its order.
    ///
    /// # Errors
    /// A column that is missing or has another type.
    fn bind(columns: &'a [ArrayRef]) -> Result<Self::Arrays, Failure>;
    /// A row.
    ///
    /// # Errors
    /// The name of a field that is null, or has a null in it, where none may be.
    fn get(arrays: &Self::Arrays, row: usize) -> Result<Self, &'static str>;
}

/// A record that can be read from a JSON message; made by [`record!`](macro@crate::record) too.
pub trait JsonRecord<'a>: Record<'a> {
    /// Reads a message that is one JSON object.
    ///
    /// # Errors
    /// What [`crate::json`] calls a fault.
    #[inline]
    fn from_json(text: &'a str) -> Result<Self, Fault> {
        let mut quick = Quick::new(text);
        match Self::quickly(&mut quick) {
            Some(record) if quick.at_end() => Ok(record),
            _ => Self::strictly(&mut Reader::new(text)),
        }
    }

    /// Reads a plain object ([`crate::json::Quick`]); `None` for any other and for one that is wrong.
    #[doc(hidden)]
    fn quickly(quick: &mut Quick<'a>) -> Option<Self>;

    /// Reads any object, and says what is wrong. After the outermost one nothing may follow.
    #[doc(hidden)]
    fn strictly(reader: &mut Reader<'a>) -> Result<Self, Fault>;
}

/// The name of a field as it was meant: `r#type` is `type`.
#[doc(hidden)]
pub const fn field_name(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

#[doc(hidden)]
pub fn column<'a, F: Field<'a>>(name: &str) -> Column {
    Column { name: name.to_string(), data_type: F::Value::data_type(), nullable: F::NULLABLE }
}

#[doc(hidden)]
pub fn bound<'a, F: Field<'a>>(
    column: Option<&'a ArrayRef>,
    name: &str,
) -> Result<<F::Value as Value<'a>>::Column, Failure> {
    let column = column.ok_or_else(|| Failure::input(format!("column `{name}` is missing")))?;
    let (wanted, found) = (F::Value::data_type(), column.data_type());
    let bound = if *found == wanted { F::Value::bind(column.as_ref()) } else { None };
    bound.ok_or_else(|| {
        let (found, wanted) = (type_name(found), type_name(&wanted));
        Failure::input(format!("column `{name}` is {found}, not {wanted}"))
    })
}
