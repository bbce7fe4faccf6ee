//! The macro that declares a record.

/// Declares a record: a struct whose fields are columns. An `Option` may be null, anything else is never null. Field
/// types are those of [`crate::value`]: `Text<'a>`, `i32`, `Decimal<18, 2>`, `Timestamp`, … and, nested, `Vec<T>`,
/// [`Map<K, V>`](crate::Map) and other records.
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
        // Names that no record and no field of an author bears.
        const _: () = {
            #[allow(non_camel_case_types, clippy::enum_variant_names)]
            #[derive(Clone, Copy)]
            enum __Key {
                $($field,)+
                __Other,
            }

            impl __Key {
                const fn name(self) -> &'static str {
                    $crate::record::field_name(match self {
                        $(__Key::$field => stringify!($field),)+
                        __Key::__Other => "",
                    })
                }

                #[inline]
                fn of(name: &str) -> __Key {
                    $(
                        const { assert!((__Key::$field as u32) < 64, "a record has at most 64 fields") };
                        if name == const { __Key::$field.name() } {
                            return __Key::$field;
                        }
                    )+
                    __Key::__Other
                }
            }

            type __Held<$life, F> = <F as $crate::value::Field<$life>>::Value;

            #[allow(missing_docs, unreachable_pub)]
            #[derive(Debug)]
            pub struct __Builders<$life> {
                $($field: <__Held<$life, $type> as $crate::value::Value<$life>>::Builder,)+
            }

            #[allow(missing_docs, missing_debug_implementations, unreachable_pub)]
            pub struct __Arrays<$life> {
                $($field: <__Held<$life, $type> as $crate::value::Value<$life>>::Column,)+
            }

            impl<$life> $crate::record::Record<$life> for $record {
                type Builders = __Builders<$life>;
                type Arrays = __Arrays<$life>;

                fn columns() -> Vec<$crate::Column> {
                    vec![$($crate::record::column::<$type>(__Key::$field.name()),)+]
                }

                fn builders(rows: usize) -> Self::Builders {
                    __Builders { $($field: <__Held<$life, $type> as $crate::value::Value>::builder(rows),)+ }
                }

                #[inline]
                fn append(record: Option<&Self>, builders: &mut Self::Builders) {
                    $(
                        <__Held<$life, $type> as $crate::value::Value>::append(
                            &mut builders.$field,
                            record.and_then(|record| $crate::value::Field::as_option(&record.$field)),
                        );
                    )+
                }

                fn finish(builders: Self::Builders) -> Vec<$crate::arrow::ArrayRef> {
                    vec![$(<__Held<$life, $type> as $crate::value::Value>::finish(builders.$field),)+]
                }

                fn bind(columns: &$life [$crate::arrow::ArrayRef]) -> Result<Self::Arrays, $crate::Failure> {
                    let mut columns = columns.iter();
                    Ok(__Arrays { $($field: $crate::record::bound::<$type>(columns.next(), __Key::$field.name())?,)+ })
                }

                #[inline]
                fn get(arrays: &Self::Arrays, row: usize) -> Result<Self, &'static str> {
                    Ok(Self {
                        $($field: $crate::value::Field::get(&arrays.$field, row).ok_or(const { __Key::$field.name() })?,)+
                    })
                }
            }

            impl<$life> $crate::value::Value<$life> for $record {
                type Column = $crate::value::StructColumn<$life, __Arrays<$life>>;
                type Builder = $crate::value::StructBuilder<__Builders<$life>>;

                fn data_type() -> $crate::arrow::DataType {
                    $crate::value::struct_of::<Self>()
                }

                fn bind(column: &$life dyn $crate::arrow::Array) -> Option<Self::Column> {
                    $crate::value::StructColumn::bind::<Self>(column)
                }

                fn is_null(column: &Self::Column, row: usize) -> bool {
                    column.is_null(row)
                }

                fn get(column: &Self::Column, row: usize) -> Option<Self> {
                    column.get(row)
                }

                fn builder(rows: usize) -> Self::Builder {
                    $crate::value::StructBuilder::new::<Self>(rows)
                }

                fn append(builder: &mut Self::Builder, value: Option<&Self>) {
                    builder.append(value)
                }

                fn finish(builder: Self::Builder) -> $crate::arrow::ArrayRef {
                    builder.finish::<Self>()
                }
            }

            $crate::never_null!([$life] [$life] $record);

            impl<$life> $crate::record::JsonRecord<$life> for $record
            where
                $(__Held<$life, $type>: $crate::json::FromJson<$life>,)+
            {
                #[inline]
                fn quickly(quick: &mut $crate::json::Quick<$life>) -> Option<Self> {
                    $(let mut $field: Option<__Held<$life, $type>> = None;)+
                    let mut seen = 0u64;
                    // Most senders write the fields in one order, often this one.
                    $(
                        if quick.named(const { __Key::$field.name() }) {
                            seen |= 1 << __Key::$field as u32;
                            $field = quick.value_of()?;
                        }
                    )+
                    while let Some(name) = quick.field()? {
                        let __key = __Key::of(name);
                        if let __Key::__Other = __key {
                            quick.skip()?;
                            continue;
                        }
                        if seen & (1 << __key as u32) != 0 {
                            return None;
                        }
                        seen |= 1 << __key as u32;
                        let value = quick.value()?;
                        if let $crate::json::Plain::Null = value {
                            continue;
                        }
                        match __key {
                            $(__Key::$field => $field = Some($crate::json::FromJson::from_plain(value, quick)?),)+
                            __Key::__Other => {}
                        }
                    }
                    Some(Self { $($field: $crate::value::Field::from_option($field)?,)+ })
                }

                #[cold]
                fn strictly(reader: &mut $crate::json::Reader<$life>) -> Result<Self, $crate::json::Fault> {
                    $(let mut $field: Option<__Held<$life, $type>> = None;)+
                    let mut seen = 0u64;
                    reader.object();
                    while let Some(__key) = reader.field(__Key::of)? {
                        if let __Key::__Other = __key {
                            reader.skip()?;
                            continue;
                        }
                        if seen & (1 << __key as u32) != 0 {
                            return Err($crate::json::Fault::twice(__key.name()));
                        }
                        seen |= 1 << __key as u32;
                        match __key {
                            $(__Key::$field => match reader.value() {
                                Ok(value) => $field = value,
                                Err(fault) => return Err(fault.of(__key.name())),
                            },)+
                            __Key::__Other => {}
                        }
                    }
                    reader.end()?;
                    Ok(Self {
                        $($field: match $crate::value::Field::from_option($field) {
                            Some(field) => field,
                            None => return Err($crate::json::Fault::null(__Key::$field.name())),
                        },)+
                    })
                }
            }

            impl<$life> $crate::json::FromJson<$life> for $record
            where
                $(__Held<$life, $type>: $crate::json::FromJson<$life>,)+
            {
                fn from_json(
                    reader: &mut $crate::json::Reader<$life>,
                    peek: $crate::json::Peek,
                ) -> Result<Self, $crate::json::Fault> {
                    reader.expect_object(peek)?;
                    $crate::record::JsonRecord::strictly(reader)
                }

                fn from_plain(plain: $crate::json::Plain<$life>, quick: &mut $crate::json::Quick<$life>) -> Option<Self> {
                    if let $crate::json::Plain::Object = plain { $crate::record::JsonRecord::quickly(quick) } else { None }
                }
            }
        };
    };
}
