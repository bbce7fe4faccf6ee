//! The component: its options, what it reads and writes, and the folding of groups.

use std::ops::Range;

use crisol_sdk::arrow::{ArrayRef, DataType, RecordBatch, SchemaRef};
use crisol_sdk::columns::Aggregator;
use crisol_sdk::{About, Batch, Column, Failure, Plan};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::count::{Count, CountDistinct};
use crate::extreme::Extreme;
use crate::measure::{Function, Measure};
use crate::sum::{DoubleSum, ExactSum};
use crate::values::Class;

/// JSON Schema of [`Options`].
const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "measures": {
      "type": "object", "minProperties": 1, "additionalProperties": { "type": "string" },
      "description": "the columns to make, each with its measure: `count(*)`, `count(COLUMN)`, `count(distinct COLUMN)`, `sum(COLUMN)`, `avg(COLUMN)`, `min(COLUMN)` or `max(COLUMN)`"
    }
  },
  "required": ["measures"],
  "additionalProperties": false
}"#;

/// Options of the aggregator.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The columns to make, in this order, each with its measure.
    pub measures: Map<String, Value>,
}

/// Folds the values of one group after another into one value each.
pub(crate) trait Accumulator: std::fmt::Debug {
    /// More rows of the group at work.
    fn add(&mut self, rows: &RecordBatch, range: Range<usize>) -> Result<(), Failure>;
    /// The group at work is complete.
    fn close(&mut self) -> Result<(), Failure>;
    /// The values of the groups closed since the last time.
    fn take(&mut self) -> Result<ArrayRef, Failure>;
}

/// The aggregator.
#[derive(Debug)]
pub struct Aggregate {
    measures: Vec<(String, Box<dyn Accumulator>)>,
}

/// A measure, bound to the columns of an input.
struct Bound {
    name: String,
    measure: Measure,
    input: Option<DataType>,
    result: Column,
}

impl Aggregator for Aggregate {
    type Options = Options;
    const ABOUT: About = About::new("aggregate", env!("CARGO_PKG_VERSION")).options(SCHEMA).reuse();

    fn plan(options: &Options, input: &[Column]) -> Result<Plan, Failure> {
        let bound = bind(options, input)?;
        let mut reads: Vec<String> = Vec::new();
        for column in bound.iter().filter_map(|bound| bound.measure.column.as_ref()) {
            if !reads.contains(column) {
                reads.push(column.clone());
            }
        }
        Ok(Plan { reads, writes: bound.into_iter().map(|bound| bound.result).collect() })
    }

    fn open(options: Options, input: &SchemaRef, _: &Batch) -> Result<Self, Failure> {
        let columns: Vec<Column> =
            input.fields().iter().map(|field| Column::new(field.name(), field.data_type().clone())).collect();
        let measures = bind(&options, &columns)?.into_iter().map(|bound| {
            let place = bound.measure.column.as_ref().map(|column| input.index_of(column)).transpose()?;
            Ok((bound.name.clone(), bound.accumulator(place)?))
        });
        Ok(Aggregate { measures: measures.collect::<Result<_, Failure>>()? })
    }

    fn add(&mut self, rows: &RecordBatch, range: Range<usize>) -> Result<(), Failure> {
        self.measures.iter_mut().try_for_each(|(_, measure)| measure.add(rows, range.clone()))
    }

    fn close(&mut self) -> Result<bool, Failure> {
        for (name, measure) in &mut self.measures {
            measure
                .close()
                .map_err(|failure| Failure { text: format!("measure `{name}`: {}", failure.text), ..failure })?;
        }
        Ok(true)
    }

    fn take(&mut self) -> Result<Vec<ArrayRef>, Failure> {
        self.measures.iter_mut().map(|(_, measure)| measure.take()).collect()
    }
}

/// All measures, or all that is wrong with them.
fn bind(options: &Options, input: &[Column]) -> Result<Vec<Bound>, Failure> {
    if options.measures.is_empty() {
        return Err(Failure::options("`measures` is empty; there is nothing to make"));
    }
    let mut problems = Vec::new();
    let mut bound = Vec::new();
    for (name, text) in &options.measures {
        match Bound::new(name, text, input) {
            Ok(measure) => bound.push(measure),
            Err(what) => problems.push(format!("measure `{name}`: {what}")),
        }
    }
    if problems.is_empty() { Ok(bound) } else { Err(Failure::options(problems.join("; "))) }
}

impl Bound {
    fn new(name: &str, text: &Value, input: &[Column]) -> Result<Self, String> {
        let text = text.as_str().ok_or_else(|| format!("{text} is not a string such as \"sum(amount)\""))?;
        let measure = Measure::parse(text)?;
        let data_type = match &measure.column {
            Some(name) => Some(find(name, input)?.data_type.clone()),
            None => None,
        };
        let result = measure.result(name, data_type.as_ref())?;
        Ok(Bound { name: name.to_string(), measure, input: data_type, result })
    }

    fn accumulator(self, place: Option<usize>) -> Result<Box<dyn Accumulator>, Failure> {
        let (Some(column), Some(input)) = (place, self.input) else { return Ok(Box::new(Count::new(None))) };
        let Some(class) = Class::of(&input) else { return Ok(Box::new(Count::new(Some(column)))) };
        let result = self.result.data_type;
        Ok(match self.measure.function {
            Function::Count => Box::new(Count::new(Some(column))),
            Function::CountDistinct => Box::new(CountDistinct::new(column, class)),
            Function::Min => Box::new(Extreme::min(column, class, result)),
            Function::Max => Box::new(Extreme::max(column, class, result)),
            Function::Sum | Function::Avg if result == DataType::Float64 => {
                Box::new(DoubleSum::new(column, class, self.measure.function == Function::Avg))
            }
            Function::Sum => Box::new(ExactSum::sum(column, result)),
            Function::Avg => {
                let places = places(&result).saturating_sub(places(&input));
                Box::new(ExactSum::average(column, result, places))
            }
        })
    }
}

fn places(data_type: &DataType) -> u8 {
    match data_type {
        DataType::Decimal128(_, scale) => scale.unsigned_abs(),
        _ => 0,
    }
}

fn find<'a>(name: &str, input: &'a [Column]) -> Result<&'a Column, String> {
    input.iter().find(|column| column.name == name).ok_or_else(|| {
        let names: Vec<&str> = input.iter().map(|column| column.name.as_str()).collect();
        format!("no column `{name}`; there are: {}", names.join(", "))
    })
}
