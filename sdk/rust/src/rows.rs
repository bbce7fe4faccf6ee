//! Stages that work row by row on records: the short way to write one. Each becomes a stage over columns.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryArray, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use serde::de::DeserializeOwned;

use crate::about::type_name;
use crate::columns::{self, Output};
use crate::json::Fault;
use crate::record::Record;
use crate::{About, Batch, Column, Failure, Fate, Plan, Rejections};

/// Why a row does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Quarantined, or dropped on purpose.
    pub fate: Fate,
    /// Short and stable; people count and search by it.
    pub code: Cow<'static, str>,
    /// For people.
    pub text: String,
}

impl Rejection {
    /// To quarantine.
    pub fn new(code: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Rejection { fate: Fate::Quarantine, code: code.into(), text: text.into() }
    }

    /// Dropped on purpose, and counted.
    pub fn filter(code: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Rejection { fate: Fate::Filter, code: code.into(), text: text.into() }
    }

    fn null(column: &str, text: String) -> Self {
        Rejection::new(format!("not_null: {column}"), text)
    }
}

impl From<Fault> for Rejection {
    fn from(fault: Fault) -> Self {
        match fault.field {
            Some(field) if fault.null => Rejection::null(field, fault.to_string()),
            _ => Rejection::new("corrupt_record", fault.to_string()),
        }
    }
}

/// Makes a row of each message. Exported with `crisol_sdk::decoder!(MyDecoder)`.
pub trait Decoder: Sized {
    /// Its options; [`crate::NoOptions`] when it takes none.
    type Options: DeserializeOwned;
    /// What it makes.
    type Row<'a>: Record<'a>;

    /// Name, version, schema versions, JSON Schema of the options.
    const ABOUT: About;
    /// The column it reads: a string or binary. Bytes that are no UTF-8 are rejected before they come here.
    const READS: &'static str = "payload";

    /// Gets ready for one batch.
    ///
    /// # Errors
    /// Options that do not fit.
    fn open(options: Self::Options, batch: &Batch) -> Result<Self, Failure>;

    /// Rows come, of one message: how rows are cut into messages means nothing.
    ///
    /// # Errors
    /// The stage cannot work at all, which stops the stream.
    fn begin(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// One message, one row or the reason why not.
    ///
    /// # Errors
    /// The row is rejected.
    fn decode<'a>(&self, message: &'a str) -> Result<Self::Row<'a>, Rejection>;
}

/// Makes rows of rows. Exported with `crisol_sdk::transformer!(MyTransformer)`.
pub trait Transformer: Sized {
    /// Its options; [`crate::NoOptions`] when it takes none.
    type Options: DeserializeOwned;
    /// What it reads; the input must have these columns.
    type Input<'a>: Record<'a>;
    /// What it makes.
    type Output<'a>: Record<'a>;

    /// Name, version, JSON Schema of the options.
    const ABOUT: About;

    /// Gets ready for one batch.
    ///
    /// # Errors
    /// Options that do not fit.
    fn open(options: Self::Options, batch: &Batch) -> Result<Self, Failure>;

    /// Rows come, of one message: how rows are cut into messages means nothing.
    ///
    /// # Errors
    /// The stage cannot work at all, which stops the stream.
    fn begin(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Pushes one row or several. None at all means that the row is filtered, as `filtered`.
    ///
    /// # Errors
    /// The row is rejected, whatever was pushed.
    fn transform<'a>(&self, row: Self::Input<'a>, out: &mut Vec<Self::Output<'a>>) -> Result<(), Rejection>;
}

/// Judges rows. Exported with `crisol_sdk::validator!(MyRules)`.
pub trait Validator: Sized {
    /// Its options; [`crate::NoOptions`] when it takes none.
    type Options: DeserializeOwned;
    /// What it reads; the input must have these columns.
    type Row<'a>: Record<'a>;

    /// Name, version, JSON Schema of the options.
    const ABOUT: About;

    /// Gets ready for one batch.
    ///
    /// # Errors
    /// Options that do not fit.
    fn open(options: Self::Options, batch: &Batch) -> Result<Self, Failure>;

