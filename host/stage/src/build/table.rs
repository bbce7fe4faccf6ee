//! The table's own columns: named by the contract, or those that come out.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use crisol_contract::{ColumnSpec, DELETED, PARTITION_HINT, can_partition};

use super::stages::{listed, names, type_name};
use super::{Draft, Reached};
use crate::sql::nearest;

/// Key of a column's comment in the metadata of its field.
const COMMENT: &str = "comment";

impl Draft<'_> {
    /// Columns of the table, in order: the contract's (or the default), then provenance. [`DELETED`] is none of them.
    pub(super) fn table(&mut self, reached: &Reached) -> SchemaRef {
        let contract = self.contract;
        let mut fields: Vec<Arc<Field>> = match &contract.columns {
            Some(columns) => {
                columns.iter().enumerate().filter_map(|(at, column)| self.declared(at, column, reached)).collect()
            }
            None => {
                let own = reached.own.iter().filter(|name| *name != DELETED);
                own.filter_map(|name| field(&reached.schema, name)).collect()
            }
        };
        let declared = |name: &str| contract.columns.iter().flatten().any(|column| column.name == name);
        if contract.keeps_provenance() {
            for name in &self.input.provenance {
                if !fields.iter().any(|field| field.name() == name) {
                    fields.extend(field(&reached.schema, name));
                }
            }
        } else {
            fields.retain(|field| declared(field.name()) || !self.input.provenance.contains(field.name()));
        }
        self.check_names(&fields);
        if reached.sure || contract.columns.is_some() {
            self.check_partitions(&fields);
        }
        Arc::new(Schema::new(fields))
    }

    fn declared(&mut self, at: usize, column: &ColumnSpec, reached: &Reached) -> Option<Arc<Field>> {
        let Some(present) = field(&reached.schema, &column.name) else {
            if reached.sure {
                let what = format!("no column `{}` comes out of the stages", column.name);
                let known = names(&reached.schema);
                let hint = match nearest(&column.name, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("columns here are {}; or make it `generated`", listed(&known)),
                };
                self.problem(format!("columns[{at}].name"), what, hint);
            }
            return None;
        };
        if !column.data_type.equals_datatype(present.data_type()) {
            let (wanted, given) = (type_name(&column.data_type), type_name(present.data_type()));
            let what = format!("column `{}` is `{wanted}` here, but comes out as `{given}`", column.name);
            let hint = "make them equal; or give it another name and `generated` with a CAST";
            self.problem(format!("columns[{at}].type"), what, hint);
            return None;
        }
        let metadata: HashMap<String, String> =
            column.comment.iter().map(|comment| (COMMENT.to_owned(), comment.clone())).collect();
        let field = Field::new(&column.name, present.data_type().clone(), column.nullable);
        Some(Arc::new(field.with_metadata(metadata)))
    }

    /// Delta knows no case: two columns that differ by nothing else are one (D-023).
    fn check_names(&mut self, fields: &[Arc<Field>]) {
        let mut seen = BTreeMap::<String, &str>::new();
        for field in fields {
            if let Some(other) = seen.insert(field.name().to_lowercase(), field.name()) {
                let what = format!("columns `{other}` and `{}` differ by case only", field.name());
                self.problem("columns", what, "a Delta table takes them for one: rename one of them");
            }
        }
    }

    fn check_partitions(&mut self, fields: &[Arc<Field>]) {
        let contract = self.contract;
        let known: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        for (at, name) in contract.partition_by.iter().enumerate() {
            if let Some(field) = fields.iter().find(|field| field.name() == name) {
                if !can_partition(field.data_type()) {
                    let given = type_name(field.data_type());
                    let what = format!("column `{name}` is `{given}`, which cannot partition a table");
                    self.problem(format!("partition_by[{at}]"), what, PARTITION_HINT);
                }
            } else if !contract.columns.iter().flatten().any(|column| column.name == *name) {
                let near = nearest(name, known.iter().map(String::as_str));
                let hint = near.map_or_else(
                    || format!("columns are {}", listed(&known)),
                    |near| format!("did you mean `{near}`?"),
                );
                self.problem(format!("partition_by[{at}]"), format!("no column `{name}` in the table"), hint);
            }
        }
    }
}

fn field(schema: &Schema, name: &str) -> Option<Arc<Field>> {
    schema.fields().find(name).map(|(_, field)| Arc::clone(field))
}
