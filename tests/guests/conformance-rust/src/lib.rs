//! What the conformance stages share: the table of all types, and the options.

use std::num::NonZeroUsize;

use crisol_sdk::{
    About, Bytes, Column, Date, Decimal, Failure, Level, Map, Rejection, Rejections, Text, Timestamp, log, record,
};
use serde::Deserialize;

record! {
    /// A struct column.
    pub struct Part<'a> {
        pub a: Option<i32>,
        pub b: Option<Text<'a>>,
    }
}

record! {
    /// An element of a list of structs.
    pub struct Deep<'a> {
        pub k: Option<Text<'a>>,
        pub v: Option<Vec<Option<f64>>>,
    }
}

record! {
    /// Every type that JSON has.
    pub struct Textual<'a> {
        pub b: Option<bool>,
        pub i8: Option<i8>,
        pub i16: Option<i16>,
        pub i32: Option<i32>,
        pub i64: Option<i64>,
        pub f32: Option<f32>,
        pub f64: Option<f64>,
        pub d9: Option<Decimal<9, 2>>,
        pub d18: Option<Decimal<18, 4>>,
        pub d38: Option<Decimal<38, 10>>,
        pub s: Option<Text<'a>>,
        pub day: Option<Date>,
        pub ts: Option<Timestamp>,
        pub ints: Option<Vec<Option<i32>>>,
        pub texts: Option<Vec<Option<Text<'a>>>>,
        pub st: Option<Part<'a>>,
        pub m: Option<Map<Text<'a>, Option<i64>>>,
        pub deep: Option<Vec<Option<Deep<'a>>>>,
    }
}

record! {
    /// Every type.
    pub struct Row<'a> {
        pub b: Option<bool>,
        pub i8: Option<i8>,
        pub i16: Option<i16>,
        pub i32: Option<i32>,
        pub i64: Option<i64>,
        pub f32: Option<f32>,
        pub f64: Option<f64>,
        pub d9: Option<Decimal<9, 2>>,
        pub d18: Option<Decimal<18, 4>>,
        pub d38: Option<Decimal<38, 10>>,
        pub s: Option<Text<'a>>,
        pub bin: Option<Bytes<'a>>,
        pub day: Option<Date>,
        pub ts: Option<Timestamp>,
        pub ints: Option<Vec<Option<i32>>>,
        pub texts: Option<Vec<Option<Text<'a>>>>,
        pub st: Option<Part<'a>>,
        pub m: Option<Map<Text<'a>, Option<i64>>>,
        pub deep: Option<Vec<Option<Deep<'a>>>>,
    }
}

/// The table of all types.
pub fn columns() -> Vec<Column> {
    <Row<'static> as crisol_sdk::Record>::columns()
}

/// Names of the columns of the table, when the input has all of them with their types.
///
/// # Errors
/// A column that is missing or of another type.
pub fn reads(input: &[Column]) -> Result<Vec<String>, Failure> {
    let name = |wanted: Column| match input.iter().find(|column| column.name == wanted.name) {
        Some(found) if found.data_type == wanted.data_type => Ok(wanted.name),
        Some(_) => Err(Failure::input(format!("column `{}` has another type", wanted.name))),
        None => Err(Failure::input(format!("column `{}` is missing", wanted.name))),
    };
    columns().into_iter().map(name).collect()
}

/// Where to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Place {
    Open,
    Push,
    Finish,
    Trap,
}

/// Options of a kind of stages: these and those of every stage.
macro_rules! options {
    ($(#[$meta:meta])* $name:ident $keys:literal { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            log: Option<String>,
            fail: Option<Place>,
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl $name {
            /// What stages with these options say of themselves.
            pub const ABOUT: About = About::new("conformance", "0.1.0").reuse().options(concat!(
                r#"{ "type": "object", "additionalProperties": false, "properties": { "log": { "type": "string" },
                "fail": { "enum": ["open", "push", "finish", "trap"] }"#,
                $keys,
                "} }"
            ));

            /// Does what is asked at the start.
            ///
            /// # Errors
            /// It is asked to fail.
            pub fn opened(&self) -> Result<(), Failure> {
                if let Some(line) = &self.log {
                    log(Level::Info, line);
                }
                self.fails(Place::Open, "open")
            }

            /// Does what is asked when rows come.
            ///
            /// # Errors
            /// It is asked to fail.
            ///
            /// # Panics
            /// It is asked to trap.
            pub fn pushed(&self) -> Result<(), Failure> {
                assert!(self.fail != Some(Place::Trap), "asked to trap");
                self.fails(Place::Push, "push")
            }

            /// Does what is asked at the end.
            ///
            /// # Errors
            /// It is asked to fail.
            pub fn finished(&self) -> Result<(), Failure> {
                self.fails(Place::Finish, "finish")
            }

            fn fails(&self, place: Place, name: &str) -> Result<(), Failure> {
                if self.fail == Some(place) { Err(Failure::new("asked", format!("to fail in {name}"))) } else { Ok(()) }
            }
        }
    };
}

options! {
    /// Of decoders and rankers.
    Asking "" {}
}
options! {
    /// Of validators.
    Judging r#", "reject_every": { "type": "integer", "minimum": 1 }, "filter_every": { "type": "integer", "minimum": 1 }"# {
        /// Rows with such numbers go to quarantine.
        reject_every: Option<NonZeroUsize>,
        /// Rows with such numbers are filtered.
        filter_every: Option<NonZeroUsize>,
    }
}
options! {
    /// Of transformers.
    Copying r#", "reject_every": { "type": "integer", "minimum": 1 }, "filter_every": { "type": "integer", "minimum": 1 },
        "repeat": { "type": "integer", "minimum": 1 }, "stamp": { "type": "boolean" }"# {
        /// Rows with such numbers go to quarantine.
        reject_every: Option<NonZeroUsize>,
        /// Rows with such numbers are filtered.
        filter_every: Option<NonZeroUsize>,
        /// How often a row comes out.
        repeat: Option<NonZeroUsize>,
        /// `ts` of rows that come out is the batch's timestamp.
        #[serde(default)]
        stamp: bool,
    }
}
options! {
    /// Of aggregators.
    Folding r#", "skip_single": { "type": "boolean" }"# {
        /// A group of one row gives no row.
        #[serde(default)]
        skip_single: bool,
    }
}

/// Is a number one of so many?
pub fn divides(every: Option<NonZeroUsize>, number: usize) -> bool {
    every.is_some_and(|every| number.is_multiple_of(every.get()))
}

/// The rejection of a row.
pub fn refused(number: usize, s: Option<&str>) -> Rejection {
    Rejection::new("every", format!("row {number}: {}", s.unwrap_or("null")))
}

/// The rejection of a row that is filtered.
pub fn skipped() -> Rejection {
    Rejection::filter("skipped", "")
}

/// One more rejected row.
pub fn reject(rejections: &mut Rejections, row: usize, rejection: &Rejection) {
    rejections.push(row as i32, rejection.fate, &rejection.code, &rejection.text);
}
