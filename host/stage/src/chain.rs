//! Stages in a row, ended by the table's columns.

use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_cast::display::array_value_to_string;
use arrow_schema::{Schema, SchemaRef};
use crisol_contract::OnRejected;

use crate::columns::Selection;
use crate::deleted::gone;
use crate::quarantine::quarantine_rows;
use crate::trail::{Outcome, Settled, Trail};
use crate::{
    AtWork, BatchContext, ComponentId, Fate, Given, Grouping, Rejection, Stage, StageError, StageOutput, accounts,
};

const NAME: &str = "chain";
/// Why a row that the table above no longer has does not go on, where it would be refused: it was refused when it came.
const RETRACTED: &str = "retracted";

/// Rule, passed and failed rows.
type RuleCounts = Vec<(String, u64, u64)>;

/// What a contract's stages become: from input rows to rows of the table and of its quarantine.
#[derive(Debug, Clone)]
pub struct Chain {
    stages: Vec<Arc<dyn Stage>>,
    input: SchemaRef,
    provenance: Vec<String>,
    stream: String,
    ends: Ends,
    /// For each column that is given its place after the last stage.
    columns: Vec<usize>,
    on_rejected: OnRejected,
}

/// What a chain is for.
#[derive(Debug, Clone)]
pub(crate) struct Ends {
    /// Columns of the table, in order, provenance included.
    pub(crate) table: SchemaRef,
    /// Columns that the chain gives: the table's, those of its incoming rows, or what the stage over groups needs.
    pub(crate) given: SchemaRef,
    /// The stage over groups behind it.
    pub(crate) grouping: Option<Arc<Grouping>>,
}

/// What goes into a chain.
#[derive(Debug, Clone)]
pub struct ChainInput {
    /// Columns of the source, provenance included.
    pub schema: SchemaRef,
    /// Names of the columns that say where a row came from.
    pub provenance: Vec<String>,
    /// Name of the stream, for quarantine.
    pub stream: String,
}

/// What a chain gives for a chunk of its input.
#[derive(Debug)]
pub struct ChunkOutput {
    /// Rows for the table, in input order; of a table of groups, the rows that its stage works on.
    pub accepted: RecordBatch,
    /// Rows of the quarantine table ([`quarantine_schema`](crate::quarantine_schema)); `None` when nothing was refused.
    pub quarantined: Option<RecordBatch>,
    /// The input rows of these, ascending.
    pub refused: Vec<u32>,
    /// The input row of each accepted row; `None`: all input rows, each once.
    pub origin: Option<Vec<u32>>,
    /// Input rows that gave at least one accepted row.
    pub rows_accepted: u64,
    /// Input rows in quarantine, by code.
    pub rejected: Vec<(String, u64)>,
    /// Input rows filtered, by code.
    pub filtered: Vec<(String, u64)>,
    /// The same, one by one, ascending.
    pub filtered_rows: Vec<Filtered>,
    /// Passed and failed rows per expectation.
    pub rules: Vec<(String, u64, u64)>,
}

/// An input row that was dropped on purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filtered {
    /// Which.
    pub row: u32,
    /// Short stable reason.
    pub code: Arc<str>,
    /// For people.
    pub text: Arc<str>,
}

impl Filtered {
    fn of((row, settled): &(u32, Settled)) -> Self {
        Self { row: *row, code: Arc::clone(&settled.code), text: Arc::clone(&settled.text) }
    }
}

impl Chain {
    /// A chain of `stages` over `input` that fills columns of `table`, found by name after the last stage.
    ///
    /// # Errors
    /// [`StageError::Internal`] when a column of `table` does not come out, or comes out with another type.
    pub fn new(
        stages: Vec<Arc<dyn Stage>>,
        input: ChainInput,
        table: SchemaRef,
        on_rejected: OnRejected,
    ) -> Result<Self, StageError> {
        Self::ending(stages, input, Ends { given: Arc::clone(&table), table, grouping: None }, on_rejected)
    }

    /// A chain of `stages` over `input` that gives the columns of `ends`, found by name after the last stage.
    pub(crate) fn ending(
        stages: Vec<Arc<dyn Stage>>,
        input: ChainInput,
        ends: Ends,
        on_rejected: OnRejected,
    ) -> Result<Self, StageError> {
        let last = stages.last().map_or_else(|| Arc::clone(&input.schema), |stage| stage.schema());
        let place = |field: &Arc<arrow_schema::Field>| {
            let found = last.fields().find(field.name()).filter(|(_, last)| last.data_type() == field.data_type());
            found.map(|(at, _)| at).ok_or_else(|| {
                StageError::internal(NAME, format!("column `{}` does not come out of the last stage", field.name()))
            })
        };
        let columns = ends.given.fields().iter().map(place).collect::<Result<_, _>>()?;
        let ChainInput { schema, provenance, stream } = input;
        Ok(Self { stages, input: schema, provenance, stream, ends, columns, on_rejected })
    }