    /// Rows come, of one message: how rows are cut into messages means nothing.
    ///
    /// # Errors
    /// The stage cannot work at all, which stops the stream.
    fn begin(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Pushes a rejection for each rule that the row breaks, each code at most once.
    fn check(&self, row: &Self::Row<'_>, broken: &mut Vec<Rejection>);
}

/// A [`Decoder`] as a stage over columns.
#[derive(Debug)]
pub struct Decoding<D>(D);

impl<D: Decoder> columns::Stage for Decoding<D> {
    type Options = D::Options;
    const ABOUT: About = D::ABOUT;

    fn plan(_: &D::Options, input: &[Column]) -> Result<Plan, Failure> {
        let column = input.iter().find(|c| c.name == D::READS);
        match column.map(|c| &c.data_type) {
            Some(DataType::Utf8 | DataType::Binary) => {}
            Some(other) => {
                return Err(Failure::input(format!(
                    "column `{}` is {}, not string or binary",
                    D::READS,
                    type_name(other)
                )));
            }
            None => return Err(missing(D::READS, input)),
        }
        Ok(Plan { reads: vec![D::READS.to_string()], writes: <D::Row<'static> as Record>::columns() })
    }

    fn open(options: D::Options, _: &SchemaRef, batch: &Batch) -> Result<Self, Failure> {
        D::open(options, batch).map(Decoding)
    }

    fn push(&mut self, rows: &RecordBatch) -> Result<Output, Failure> {
        let column = rows.columns().first().ok_or_else(|| Failure::input("no column came"))?;
        self.0.begin()?;
        let mut sink = Sink::<'_, D::Row<'_>>::new(rows.num_rows());
        if let Some(texts) = column.as_string_opt::<i32>() {
            for row in 0..texts.len() {
                let message = texts.is_valid(row).then(|| texts.value(row));
                sink.put(row, self.decoded(message));
            }
        } else if let Some(bytes) = column.as_binary_opt::<i32>() {
            let whole = Whole::of(bytes);
            for row in 0..bytes.len() {
                match whole.text(row).map_or_else(|| std::str::from_utf8(bytes.value(row)), Ok) {
                    Ok(message) => sink.put(row, self.decoded(bytes.is_valid(row).then_some(message))),
                    Err(error) => sink.put(row, Err(no_text(&error))),
                }
            }
        } else {
            return Err(Failure::input(format!("column `{}` is neither string nor binary", D::READS)));
        }
        Ok(sink.finish())
    }
}

impl<D: Decoder> Decoding<D> {
    #[inline]
    fn decoded<'a>(&self, message: Option<&'a str>) -> Result<D::Row<'a>, Rejection> {
        match message {
            Some(message) => self.0.decode(message),
            None => Err(Rejection::new("corrupt_record", format!("`{}` is null", D::READS))),
        }
    }
}

/// The bytes of a column as one text, if they are text: that is found out at once, many bytes at a time.
struct Whole<'a> {
    text: &'a str,
    offsets: &'a [i32],
}

impl<'a> Whole<'a> {
    fn of(column: &'a BinaryArray) -> Self {
        // From the start: offsets then stand for themselves.
        let end = column.value_offsets().last().map_or(0, |end| *end as usize);
        let bytes = column.value_data().get(..end).unwrap_or_default();
        Self { text: simdutf8::basic::from_utf8(bytes).unwrap_or_default(), offsets: column.value_offsets() }
    }

    /// The text of a row; `None` when it has to be looked at alone.
    #[inline]
    fn text(&self, row: usize) -> Option<&'a str> {
        let [start, end] = *self.offsets.get(row..)?.first_chunk::<2>()?;
        self.text.get(start as usize..end as usize)
    }
}

fn no_text(error: &std::str::Utf8Error) -> Rejection {
    Rejection::new("corrupt_record", format!("invalid UTF-8 at byte {}", error.valid_up_to() + 1))
}

/// A [`Transformer`] as a stage over columns.
#[derive(Debug)]
pub struct Transforming<T>(T);

impl<T: Transformer> columns::Stage for Transforming<T> {
    type Options = T::Options;
    const ABOUT: About = T::ABOUT;

