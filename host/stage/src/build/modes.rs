//! What the write mode asks of a chain.

use arrow_schema::{DataType, SchemaRef};
use crisol_contract::WriteMode;

use super::groups::GroupPlan;
use super::stages::{names, type_name};
use super::{Draft, Reached, Write};
use crate::sql::Expression;

impl Draft<'_> {
    /// What becomes of the rows at the end, and the columns in which a null is refused before that.
    pub(super) fn write(
        &mut self,
        reached: &Reached,
        table: &SchemaRef,
        group: Option<GroupPlan>,
    ) -> (Write, Vec<String>) {
        let contract = self.contract;
        let mut not_null: Vec<String> =
            self.columns().filter(|column| !column.nullable).map(|column| column.name.clone()).collect();
        match (&contract.write, group) {
            (WriteMode::Upsert { keys, sequence_by, delete_when }, _) => {
                self.check_keys("keys", keys, reached);
                self.check_keys("sequence_by", sequence_by, reached);
                self.check_kept("keys", keys, table, reached);
                self.check_kept("sequence_by", sequence_by, table, reached);
                // E-061, row by row: such an event says nothing of what to keep.
                let more = keys.iter().chain(sequence_by).filter(|name| !not_null.contains(name));
                let more: Vec<String> = more.cloned().collect();
                not_null.extend(more);
                let delete_when = delete_when.as_ref().and_then(|text| self.condition(text, reached));
                (Write::Upsert { delete_when }, not_null)
            }
            // What a stage over groups gives is checked where it is written.
            (_, Some(group)) => {
                let given = names(&group.writes());
                not_null.retain(|name| !given.contains(name));
                (Write::Groups(group), not_null)
            }
            (_, None) => (Write::Rows, not_null),
        }
    }

    /// Keys and sequences are columns of the table: the next batch is compared with them.
    fn check_kept(&mut self, list: &str, columns: &[String], table: &SchemaRef, reached: &Reached) {
        for (at, name) in columns.iter().enumerate() {
            if reached.sure && table.index_of(name).is_err() && reached.schema.index_of(name).is_ok() {
                let what = format!("column `{name}` is none of the table's");
                self.problem(format!("write.{list}[{at}]"), what, "add it to `columns`");
            }
        }
    }

    fn condition(&mut self, text: &str, reached: &Reached) -> Option<Expression> {
        let condition = self.expression("write.delete_when", text, reached)?;
        if *condition.data_type() == DataType::Boolean {
            return Some(condition);
        }
        let what = format!("gives `{}`, not true or false", type_name(condition.data_type()));
        self.problem("write.delete_when", what, "write a comparison, `operation = 'delete'`");
        None
    }
}