    /// Columns of the table, in order, provenance included.
    pub fn table_schema(&self) -> SchemaRef {
        Arc::clone(&self.ends.table)
    }

    /// Columns that go into it.
    pub fn input_schema(&self) -> SchemaRef {
        Arc::clone(&self.input)
    }

    /// Columns of the rows that it gives: those of the table, or what the table is computed from.
    pub fn accepted_schema(&self) -> SchemaRef {
        Arc::clone(&self.ends.given)
    }

    /// The stage over groups behind the rows that the chain gives, when the table is one of groups.
    pub fn grouping(&self) -> Option<&Arc<Grouping>> {
        self.ends.grouping.as_ref()
    }

    /// The components at work, in order.
    pub fn components(&self) -> Vec<ComponentId> {
        let rows = self.stages.iter().flat_map(|stage| stage.components());
        rows.chain(self.grouping().map(|grouping| grouping.component())).collect()
    }

    /// The components at work with the columns that each of them gives, in order.
    pub fn written(&self) -> Vec<(ComponentId, SchemaRef)> {
        let rows = self.stages.iter().flat_map(|stage| stage.components().into_iter().zip(stage.written()));
        rows.chain(self.grouping().map(|grouping| (grouping.component(), grouping.written()))).collect()
    }

    /// The components at work with the columns that each of them sees and gives, in order.
    pub fn at_work(&self) -> Vec<AtWork> {
        let one = |stage: &Arc<dyn Stage>| {
            let named = stage.components().into_iter().zip(stage.read()).zip(stage.written());
            named.map(|((component, reads), writes)| AtWork { component, reads, writes }).collect::<Vec<_>>()
        };
        let rows = self.stages.iter().flat_map(one);
        rows.chain(self.grouping().map(|grouping| grouping.at_work())).collect()
    }

    /// Works on one chunk of the input. Blocking and pure: chunks may be worked on side by side, in any order.
    ///
    /// # Errors
    /// An error stops the stream; nothing of the batch is committed.
    pub fn process(&self, input: &RecordBatch, context: &BatchContext) -> Result<ChunkOutput, StageError> {
        if input.num_rows() == 0 {
            return Ok(ChunkOutput::empty(&self.ends.given));
        }
        self.check_input(input)?;
        let (rows, trail, rules) = self.run(input, context)?;
        let outcome = trail.finish().map_err(|what| self.place_rows(input, StageError::internal(NAME, what)))?;
        if let (OnRejected::Fail, Some((row, settled))) = (self.on_rejected, outcome.quarantined.first()) {
            return Err(self.refused(input, *row, settled.step, &settled.code, &settled.text));
        }
        let defect = |error| self.place_rows(input, StageError::internal(NAME, error));
        Ok(ChunkOutput {
            accepted: self.project(&rows, &outcome).map_err(defect)?,
            quarantined: self.quarantine(input, &outcome, context).map_err(defect)?,
            refused: outcome.quarantined.iter().map(|(row, _)| *row).collect(),
            rows_accepted: outcome.rows_accepted,
            rejected: by_code(&outcome.quarantined),
            filtered: by_code(&outcome.filtered),
            filtered_rows: outcome.filtered.iter().map(Filtered::of).collect(),
            rules,
            origin: outcome.into_places(),
        })
    }

    /// What the component of a stage, named as in the quarantine, is given when this one input row comes in.
    ///
    /// # Errors
    /// Text for people: no component sees the row there, or not as one row.
    pub fn given(&self, input: &RecordBatch, stage: &str, context: &BatchContext) -> Result<Given, String> {
        let mut steps = self.stages.iter().enumerate().filter(|(_, step)| step.name() == stage);
        let step = match (steps.next(), steps.next()) {
            (Some((step, _)), None) => step,
            (Some(_), Some(_)) => return Err(format!("the contract has several stages `{stage}`")),
            (None, _) => return Err(format!("the contract has no stage `{stage}` today")),
        };
        let (before, rest) = self.stages.split_at(step);
        let mut rows = input.clone();
        for earlier in before {
            rows = earlier.process(&rows, context).map_err(|error| error.to_string())?.rows;
            if rows.num_rows() != 1 {
                return Err(format!(
                    "`{}`, which comes before, makes {} rows of it today",
                    earlier.name(),
                    rows.num_rows()
                ));
            }
        }
        let given = rest.first().map_or(Ok(None), |stage| stage.given(&rows)).map_err(|error| error.to_string())?;
        given.ok_or_else(|| format!("no plugin sees it in `{stage}`: the host itself refuses it"))
    }

