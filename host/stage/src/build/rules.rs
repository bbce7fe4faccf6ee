//! The contract's SQL: generated columns and expectations.

use arrow_schema::DataType;
use crisol_contract::ColumnSpec;

use super::stages::type_name;
use super::{Draft, Reached, with_columns};
use crate::expectations::Rule;
use crate::generated::Generated;
use crate::sql::{Expression, needs_a_unit};

impl Draft<'_> {
    /// Plans the generated columns over the rows after the last stage, and adds them to what is reached.
    pub(super) fn generated(&mut self, reached: &mut Reached) -> Vec<Generated> {
        let contract = self.contract;
        let mut planned = Vec::new();
        for (at, column) in contract.columns.iter().flatten().enumerate() {
            let Some(text) = &column.generated else { continue };
            let key = format!("columns[{at}].generated");
            if let Some(value) = self.expression(&key, text, reached) {
                planned.extend(self.generated_column(&key, column, value, reached));
            }
        }
        let columns = contract.columns.iter().flatten().filter(|column| column.generated.is_some());
        reached.schema = with_columns(&reached.schema, columns.map(|column| (column.name.as_str(), &column.data_type)));
        planned
    }

    fn generated_column(
        &mut self,
        key: &str,
        column: &ColumnSpec,
        value: Expression,
        reached: &Reached,
    ) -> Option<Generated> {
        let (from, to) = (value.data_type().clone(), &column.data_type);
        if from != DataType::Null && !arrow_cast::can_cast_types(&from, to) {
            let what = format!("gives `{}`, which cannot become `{}`", type_name(&from), type_name(to));
            self.problem(key, what, "change the expression or the column's type");
            return None;
        }
        if needs_a_unit(&from, to) {
            let what = format!("gives `{}`, which does not become `{}` by itself", type_name(&from), type_name(to));
            self.problem(key, what, "write the CAST: it counts whole seconds since 1970");
            return None;
        }
        let value = value.cast_to(to);
        let present = reached.schema.fields().find(&column.name);
        let Some((_, present)) = present.filter(|_| reached.sure) else {
            return Some(Generated { name: column.name.clone(), value, check: None });
        };
        if present.data_type() != to {
            let what = format!(
                "column `{}` is `{}` here, but comes along as `{}`",
                column.name,
                type_name(to),
                type_name(present.data_type())
            );
            self.problem(key, what, "make the types equal, or give the column another name");
            return None;
        }
        let same = format!("`{}` IS NOT DISTINCT FROM ({})", column.name.replace('`', "``"), value.text());
        let check = self.expression(key, &same, reached)?;
        Some(Generated { name: column.name.clone(), value, check: Some(check) })
    }

    /// Plans the expectations over the rows with their generated columns.
    pub(super) fn rules(&mut self, reached: &Reached) -> Vec<Rule> {
        let contract = self.contract;
        let mut rules = Vec::new();
        for (at, spec) in contract.expectations.iter().enumerate() {
            let key = format!("expectations[{at}].condition");
            let Some(condition) = self.expression(&key, &spec.condition, reached) else { continue };
            if *condition.data_type() != DataType::Boolean {
                let what = format!("gives `{}`, not true or false", type_name(condition.data_type()));
                self.problem(key, what, "write a comparison, `amount > 0`");
                continue;
            }
            rules.push(Rule { name: spec.name.clone(), condition, on_violation: spec.on_violation });
        }
        rules
    }

    pub(super) fn expression(&mut self, key: &str, text: &str, reached: &Reached) -> Option<Expression> {
        match self.planner.plan(text, &reached.schema) {
            Ok(expression) => Some(expression),
            Err(_) if !reached.sure && self.contract.columns.is_none() => None,
            Err(problem) => {
                self.problem(key, problem.what, problem.hint);
                None
            }
        }
    }
}
