//! Samples that a component carries: rows that it is given, and what must come of them. They run before it serves.
//!
//! A sample is a JSON object, a file holds one or a list of them:
//!
//! `name`       what messages call it
//! `options`    of the stage, as in a contract (absent: none)
//! `timestamp`  what "now" means (absent: 2026-04-01T00:00:00Z)
//! `input`      contract types of input columns, `{"amount": "decimal(18,2)"}`. A column that is not named there has the
//!              type of its values: string, boolean, bigint or double, or binary where a value is `{"base64": …}`
//! `group_by`   columns whose values make a group, for rankers and aggregators (absent: all rows are one group)
//! `given`      the rows, one object each; a column that a row leaves out is null
//! `expect`     `rows`: the rows that come out, in order; `rejected` and `filtered`: `{"row", "code", "text"}`, where `row`
//!              counts the given rows from 0 and `text` may be left out
//!
//! What `expect` does not name must not happen; columns that an expected row does not name are not compared. A row that
//! comes out also has the columns of its given row, as the host puts them back, and `_row`, the number of that row.
//!
//! They lie in custom sections [`SECTION`], at the top of the component or in a module of it. The texts of one section are
//! read one after the other, since linkers put sections of one name together.

mod came;
mod compare;
mod decode;
mod encode;
mod error;
mod groups;
mod input;
mod parse;
mod rows;
mod section;
mod write;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema, SchemaRef};
use serde_json::{Map, Value};

pub use self::encode::value;
pub use self::error::{Difference, SampleFault};
pub(crate) use self::section::read;
use crate::{Component, Limits, PluginError};

/// Name of the custom sections that hold samples.
pub const SECTION: &str = "crisol:samples";
/// Most that the samples of a component may be, as text.
const BYTES_MAX: usize = 1 << 20;
/// Most samples of a component.
const SAMPLES_MAX: usize = 1_000;
/// All samples of a component together may take so long.
const ALL_SECONDS_MAX: u64 = 60;

/// An object of JSON.
type Object = Map<String, Value>;

/// Rows given to a component, and what must come of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// What messages call it.
    pub name: String,
    /// Options of the stage.
    pub options: Object,
    /// What "now" means, in microseconds since 1970 UTC.
    pub timestamp_us: i64,
    /// Types of input columns whose values do not tell.
    pub input: Vec<(String, DataType)>,
    /// Columns whose values make a group.
    pub group_by: Vec<String>,
    /// The rows.
    pub given: Vec<Object>,
    /// What must come of them.
    pub expect: Expect,
}

/// What must come of the rows of a [`Sample`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expect {
    /// Rows that come out, in order; `None` when the sample does not say `rows`.
    pub rows: Option<Vec<Object>>,
    /// Given rows that go to quarantine.
    pub rejected: Vec<ExpectedRejection>,
    /// Given rows that are dropped on purpose.
    pub filtered: Vec<ExpectedRejection>,
}

/// Columns of a [`Sample`] that a component reads, and those that it writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleColumns {
    /// In the order in which the component wants them.
    pub reads: SchemaRef,
    /// Without `_row` or `_group`; none of a validator.
    pub writes: SchemaRef,
}

/// A given row that must not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedRejection {
    /// Which row, counted from 0.
    pub row: usize,
    /// For this reason.
    pub code: String,
    /// With these words; `None`: any.
    pub text: Option<String>,
}

impl Sample {
    /// Reads a file of samples.
    ///
    /// # Errors
    /// Text for people: which sample, and what is wrong with it.
    pub fn read(text: &[u8]) -> Result<Vec<Self>, String> {
        let mut samples = Vec::new();
        section::read_text(text, &mut samples)?;
        Ok(samples)
    }

    /// Runs it.
    ///
    /// # Errors
    /// It cannot be given to the component, the component failed, or something else came out.
    pub fn run(&self, component: &Arc<Component>, limits: &Limits) -> Result<(), SampleFault> {
        let outcome = self.outcome(component, limits)?;
        let differences = compare::differences(&outcome, self, component.kind())?;
        if differences.is_empty() { Ok(()) } else { Err(SampleFault::Differs(differences)) }
    }

    /// Runs it and tells what comes out, as `expect` would say it: rows with the columns that this sample expects, or with all.
    ///
    /// # Errors
    /// It cannot be given to the component, or the component failed.
    pub fn come(&self, component: &Arc<Component>, limits: &Limits) -> Result<Expect, SampleFault> {
        Ok(self.outcome(component, limits)?.expect(&self.expect, component.kind()))
    }

    /// The columns that the component reads and writes when it is given this sample.
    ///
    /// # Errors
    /// It cannot be given to the component.
    pub fn columns(&self, component: &Arc<Component>, limits: &Limits) -> Result<SampleColumns, SampleFault> {
        let given = self.rows()?.schema();
        let (reads, writes) = if component.kind().groups() {
            let stage = component.group_stage(&self.options, &given, limits).map_err(SampleFault::Refused)?;
            (stage.reads().to_vec(), stage.writes())
        } else {
            let stage = component.row_stage(&self.options, &given, limits).map_err(SampleFault::Refused)?;
            (stage.reads().to_vec(), stage.writes())
        };
        let reads = reads.iter().filter_map(|name| given.fields().find(name)).map(|(_, field)| Arc::clone(field));
        Ok(SampleColumns { reads: Arc::new(Schema::new(reads.collect::<Vec<_>>())), writes })
    }

    /// Its given rows; all columns may be null.
    ///
    /// # Errors
    /// They cannot be given to a component.
    pub fn rows(&self) -> Result<RecordBatch, SampleFault> {
        input::batch(self, &(0..self.given.len()).collect::<Vec<_>>())
    }

    fn outcome(&self, component: &Arc<Component>, limits: &Limits) -> Result<compare::Outcome, SampleFault> {
        if component.kind().groups() {
            groups::run(self, component, limits)
        } else {
            rows::run(self, component, limits)
        }
    }
}

/// Runs the samples that a component carries, under the limits that hold without a contract.
///
/// # Errors
/// The first that does not hold.
pub(crate) fn check(component: Component, path: &Path) -> Result<Component, PluginError> {
    let component = Arc::new(component);
    let (start, limits) = (Instant::now(), Limits::default());
    for sample in component.samples() {
        let run = match sample.run(&component, &limits) {
            Ok(()) if start.elapsed() > Duration::from_secs(ALL_SECONDS_MAX) => {
                Err(SampleFault::Slow { limit_seconds: ALL_SECONDS_MAX })
            }
            other => other,
        };
        run.map_err(|fault| PluginError::Sample {
            path: path.into(),
            sample: sample.name.clone(),
            fault: Box::new(fault),
        })?;
    }
    Arc::into_inner(component).ok_or_else(|| PluginError::Engine { what: "a sample is still running".into() })
}
