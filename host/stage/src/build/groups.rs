//! The stage over groups: bound to the rows that reach it, and to the table that it fills.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use crisol_contract::{DELETED, StageSpec, WriteMode};

use super::stages::{kind_key, listed, names, type_name};
use super::{Draft, Reached};
use crate::chain::Ends;
use crate::component::written_over;
use crate::sql::nearest;
use crate::{GroupWorker, Grouping, StageError};

/// A stage over groups that is bound.
pub(super) struct GroupPlan {
    name: String,
    worker: Arc<dyn GroupWorker>,
    group_by: Vec<String>,
}

impl Draft<'_> {
    /// Binds the stage over groups, if there is one; afterwards `reached` holds the columns of the groups' rows.
    pub(super) fn group_stage(&mut self, reached: &mut Reached) -> Option<GroupPlan> {
        let contract = self.contract;
        let WriteMode::ReplaceGroups { group_by } = &contract.write else { return None };
        let (at, spec) = contract.stages.iter().enumerate().find(|(_, spec)| spec.kind.takes_groups())?;
        let keys_fit = self.check_keys("group_by", group_by, reached);
        let worker = self.group_worker(at, spec, reached);
        let Some(worker) = worker.filter(|_| keys_fit) else {
            reached.sure = false;
            return None;
        };
        let without = |name: &str| name == DELETED || self.input.provenance.iter().any(|own| own == name);
        let before: Vec<Arc<Field>> = reached.schema.fields().iter().filter(|f| !without(f.name())).cloned().collect();
        let before = if worker.ranks() {
            Schema::new(before)
        } else {
            Schema::new(before.into_iter().filter(|field| group_by.contains(field.name())).collect::<Vec<_>>())
        };
        reached.schema = written_over(&before, &worker.writes());
        let written = names(&worker.writes());
        let mut own: Vec<String> = if worker.ranks() { reached.own.clone() } else { group_by.clone() };
        own.retain(|name| reached.schema.index_of(name).is_ok() && !written.contains(name));
        own.extend(written);
        reached.own = own;
        Some(GroupPlan {
            name: format!("{} {}", kind_key(spec.kind), spec.component),
            worker,
            group_by: group_by.clone(),
        })
    }

    fn group_worker(&mut self, at: usize, spec: &StageSpec, reached: &Reached) -> Option<Arc<dyn GroupWorker>> {
        let key = |suffix: &str| match suffix {
            "" => format!("stages[{at}]"),
            suffix => format!("stages[{at}].{suffix}"),
        };
        let worker = match self.workers.group_worker(spec, &reached.schema) {
            Ok(worker) => worker,
            Err(problems) => {
                for problem in problems.into_iter().filter(|problem| reached.sure || !problem.key.is_empty()) {
                    self.problem(key(&problem.key), problem.what, problem.hint);
                }
                return None;
            }
        };
        let absent: Vec<String> =
            worker.reads().into_iter().filter(|name| reached.schema.index_of(name).is_err()).collect();
        for name in absent.iter().filter(|_| reached.sure) {
            let what = format!("`{}` reads a column `{name}`, which does not reach it", spec.component);
            let hint = format!("columns here are {}", listed(&names(&reached.schema)));
            self.problem(key(kind_key(spec.kind)), what, hint);
        }
        absent.is_empty().then_some(worker)
    }

    /// Columns that make a key: they reach the table, and their values can be told equal and put in order.
    pub(super) fn check_keys(&mut self, list: &str, keys: &[String], reached: &Reached) -> bool {
        let mut fit = true;
        for (at, name) in keys.iter().enumerate() {
            let key = format!("write.{list}[{at}]");
            match reached.schema.fields().find(name) {
                Some((_, field)) if !can_be_key(field.data_type()) => {
                    let given = type_name(field.data_type());
                    let what = format!("column `{name}` is `{given}`, whose values have no order");
                    self.problem(key, what, "choose columns of plain types: numbers, texts, dates, timestamps");
                    fit = false;
                }
                Some(_) => {}
                None => {
                    fit = false;
                    if reached.sure {
                        let known = names(&reached.schema);
                        let near = nearest(name, known.iter().map(String::as_str));
                        let hint = near.map_or_else(
                            || format!("columns here are {}", listed(&known)),
                            |near| format!("did you mean `{near}`?"),
                        );
                        self.problem(key, format!("no column `{name}` here"), hint);
                    }
                }
            }
        }
        fit
    }
}

fn can_be_key(data_type: &DataType) -> bool {
    !data_type.is_nested() && *data_type != DataType::Null
}

impl GroupPlan {
    /// Columns that it gives.
    pub(super) fn writes(&self) -> SchemaRef {
        self.worker.writes()
    }

    /// Columns that must reach it, instead of those that it writes.
    pub(super) fn needs(&self, needed: &mut BTreeSet<String>) {
        for written in self.worker.writes().fields() {
            needed.remove(written.name());
        }
        needed.extend(self.worker.reads());
        needed.extend(self.group_by.iter().cloned());
        needed.insert(DELETED.to_owned());
    }

    /// The end of a chain whose last stage gives rows of `last`.
    pub(super) fn ends(self, last: SchemaRef, table: SchemaRef) -> Result<Ends, StageError> {
        let mut needed: BTreeSet<String> = names(&table).into_iter().collect();
        self.needs(&mut needed);
        let fields = last.fields().iter().filter(|field| needed.contains(field.name()) && field.name() != DELETED);
        let given = Arc::new(Schema::new(fields.cloned().collect::<Vec<_>>()));
        let grouping = Grouping::new(&self.name, self.worker, &self.group_by, Arc::clone(&given), &table)?;
        Ok(Ends { table, given, grouping: Some(Arc::new(grouping)) })
    }
}
