//! What came out, as a sample would expect it.

use serde_json::Value;

use super::compare::{Out, Outcome, ROW};
use super::{Expect, ExpectedRejection, Object, encode};
use crate::Kind;

impl Outcome {
    /// It as the `expect` of its sample. Rows name the columns that `before` named, or all that the component gave; texts of
    /// rejections are left out where `before` left them out.
    pub(super) fn expect(&self, before: &Expect, kind: Kind) -> Expect {
        let columns = self.columns(before);
        let rows = (kind != Kind::Validator)
            .then(|| self.rows.iter().map(|out| self.object(out, &columns)).collect::<Vec<_>>())
            .filter(|rows| !rows.is_empty() || before.rows.is_some());
        let rejections = |filter: bool, before: &[ExpectedRejection]| {
            let rejected = self.rejected.iter().filter(|rejected| rejected.filter == filter);
            let one = |rejected: &crate::Rejected| {
                let row = rejected.row as usize;
                let unsaid = before.iter().any(|expected| expected.row == row && expected.text.is_none());
                let text = (!unsaid && !rejected.text.is_empty()).then(|| rejected.text.clone());
                ExpectedRejection { row, code: rejected.code.clone(), text }
            };
            rejected.map(one).collect()
        };
        Expect { rows, rejected: rejections(false, &before.rejected), filtered: rejections(true, &before.filtered) }
    }

    fn columns(&self, before: &Expect) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in before.rows.iter().flatten().flat_map(|row| row.keys()) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        if names.is_empty() {
            let fields = self.written.iter().take(1).flat_map(|batch| batch.schema_ref().fields());
            names.extend(fields.map(|field| field.name().clone()));
        }
        names
    }

    fn object(&self, out: &Out, columns: &[String]) -> Object {
        let value = |name: &String| {
            if name == ROW {
                return Some((name.clone(), Value::from(out.number)));
            }
            let (column, row) = self.column(out, name)?;
            Some((name.clone(), encode::value(column.as_ref(), row)))
        };
        columns.iter().filter_map(value).collect()
    }
}
