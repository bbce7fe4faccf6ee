//! Values of a row: what Rust type stands for which column type, and how values get in and out of columns.

mod decimal;
mod list;
mod map;
mod structure;
mod text;
mod time;

pub use decimal::Decimal;
pub use list::{ListBuilder, ListColumn};
pub use map::{Map, MapBuilder, MapColumn};
pub use structure::{StructBuilder, StructColumn, struct_of};
pub use text::TextBuilder;
pub use time::{Date, Timestamp};

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, Float32Builder, Float64Builder, Int8Builder,
    Int16Builder, Int32Builder, Int64Builder, TimestampMicrosecondBuilder,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::DataType;
use crisol_ipc::types;

/// Text of a row: borrowed from the input where it can be.
pub type Text<'a> = Cow<'a, str>;
/// Bytes of a row: borrowed from the input where they can be.
pub type Bytes<'a> = Cow<'a, [u8]>;

/// A type that a column can have.
pub trait Value<'a>: Sized + Clone {
    /// A column of a batch, ready to be read.
    type Column;
    /// What builds a column.
    type Builder: std::fmt::Debug;

    /// The type of the column.
    fn data_type() -> DataType;
    /// The column to read; `None` when it has another type.
    fn bind(column: &'a dyn Array) -> Option<Self::Column>;
    /// Is the value of a row null?
    fn is_null(column: &Self::Column, row: usize) -> bool;
    /// The value of a row that is not null; `None` when there is a null in it where none may be.
    fn get(column: &Self::Column, row: usize) -> Option<Self>;
    /// A builder for so many rows.
    fn builder(rows: usize) -> Self::Builder;
    /// One more value, or a null.
    fn append(builder: &mut Self::Builder, value: Option<&Self>);
    /// The column.
    fn finish(builder: Self::Builder) -> ArrayRef;
}

/// A field of a record: a [`Value`], which is never null, or an [`Option`] of one.
pub trait Field<'a>: Sized {
    /// What it holds.
    type Value: Value<'a>;
    /// May it be null?
    const NULLABLE: bool;
    /// The field, `None` when it may not be null and is.
    fn from_option(value: Option<Self::Value>) -> Option<Self>;
    /// Its value, if it is not null.
    fn as_option(&self) -> Option<&Self::Value>;

    /// The field in a row of a column; `None` when it is null, or there is a null in it, where none may be.
    #[inline]
    fn get(column: &<Self::Value as Value<'a>>::Column, row: usize) -> Option<Self> {
        if Self::Value::is_null(column, row) {
            return Self::from_option(None);
        }
        Self::from_option(Some(Self::Value::get(column, row)?))
    }
}

impl<'a, V: Value<'a>> Field<'a> for Option<V> {
    type Value = V;
    const NULLABLE: bool = true;

    #[inline]
    fn from_option(value: Option<V>) -> Option<Self> {
        Some(value)
    }

    #[inline]
    fn as_option(&self) -> Option<&V> {
        self.as_ref()
    }
}

/// A value as a field that is never null.
#[doc(hidden)]
#[macro_export]
macro_rules! never_null {
    ([$($generics:tt)*] [$($life:tt)*] $value:ty) => {
        impl<$($generics)*> $crate::value::Field<$($life)*> for $value {
            type Value = $value;
            const NULLABLE: bool = false;

            #[inline]
            fn from_option(value: Option<$value>) -> Option<Self> {
                value
            }

            #[inline]
            fn as_option(&self) -> Option<&$value> {
                Some(self)
            }
        }
    };
}
use never_null;

/// A value that Arrow stores as it is, or after a conversion each way.
macro_rules! value {
    ($({$($generics:tt)*})? $value:ty, $array:ty, $builder:ty, $type:expr, |$b:ident, $rows:ident| $new:expr,
     |$v:ident| $into:expr, |$raw:ident| $from:expr) => {
        impl<'a $(, $($generics)*)?> Value<'a> for $value {
            type Column = &'a $array;
            type Builder = $builder;

            fn data_type() -> DataType {
                $type
            }

            fn bind(column: &'a dyn Array) -> Option<&'a $array> {
                column.as_any().downcast_ref()
            }

            #[inline]
            fn is_null(column: &&'a $array, row: usize) -> bool {
                column.is_null(row)
            }

            #[inline]
            fn get(column: &&'a $array, row: usize) -> Option<Self> {
                let $raw = column.value(row);
                Some($from)
            }

            fn builder($rows: usize) -> $builder {
                type $b = $builder;
                $new
            }

            #[inline]
            fn append(builder: &mut $builder, value: Option<&Self>) {
                match value {
                    Some($v) => builder.append_value($into),
                    None => builder.append_null(),
                }
            }

            fn finish(mut builder: $builder) -> ArrayRef {
                Arc::new(builder.finish())
            }
        }
        never_null!(['a $(, $($generics)*)?] ['a] $value);
    };
}

value!(bool, BooleanArray, BooleanBuilder, DataType::Boolean, |B, n| B::with_capacity(n), |v| *v, |v| v);
value!(i8, Int8Array, Int8Builder, DataType::Int8, |B, n| B::with_capacity(n), |v| *v, |v| v);
value!(i16, Int16Array, Int16Builder, DataType::Int16, |B, n| B::with_capacity(n), |v| *v, |v| v);
value!(i32, Int32Array, Int32Builder, DataType::Int32, |B, n| B::with_capacity(n), |v| *v, |v| v);
value!(i64, Int64Array, Int64Builder, DataType::Int64, |B, n| B::with_capacity(n), |v| *v, |v| v);
value!(f32, Float32Array, Float32Builder, DataType::Float32, |B, n| B::with_capacity(n), |v| *v, |v| v);
value!(f64, Float64Array, Float64Builder, DataType::Float64, |B, n| B::with_capacity(n), |v| *v, |v| v);
value!(Date, Date32Array, Date32Builder, DataType::Date32, |B, n| B::with_capacity(n), |v| v.days, |v| Date {
    days: v
});
value!(
    Timestamp,
    TimestampMicrosecondArray,
    TimestampMicrosecondBuilder,
    types::timestamp(),
    |B, n| B::with_capacity(n).with_timezone(types::UTC),
    |v| v.micros,
    |v| Timestamp { micros: v }
);
value!(
    {const P: u8, const S: u8} Decimal<P, S>,
    Decimal128Array,
    Decimal128Builder,
    DataType::Decimal128(P, S as i8),
    |B, n| B::with_capacity(n).with_data_type(DataType::Decimal128(P, S as i8)),
    |v| v.units(),
    |v| Decimal::of_units(v)
);
value!(Text<'a>, StringArray, TextBuilder, DataType::Utf8, |B, n| B::with_capacity(n), |v| v, |v| v.into());
value!(Bytes<'a>, BinaryArray, BinaryBuilder, DataType::Binary, |B, n| B::with_capacity(n, n * 8), |v| v, |v| v.into());
