//! Expectations: named SQL conditions over a row, counted per rule (E-001 … E-008, E-021).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_schema::SchemaRef;
use crisol_contract::OnViolation;

use crate::columns::without_rejected;
use crate::sql::Expression;
use crate::{BatchContext, Fate, Rejection, Stage, StageError, StageOutput};

const NAME: &str = "expectations";

/// A rule whose condition is planned and boolean.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Unique within the table.
    pub(crate) name: String,
    /// The condition.
    pub(crate) condition: Expression,
    /// What a violation does.
    pub(crate) on_violation: OnViolation,
}

/// The step: every rule sees every row, so that the counts of a rule do not depend on the others (E-006).
#[derive(Debug)]
pub(crate) struct ExpectationsStage {
    rules: Vec<Rule>,
    schema: SchemaRef,
}

impl ExpectationsStage {
    /// Rules over rows of `schema`.
    pub(crate) fn new(schema: &SchemaRef, rules: Vec<Rule>) -> Result<Self, StageError> {
        let over = |rule: Rule| match rule.condition.over(schema) {
            Ok(condition) => Ok(Rule { condition, ..rule }),
            Err(error) => Err(StageError::internal(NAME, error)),
        };
        Ok(Self { rules: rules.into_iter().map(over).collect::<Result<_, _>>()?, schema: Arc::clone(schema) })
    }
}

impl Stage for ExpectationsStage {
    fn name(&self) -> String {
        NAME.into()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn process(&self, rows: &RecordBatch, context: &BatchContext) -> Result<StageOutput, StageError> {
        let mut rejected = Vec::new();
        let mut counts = Vec::with_capacity(self.rules.len());
        for rule in &self.rules {
            let passed = match rule.passed(rows, context) {
                Ok(passed) => passed,
                Err(rejection) => {
                    rejected.push(rejection);
                    continue;
                }
            };
            let good = passed.count_set_bits();
            counts.push((rule.name.clone(), good as u64, (rows.num_rows() - good) as u64));
            if good < rows.num_rows() {
                rule.refuse(&passed, &mut rejected);
            }
        }
        let mut output = without_rejected(rows, rejected).map_err(|error| StageError::internal(NAME, error))?;
        output.rules = counts;
        Ok(output)
    }
}

impl Rule {
    /// Rows that satisfy the condition; null does not (E-007). A condition that cannot be evaluated fails the batch,
    /// whatever the rule's action is (E-008).
    fn passed(&self, rows: &RecordBatch, context: &BatchContext) -> Result<BooleanBuffer, Rejection> {
        let values = self.condition.evaluate(rows, context).map_err(|error| Rejection {
            row: error.row,
            fate: Fate::Fail,
            code: self.code(),
            text: format!("`{}` cannot be evaluated: {}", self.condition.text(), error.text).into(),
            component: None,
        })?;
        let values = values.as_boolean();
        Ok(match values.nulls() {
            Some(nulls) => values.values() & nulls.inner(),
            None => values.values().clone(),
        })
    }

    fn refuse(&self, passed: &BooleanBuffer, rejected: &mut Vec<Rejection>) {
        let fate = match self.on_violation {
            OnViolation::Warn => return,
            OnViolation::Drop => Fate::Filter,
            OnViolation::Quarantine => Fate::Quarantine,
            OnViolation::Fail => Fate::Fail,
        };
        let text: Arc<str> = format!("`{}` is not true", self.condition.text()).into();
        let (violations, code) = (!passed, self.code());
        rejected.extend(violations.set_indices_u32().map(|row| Rejection {
            row,
            fate,
            code: Arc::clone(&code),
            text: Arc::clone(&text),
            component: None,
        }));
    }

    fn code(&self) -> Arc<str> {
        format!("expectation: {}", self.name).into()
    }
}