    /// All steps, or as many as there are rows for.
    fn run(&self, input: &RecordBatch, context: &BatchContext) -> Result<(RecordBatch, Trail, RuleCounts), StageError> {
        let mut rows = input.clone();
        let mut trail = Trail::new(input.num_rows());
        let mut rules = Vec::new();
        let gone = gone(input);
        for (step, stage) in self.stages.iter().enumerate() {
            let mut output = stage.process(&rows, context).map_err(|error| self.place_rows(input, error))?;
            if let Some(gone) = &gone {
                forgive(gone, &trail, &mut output.rejected);
            }
            if let Some(fatal) = output.rejected.iter().find(|rejection| rejection.fate == Fate::Fail) {
                return Err(self.refused(input, trail.input_row(fatal.row), step, &fatal.code, &fatal.text));
            }
            self.check_step(stage.as_ref(), &rows, &output).map_err(|error| self.place_rows(input, error))?;
            trail.follow(step, &mut output);
            rules.append(&mut output.rules);
            rows = output.rows;
            if rows.num_rows() == 0 {
                break;
            }
        }
        Ok((rows, trail, rules))
    }

    fn check_input(&self, input: &RecordBatch) -> Result<(), StageError> {
        let schema = input.schema_ref();
        let types = |schema: &Schema| schema.fields().iter().map(|f| f.data_type().clone()).collect::<Vec<_>>();
        if !Arc::ptr_eq(schema, &self.input) && types(schema) != types(&self.input) {
            return Err(StageError::internal(NAME, "the source gave other columns than it announced"));
        }
        match u32::try_from(input.num_rows()) {
            Ok(_) => Ok(()),
            Err(_) => Err(StageError::internal(NAME, format!("{} rows are no chunk", input.num_rows()))),
        }
    }

    fn check_step(&self, stage: &dyn Stage, before: &RecordBatch, output: &StageOutput) -> Result<(), StageError> {
        let result = accounts::check(before.num_rows(), output.rows.num_rows(), &output.origin, &output.rejected);
        result.map_err(|what| StageError::internal(&stage.name(), what))
    }

    fn project(&self, rows: &RecordBatch, outcome: &Outcome) -> Result<RecordBatch, arrow_schema::ArrowError> {
        if rows.num_rows() == 0 {
            return Ok(RecordBatch::new_empty(Arc::clone(&self.ends.given)));
        }
        let selection = match &outcome.kept {
            None => Selection::All,
            Some(kept) => Selection::of(kept, rows.num_rows()),
        };
        let columns = self.columns.iter().map(|at| selection.apply(rows.column(*at))).collect::<Result<_, _>>()?;
        RecordBatch::try_new(Arc::clone(&self.ends.given), columns)
    }

    fn quarantine(
        &self,
        input: &RecordBatch,
        outcome: &Outcome,
        context: &BatchContext,
    ) -> Result<Option<RecordBatch>, arrow_schema::ArrowError> {
        if outcome.quarantined.is_empty() {
            return Ok(None);
        }
        let refused: Vec<(u32, &Settled)> = outcome.quarantined.iter().map(|(row, settled)| (*row, settled)).collect();
        quarantine_rows(input, &refused, &self.stages, &self.stream, context).map(Some)
    }

    fn refused(&self, input: &RecordBatch, row: u32, step: usize, code: &str, text: &str) -> StageError {
        let stage = self.stages.get(step).map_or_else(|| NAME.to_owned(), |stage| stage.name());
        StageError::Refused { stage, what: format!("{}: `{code}`: {text}", self.place(input, row as usize)) }
    }

    /// Where an input row came from, for people.
    pub fn place(&self, input: &RecordBatch, row: usize) -> String {
        let value = |name: &String| {
            let column = input.column_by_name(name)?;
            array_value_to_string(column, row).ok().map(|value| format!("{name} {value}"))
        };
        let known: Vec<String> = self.provenance.iter().filter_map(value).collect();
        if known.is_empty() { format!("row {row} of the chunk") } else { known.join(", ") }
    }

    fn place_rows(&self, input: &RecordBatch, error: StageError) -> StageError {
        let last = input.num_rows().saturating_sub(1);
        error.at_rows(&format!(
            "in a chunk of {} rows from {} to {}",
            input.num_rows(),
            self.place(input, 0),
            self.place(input, last)
        ))
    }
}

/// A row that the table above no longer has, and that is refused, was refused when it came: there is nothing to take out.
fn forgive(gone: &BooleanArray, trail: &Trail, rejected: &mut [Rejection]) {
    for rejection in rejected {
        if gone.value(trail.input_row(rejection.row) as usize) && rejection.fate != Fate::Filter {
            rejection.fate = Fate::Filter;
            rejection.code = RETRACTED.into();
        }
    }
}

impl ChunkOutput {
    fn empty(given: &SchemaRef) -> Self {
        Self {
            accepted: RecordBatch::new_empty(Arc::clone(given)),
            quarantined: None,
            refused: Vec::new(),
            origin: None,
            rows_accepted: 0,
            rejected: Vec::new(),
            filtered: Vec::new(),
            filtered_rows: Vec::new(),
            rules: Vec::new(),
        }
    }
}

fn by_code(settled: &[(u32, Settled)]) -> Vec<(String, u64)> {
    let mut counts = std::collections::BTreeMap::<&str, u64>::new();
    for (_, settled) in settled {
        *counts.entry(&settled.code).or_default() += 1;
    }
    counts.into_iter().map(|(code, count)| (code.to_owned(), count)).collect()
}
