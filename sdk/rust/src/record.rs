//! Records: a Rust struct as a row of typed columns.

use arrow_array::{ArrayRef, RecordBatch};

use crate::json::Fault;
use crate::{Column, Failure};

/// A row of typed columns; made by [`record!`](macro@crate::record).
pub trait Record<'a>: Sized {
    /// Builders of its columns.
    type Builders;
    /// Its columns in a batch.
    type Arrays;

    /// Its columns.
    fn columns() -> Vec<Column>;
    /// Builders for so many rows.
    fn builders(rows: usize) -> Self::Builders;
    /// One more row.
    fn append(&self, builders: &mut Self::Builders);
    /// The columns that were built.
    fn finish(builders: Self::Builders) -> Vec<ArrayRef>;
    /// Its columns in a batch that has them in its order.
    ///
    /// # Errors
    /// A column that is missing or has another type.
    fn bind(batch: &'a RecordBatch) -> Result<Self::Arrays, Failure>;
    /// A row of a batch.
    ///
    /// # Errors
    /// The name of a field that may not be null and is.
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
        Self::quickly(text).map_or_else(|| Self::strictly(text), Ok)
    }

    /// Reads a plain message ([`crate::json::Quick`]); `None` for any other and for one that is wrong.
    #[doc(hidden)]
    fn quickly(text: &'a str) -> Option<Self>;

    /// Reads any message, and says what is wrong.
    #[doc(hidden)]
    fn strictly(text: &'a str) -> Result<Self, Fault>;
}

/// Declares a record: a struct whose fields are columns. An `Option` may be null, anything else is never null. Field
/// types are those of [`crate::value`]: `Text<'a>`, `i32`, `Decimal<18, 2>`, `Timestamp`, …
///
/// ```
/// use crisol_sdk::{Decimal, JsonRecord, Text, record};
///
/// record! {
///     /// A sale.
///     pub struct Sale<'a> {
///         pub sku: Text<'a>,
///         pub price: Option<Decimal<18, 2>>,
///     }
/// }
///
/// let sale = Sale::from_json(r#"{"sku": "a-1", "price": 12.5}"#).unwrap();
/// assert_eq!(sale.price.unwrap().to_string(), "12.50");
/// ```
#[macro_export]
macro_rules! record {
    ($(#[$meta:meta])* $vis:vis struct $name:ident<$life:lifetime> $fields:tt) => {
        $crate::record!(@struct [$(#[$meta])*] [$vis] [$name] [<$life>] $fields);
        $crate::record!(@record [$name<$life>] [$life] $fields);
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident $fields:tt) => {
        $crate::record!(@struct [$(#[$meta])*] [$vis] [$name] [] $fields);
        $crate::record!(@record [$name] ['a] $fields);
    };
    (@struct [$($meta:tt)*] [$vis:vis] [$name:ident] [$($generics:tt)*]
     { $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $type:ty),+ $(,)? }) => {
        $($meta)*
        #[allow(missing_docs)]
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name $($generics)* {
            $($(#[$field_meta])* $field_vis $field: $type,)+
        }
    };
    (@record [$record:ty] [$life:lifetime]
     { $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $type:ty),+ $(,)? }) => {
        const _: () = {
            #[allow(non_camel_case_types, clippy::enum_variant_names)]
            #[derive(Clone, Copy)]
            enum Key {
                $($field,)+
                Other,
            }

            impl Key {
                const fn name(self) -> &'static str {
                    $crate::record::field_name(match self {
                        $(Key::$field => stringify!($field),)+
                        Key::Other => "",
                    })
                }

                #[inline]
                fn of(name: &str) -> Key {
                    $(
                        const { assert!((Key::$field as u32) < 64, "a record has at most 64 fields") };
                        if name == const { Key::$field.name() } {
                            return Key::$field;
                        }
                    )+
                    Key::Other
                }
            }

            type Held<$life, F> = <F as $crate::value::Field<$life>>::Value;

            #[allow(missing_docs, missing_debug_implementations, unreachable_pub)]
            pub struct Builders<$life> {
                $($field: <Held<$life, $type> as $crate::value::Value<$life>>::Builder,)+
            }

            #[allow(missing_docs, missing_debug_implementations, unreachable_pub)]
            pub struct Arrays<$life> {
                $($field: &$life <Held<$life, $type> as $crate::value::Value<$life>>::Array,)+
            }

            impl<$life> $crate::record::Record<$life> for $record {
                type Builders = Builders<$life>;
                type Arrays = Arrays<$life>;

                fn columns() -> Vec<$crate::Column> {
                    vec![$($crate::record::column::<$type>(Key::$field.name()),)+]
                }

                fn builders(rows: usize) -> Self::Builders {
                    Builders { $($field: <Held<$life, $type> as $crate::value::Value>::builder(rows),)+ }
                }

                #[inline]
                fn append(&self, builders: &mut Self::Builders) {
                    $(
                        <Held<$life, $type> as $crate::value::Value>::append(
                            &mut builders.$field,
                            $crate::value::Field::as_option(&self.$field),
                        );
                    )+
                }

                fn finish(builders: Self::Builders) -> Vec<$crate::arrow::ArrayRef> {
                    vec![$(<Held<$life, $type> as $crate::value::Value>::finish(builders.$field),)+]
                }

                fn bind(batch: &$life $crate::arrow::RecordBatch) -> Result<Self::Arrays, $crate::Failure> {
                    let mut columns = batch.columns().iter();
                    Ok(Arrays { $($field: $crate::record::array::<$type>(columns.next(), Key::$field.name())?,)+ })
                }

                #[inline]
                fn get(arrays: &Self::Arrays, row: usize) -> Result<Self, &'static str> {
                    Ok(Self { $($field: $crate::record::get(arrays.$field, row).ok_or(const { Key::$field.name() })?,)+ })
                }
            }

            impl<$life> $crate::record::JsonRecord<$life> for $record
            where
                $(Held<$life, $type>: $crate::json::FromJson<$life>,)+
            {
                #[inline]
                fn quickly(text: &$life str) -> Option<Self> {
                    $(let mut $field: Option<Held<$life, $type>> = None;)+
                    let mut seen = 0u64;
                    let mut quick = $crate::json::Quick::new(text);
                    // Most senders write the fields in one order, often this one.
                    $(
                        if quick.named(const { Key::$field.name() }) {
                            seen |= 1 << Key::$field as u32;
                            $field = quick.value_of()?;
                        }
                    )+
                    while let Some(name) = quick.field()? {
                        let key = Key::of(name);
                        let value = quick.value()?;
                        if let Key::Other = key {
                            continue;
                        }
                        if seen & (1 << key as u32) != 0 {
                            return None;
                        }
                        seen |= 1 << key as u32;
                        if let $crate::json::Plain::Null = value {
                            continue;
                        }
                        match key {
                            $(Key::$field => $field = Some($crate::json::FromJson::from_plain(value)?),)+
                            Key::Other => {}
                        }
                    }
                    Some(Self { $($field: $crate::value::Field::from_option($field)?,)+ })
                }

                #[cold]
                fn strictly(text: &$life str) -> Result<Self, $crate::json::Fault> {
                    $(let mut $field: Option<Held<$life, $type>> = None;)+
                    let mut seen = 0u64;
                    let mut reader = $crate::json::Reader::new(text);
                    while let Some(key) = reader.field(Key::of)? {
                        if let Key::Other = key {
                            reader.skip()?;
                            continue;
                        }
                        if seen & (1 << key as u32) != 0 {
                            return Err($crate::json::Fault::twice(key.name()));
                        }
                        seen |= 1 << key as u32;
                        match key {
                            $(Key::$field => match reader.value() {
                                Ok(value) => $field = value,
                                Err(fault) => return Err(fault.of(key.name())),
                            },)+
                            Key::Other => {}
                        }
                    }
                    reader.end()?;
                    Ok(Self {
                        $($field: match $crate::value::Field::from_option($field) {
                            Some(field) => field,
                            None => return Err($crate::json::Fault::null(Key::$field.name())),
                        },)+
                    })
                }
            }
        };
    };
}

/// What the macro stands on.
mod support {
    use arrow_array::Array;

    use super::*;
    use crate::about::type_name;
    use crate::value::{Field, Value};

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
    pub fn array<'a, F: Field<'a>>(
        column: Option<&'a ArrayRef>,
        name: &str,
    ) -> Result<&'a <F::Value as Value<'a>>::Array, Failure> {
        let column = column.ok_or_else(|| Failure::input(format!("column `{name}` is missing")))?;
        let (wanted, found) = (F::Value::data_type(), column.data_type());
        match column.as_any().downcast_ref() {
            Some(array) if *found == wanted => Ok(array),
            _ => {
                let (found, wanted) = (type_name(found), type_name(&wanted));
                Err(Failure::input(format!("column `{name}` is {found}, not {wanted}")))
            }
        }
    }

    #[doc(hidden)]
    #[inline]
    pub fn get<'a, F: Field<'a>>(array: &'a <F::Value as Value<'a>>::Array, row: usize) -> Option<F> {
        F::from_option(array.is_valid(row).then(|| F::Value::get(array, row)))
    }
}

#[doc(hidden)]
pub use support::{array, column, field_name, get};