    fn plan(_: &T::Options, input: &[Column]) -> Result<Plan, Failure> {
        let reads = wanted(<T::Input<'static> as Record>::columns(), input)?;
        Ok(Plan { reads, writes: <T::Output<'static> as Record>::columns() })
    }

    fn open(options: T::Options, _: &SchemaRef, batch: &Batch) -> Result<Self, Failure> {
        T::open(options, batch).map(Transforming)
    }

    fn push(&mut self, rows: &RecordBatch) -> Result<Output, Failure> {
        let arrays = <T::Input<'_> as Record>::bind(rows.columns())?;
        self.0.begin()?;
        let mut sink = Sink::<'_, T::Output<'_>>::new(rows.num_rows());
        let mut out = Vec::new();
        for row in 0..rows.num_rows() {
            let result = match <T::Input<'_> as Record>::get(&arrays, row) {
                Ok(input) => self.0.transform(input, &mut out),
                Err(column) => Err(null(column)),
            };
            match result {
                Ok(()) if out.is_empty() => sink.reject(row, &Rejection::filter("filtered", "")),
                Ok(()) => out.drain(..).for_each(|record| sink.put(row, Ok(record))),
                Err(rejection) => {
                    out.clear();
                    sink.reject(row, &rejection);
                }
            }
        }
        Ok(sink.finish())
    }
}

fn null(column: &str) -> Rejection {
    Rejection::null(column, format!("`{column}`: it is null or has a null in it"))
}

/// A [`Validator`] as a validator over columns.
#[derive(Debug)]
pub struct Checking<V>(V);

impl<V: Validator> columns::Validator for Checking<V> {
    type Options = V::Options;
    const ABOUT: About = V::ABOUT;

    fn reads(_: &V::Options, input: &[Column]) -> Result<Vec<String>, Failure> {
        wanted(<V::Row<'static> as Record>::columns(), input)
    }

    fn open(options: V::Options, _: &SchemaRef, batch: &Batch) -> Result<Self, Failure> {
        V::open(options, batch).map(Checking)
    }

    fn check(&mut self, rows: &RecordBatch) -> Result<Rejections, Failure> {
        let arrays = <V::Row<'_> as Record>::bind(rows.columns())?;
        self.0.begin()?;
        let mut rejections = Rejections::default();
        let mut broken = Vec::new();
        for row in 0..rows.num_rows() {
            match <V::Row<'_> as Record>::get(&arrays, row) {
                Ok(record) => self.0.check(&record, &mut broken),
                Err(column) => broken.push(null(column)),
            }
            if !broken.is_empty() {
                reject(&mut rejections, row, &mut broken);
            }
        }
        Ok(rejections)
    }
}

#[cold]
fn reject(rejections: &mut Rejections, row: usize, broken: &mut Vec<Rejection>) {
    for r in broken.drain(..) {
        rejections.push(row as i32, r.fate, &r.code, &r.text);
    }
}

/// Names of the columns that a record reads, when the input has them with its types.
pub(crate) fn wanted(columns: Vec<Column>, input: &[Column]) -> Result<Vec<String>, Failure> {
    for column in &columns {
        let found = input.iter().find(|c| c.name == column.name).ok_or_else(|| missing(&column.name, input))?;
        if found.data_type != column.data_type {
            let (name, found, wanted) = (&column.name, type_name(&found.data_type), type_name(&column.data_type));
            return Err(Failure::input(format!("column `{name}` is {found}, not {wanted}")));
        }
    }
    Ok(columns.into_iter().map(|c| c.name).collect())
}

fn missing(name: &str, input: &[Column]) -> Failure {
    let names: Vec<&str> = input.iter().map(|c| c.name.as_str()).collect();
    Failure::input(format!("there is no column `{name}` among {}", names.join(", ")))
}

/// Where records and rejections go.
struct Sink<'a, R: Record<'a>> {
    builders: R::Builders,
    origin: Vec<i32>,
    rejected: Rejections,
}

impl<'a, R: Record<'a>> Sink<'a, R> {
    fn new(rows: usize) -> Self {
        Sink { builders: R::builders(rows), origin: Vec::with_capacity(rows), rejected: Rejections::default() }
    }

    #[inline]
    fn put(&mut self, row: usize, record: Result<R, Rejection>) {
        match record {
            Ok(record) => {
                R::append(Some(&record), &mut self.builders);
                self.origin.push(row as i32);
            }
            Err(rejection) => self.reject(row, &rejection),
        }
    }

    fn reject(&mut self, row: usize, rejection: &Rejection) {
        self.rejected.push(row as i32, rejection.fate, &rejection.code, &rejection.text);
    }

    fn finish(self) -> Output {
        Output { columns: R::finish(self.builders), origin: self.origin, rejected: self.rejected }
    }
}
