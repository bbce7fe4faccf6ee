//! From a table contract to a [`Chain`]: everything is checked against everything before the first row, and all
//! problems are told at once.
//!
//! Order of the steps: `utf8`, the contract's row stages, `generated`, `not_null`, `expectations`, `partition_by`,
//! `delete_when`; then the table's columns, or the stage over groups that gives them.
//! A step carries only the columns that something after it needs.

mod groups;
mod modes;
mod rules;
mod stages;
mod table;

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use crisol_contract::{ColumnSpec, DELETED, StageSpec, TableContract};

use self::groups::GroupPlan;
use self::stages::Bound;
pub(crate) use self::stages::type_name;
use crate::RowWorker;
use crate::chain::Ends;
use crate::deleted::{DeletedStage, incoming};
use crate::sql::{Expression, Planner};
use crate::{Chain, ChainInput, GroupWorker, Route, Stage, StageError};

/// Finds what works behind a contract's stages.
pub trait Workers {
    /// The component that `stage` asks for, bound to options and to the columns that reach it.
    ///
    /// # Errors
    /// All problems found; their keys are relative to the stage.
    fn worker(&self, stage: &StageSpec, input: &SchemaRef) -> Result<Arc<dyn RowWorker>, Vec<WorkerProblem>>;

    /// All components that serve under the name that `stage` asks for, each with its schema versions; the first that
    /// handles a version gets its rows.
    ///
    /// # Errors
    /// As for `worker`.
    fn routes(&self, stage: &StageSpec, input: &SchemaRef) -> Result<Vec<Route>, Vec<WorkerProblem>>;

    /// The component that a stage over groups asks for, bound to options and to the columns that reach it.
    ///
    /// # Errors
    /// As for `worker`.
    fn group_worker(&self, stage: &StageSpec, input: &SchemaRef) -> Result<Arc<dyn GroupWorker>, Vec<WorkerProblem>>;
}

/// Why a component cannot work in a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProblem {
    /// Key within the stage, `decode` or `options.columns[0].type`; empty: the stage as a whole.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// What a person can do.
    pub hint: String,
}

impl Chain {
    /// The chain of a contract over the rows of `input`, with components from `workers`.
    ///
    /// Without `columns` the table has the columns that the decoder and the stages after it give, or, where there is no
    /// decoder, all columns that come out of the last stage; and the provenance columns, unless the contract leaves
    /// them out.
    ///
    /// # Errors
    /// All problems, each a [`StageError::Config`] with the key of the contract it stands at.
    pub fn build(contract: &TableContract, input: ChainInput, workers: &dyn Workers) -> Result<Self, Vec<StageError>> {
        let planner = Planner::new().map_err(|error| vec![StageError::internal("sql", error)])?;
        let mut draft = Draft { contract, input: &input, workers, planner, problems: Vec::new() };
        let plan = draft.plan();
        if !draft.problems.is_empty() {
            return Err(draft.problems);
        }
        let (stages, ends) = plan.assemble(contract, &input).map_err(|error| vec![error])?;
        Self::ending(stages, input, ends, contract.on_rejected).map_err(|error| vec![error])
    }
}

/// A contract while it is checked.
struct Draft<'a> {
    contract: &'a TableContract,
    input: &'a ChainInput,
    workers: &'a dyn Workers,
    planner: Planner,
    problems: Vec<StageError>,
}

/// What came of the checks.
struct Plan {
    /// Binary columns that become text.
    texts: Vec<String>,
    stages: Vec<Bound>,
    generated: Vec<crate::generated::Generated>,
    not_null: Vec<String>,
    rules: Vec<crate::expectations::Rule>,
    table: SchemaRef,
    write: Write,
}

/// What the write mode asks of the rows.
enum Write {
    /// They are the table's.
    Rows,
    /// They say whether they are gone.
    Upsert { delete_when: Option<Expression> },
    /// They go into a stage over groups.
    Groups(GroupPlan),
}

/// Columns that reach a point of the chain.
struct Reached {
    schema: SchemaRef,
    /// Columns of the table when the contract does not name them.
    own: Vec<String>,
    /// Whether every stage before could be bound; if not, `schema` is a guess and only sure problems are told.
    sure: bool,
}

impl Draft<'_> {
    fn problem(&mut self, key: impl Into<String>, what: impl Into<String>, hint: impl Into<String>) {
        self.problems.push(StageError::config(key, what, hint));
    }

    fn plan(&mut self) -> Plan {
        let texts = self.texts();
        let (stages, mut reached) = self.stages(&texts);
        let generated = self.generated(&mut reached);
        let rules = self.rules(&reached);
        let group = self.group_stage(&mut reached);
        let table = self.table(&reached);
        let (write, not_null) = self.write(&reached, &table, group);
        Plan { texts, stages, generated, not_null, rules, table, write }
    }

    /// The columns that the contract names.
    fn columns(&self) -> impl Iterator<Item = &ColumnSpec> + use<'_> {
        self.contract.columns.iter().flatten()
    }

    /// Binary columns of the input that become text: those that the contract has as `string`, and `message_key` and
    /// `payload`, unless the contract has them as `binary`.
    fn texts(&self) -> Vec<String> {
        let becomes_text = |field: &&Arc<Field>| {
            let declared = self.columns().find(|column| column.name == *field.name());
            let usual = matches!(field.name().as_str(), "message_key" | "payload");
            *field.data_type() == DataType::Binary
                && declared.map_or(usual, |column| match column.data_type {
                    DataType::Utf8 => true,
                    DataType::Binary => false,
                    _ => usual,
                })
        };
        self.input.schema.fields().iter().filter(becomes_text).map(|field| field.name().clone()).collect()
    }
}

impl Plan {
    /// Stages that carry what is needed after them, and the table's columns.
    fn assemble(self, contract: &TableContract, input: &ChainInput) -> Result<(Vec<Arc<dyn Stage>>, Ends), StageError> {
        let needs = self.needs();
        let mut stages: Vec<Arc<dyn Stage>> = Vec::new();
        let texts: Vec<String> = self.texts.into_iter().filter(|name| needs[0].contains(name)).collect();
        if !texts.is_empty() {
            stages.push(Arc::new(crate::utf8::Utf8Stage::new(&input.schema, &texts)));
        }
        let reached =
            |stages: &[Arc<dyn Stage>]| stages.last().map_or_else(|| Arc::clone(&input.schema), |stage| stage.schema());
        for (bound, after) in self.stages.into_iter().zip(&needs[1..]) {
            let before = reached(&stages);
            stages.push(bound.stage(&before, |column| after.contains(column))?);
        }
        if !self.generated.is_empty() {
            stages.push(Arc::new(crate::generated::GeneratedStage::new(&reached(&stages), self.generated)?));
        }
        if !self.not_null.is_empty() {
            stages.push(Arc::new(crate::not_null::NotNullStage::new(&reached(&stages), &self.not_null)));
        }
        if !self.rules.is_empty() {
            stages.push(Arc::new(crate::expectations::ExpectationsStage::new(&reached(&stages), self.rules)?));
        }
        // Last, so that a contract's own rules see such rows first.
        if let Some(stage) = crate::partition::PartitionStage::new(&reached(&stages), &contract.partition_by) {
            stages.push(Arc::new(stage));
        }
        let ends = match self.write {
            Write::Rows => Ends { given: Arc::clone(&self.table), table: self.table, grouping: None },
            Write::Upsert { delete_when } => {
                stages.push(Arc::new(DeletedStage::new(&reached(&stages), delete_when)?));
                Ends { given: incoming(&self.table), table: self.table, grouping: None }
            }
            Write::Groups(group) => group.ends(reached(&stages), self.table)?,
        };
        tracing::debug!(table = contract.name, steps = stages.len(), "chain built");
        Ok((stages, ends))
    }

    /// Columns needed before the first stage, and after each stage.
    fn needs(&self) -> Vec<BTreeSet<String>> {
        let mut needed: BTreeSet<String> = self.table.fields().iter().map(|field| field.name().clone()).collect();
        match &self.write {
            Write::Rows => {}
            Write::Upsert { delete_when } => {
                needed.extend(delete_when.iter().flat_map(Expression::columns).cloned());
                needed.insert(DELETED.to_owned());
            }
            Write::Groups(group) => group.needs(&mut needed),
        }
        needed.extend(self.rules.iter().flat_map(|rule| rule.condition.columns().iter().cloned()));
        for column in &self.generated {
            needed.extend(column.value.columns().iter().cloned());
        }
        let mut needs = vec![needed.clone()];
        for stage in self.stages.iter().rev() {
            for written in stage.writes().fields() {
                needed.remove(written.name());
            }
            needed.extend(stage.reads());
            needs.push(needed.clone());
        }
        needs.reverse();
        needs
    }
}

/// `schema` and more columns.
fn with_columns<'a>(schema: &Schema, more: impl IntoIterator<Item = (&'a str, &'a DataType)>) -> SchemaRef {
    let mut fields: Vec<Arc<Field>> = schema.fields().iter().cloned().collect();
    for (name, data_type) in more {
        let field = Arc::new(Field::new(name, data_type.clone(), true));
        match fields.iter_mut().find(|known| known.name() == name) {
            Some(known) => *known = field,
            None => fields.push(field),
        }
    }
    Arc::new(Schema::new(fields))
}
