//! Where what comes out now and what came out then differ.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, Schema};
use arrow_select::concat::concat_batches;
use crisol_stage::{Chain, ChunkOutput};
use serde::Serialize;

use super::reasons::refused;
use super::run::{Given, Outcome};
use crate::EngineError;

/// Most differences that are told one by one.
const TOLD_MAX: usize = 20;

/// Where two builds differ.
#[derive(Debug, Default, Serialize)]
pub struct Differences {
    /// Input rows, or groups, of which something else became.
    pub count: u64,
    /// The first of them.
    pub first: Vec<Difference>,
}

/// One input row, or group, of which something else became.
#[derive(Debug, Serialize)]
pub struct Difference {
    /// Where the row came from, or the values that make the group.
    pub place: String,
    /// What is not the same.
    pub changes: Vec<Change>,
}

/// One thing that is not the same.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The column; `None`: what became of the row or group as a whole.
    pub column: Option<String>,
    /// As it is with what serves.
    pub serving: String,
    /// As it is with the new component.
    pub new: String,
}

impl Differences {
    fn add(&mut self, changes: Vec<Change>, place: impl FnOnce() -> String) {
        if changes.is_empty() {
            return;
        }
        self.count += 1;
        if self.first.len() < TOLD_MAX {
            self.first.push(Difference { place: place(), changes });
        }
    }
}

/// Compares two outcomes of the same rows.
pub(super) fn between(now: &Outcome, then: &Outcome, given: &Given, chain: &Chain) -> Result<Differences, EngineError> {
    let mut found = Differences::default();
    let compared = match (now, then) {
        (Outcome::Rows(now), Outcome::Rows(then)) => {
            let mut chunks = given.rows.iter().zip(now.iter().zip(then));
            chunks.try_for_each(|(rows, (now, then))| of_rows(rows, now, then, chain, &mut found))
        }
        (Outcome::Groups(now), Outcome::Groups(then)) => of_groups(now, then, &given.groups, &mut found),
        _ => return Err(EngineError::internal("rows cannot be compared with groups")),
    };
    compared.map(|()| found).map_err(EngineError::internal)
}

/// What became of an input row.
#[derive(Clone, PartialEq, Eq)]
enum Fate {
    /// These rows of the output, maybe none.
    Rows(Range<usize>),
    Refused {
        code: String,
        text: String,
    },
    Filtered {
        code: String,
    },
}

fn of_rows(
    rows: &RecordBatch,
    now: &ChunkOutput,
    then: &ChunkOutput,
    chain: &Chain,
    found: &mut Differences,
) -> Result<(), ArrowError> {
    let (fates_now, fates_then) = (fates(now, rows.num_rows()), fates(then, rows.num_rows()));
    for (row, (new, old)) in fates_now.iter().zip(&fates_then).enumerate() {
        let changes = match (new, old) {
            (Fate::Rows(new), Fate::Rows(old)) if new.len() == old.len() => {
                values((&now.accepted, new.clone()), (&then.accepted, old.clone()))?
            }
            // Words are for people, and may change with each build.
            (Fate::Refused { code: new, .. }, Fate::Refused { code: old, .. }) if new == old => Vec::new(),
            (new, old) if new == old => Vec::new(),
            (new, old) => vec![Change { column: None, serving: old.text(), new: new.text() }],
        };
        found.add(changes, || chain.place(rows, row));
    }
    Ok(())
}

fn fates(output: &ChunkOutput, rows: usize) -> Vec<Fate> {
    let mut fates = vec![Fate::Rows(0..0); rows];
    let origin = |at: usize| output.origin.as_ref().map_or(Some(at), |origin| origin.get(at).map(|row| *row as usize));
    for at in 0..output.accepted.num_rows() {
        match origin(at).and_then(|row| fates.get_mut(row)) {
            Some(Fate::Rows(range)) if range.start == range.end => *range = at..at + 1,
            Some(Fate::Rows(range)) => range.end = at + 1,
            _ => {}
        }
    }
    let others = refused(output).into_iter().map(|(row, code, text)| (row, Fate::Refused { code, text }));
    let filtered = output.filtered_rows.iter().map(|one| (one.row, Fate::Filtered { code: one.code.to_string() }));
    for (row, fate) in others.chain(filtered) {
        if let Some(place) = fates.get_mut(row as usize) {
            *place = fate;
        }
    }
    fates
}

impl Fate {
    fn text(&self) -> String {
        match self {
            Self::Rows(rows) if rows.len() == 1 => "accepted".into(),
            Self::Rows(rows) => format!("{} rows", rows.len()),
            Self::Refused { code, text } if text.is_empty() => format!("refused: {code}"),
            Self::Refused { code, text } => format!("refused: {code}: {text}"),
            Self::Filtered { code } => format!("filtered: {code}"),
        }
    }
}

/// Values of columns that both have, row by row.
fn values(
    (new, new_rows): (&RecordBatch, Range<usize>),
    (old, old_rows): (&RecordBatch, Range<usize>),
) -> Result<Vec<Change>, ArrowError> {
    let mut changes = Vec::new();
    let schema = new.schema();
    for (field, column) in schema.fields().iter().zip(new.columns()) {
        let Some(before) = old.column_by_name(field.name()) else { continue };
        let same = column.slice(new_rows.start, new_rows.len()).to_data()
            == before.slice(old_rows.start, old_rows.len()).to_data();
        if same {
            continue;
        }
        let options = FormatOptions::default().with_null("null");
        let (now, then) = (ArrayFormatter::try_new(column, &options)?, ArrayFormatter::try_new(before, &options)?);
        for (at_new, at_old) in new_rows.clone().zip(old_rows.clone()) {
            if column.slice(at_new, 1).to_data() != before.slice(at_old, 1).to_data() {
                let (serving, new) = (then.value(at_old).to_string(), now.value(at_new).to_string());
                changes.push(Change { column: Some(field.name().clone()), serving, new });
            }
        }
    }
    Ok(changes)
}

/// Rows of each group, in their order.
type Groups = BTreeMap<Vec<String>, Vec<usize>>;

fn of_groups(
    now: &[RecordBatch],
    then: &[RecordBatch],
    by: &[String],
    found: &mut Differences,
) -> Result<(), ArrowError> {
    let (new, old) = (Table::of(now, by)?, Table::of(then, by)?);
    let keys: BTreeSet<&Vec<String>> = new.groups.keys().chain(old.groups.keys()).collect();
    for key in keys {
        let (rows, before) = (new.rows(key), old.rows(key));
        let changes = if rows.len() == before.len() {
            let each = rows.iter().zip(before);
            let each = each
                .map(|(new_row, old_row)| values((&new.all, *new_row..new_row + 1), (&old.all, *old_row..old_row + 1)));
            each.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect()
        } else {
            let count = |rows: &[usize]| if rows.len() == 1 { "1 row".into() } else { format!("{} rows", rows.len()) };
            vec![Change { column: None, serving: count(before), new: count(rows) }]
        };
        let named = || by.iter().zip(key).map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
        found.add(changes, named);
    }
    Ok(())
}

/// Rows of a table of groups.
struct Table {
    all: RecordBatch,
    groups: Groups,
}

impl Table {
    fn of(rows: &[RecordBatch], by: &[String]) -> Result<Self, ArrowError> {
        let Some(first) = rows.first() else {
            let nothing = RecordBatch::new_empty(Arc::new(Schema::empty()));
            return Ok(Self { all: nothing, groups: Groups::new() });
        };
        let all = concat_batches(&first.schema(), rows)?;
        let options = FormatOptions::default().with_null("null");
        let keys = by.iter().filter_map(|name| all.column_by_name(name));
        let keys = keys.map(|column| ArrayFormatter::try_new(column, &options)).collect::<Result<Vec<_>, _>>()?;
        let mut groups = Groups::new();
        for row in 0..all.num_rows() {
            let key = keys.iter().map(|column| column.value(row).to_string()).collect();
            groups.entry(key).or_default().push(row);
        }
        drop(keys);
        Ok(Self { all, groups })
    }

    fn rows(&self, key: &[String]) -> &[usize] {
        self.groups.get(key).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Int64Array, StringArray};

    use super::*;

    fn rows(groups: &[&str], totals: &[Option<i64>]) -> RecordBatch {
        let columns: [(&str, ArrayRef); 2] = [
            ("country", Arc::new(StringArray::from(groups.to_vec()))),
            ("total", Arc::new(Int64Array::from(totals.to_vec()))),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
    }

    #[test]
    fn groups_are_compared_by_their_keys_whatever_the_order() {
        let then = [rows(&["DE", "ES"], &[Some(1), Some(2)]), rows(&["FR", "IT"], &[None, Some(4)])];
        let now = [rows(&["IT", "FR", "ES", "ES"], &[Some(4), Some(3), Some(2), Some(9)])];
        let mut found = Differences::default();
        of_groups(&now, &then, &["country".to_owned()], &mut found).unwrap();
        let change = |column: Option<&str>, serving: &str, new: &str| {
            vec![Change { column: column.map(Into::into), serving: serving.into(), new: new.into() }]
        };
        let told: Vec<_> = found.first.into_iter().map(|difference| (difference.place, difference.changes)).collect();
        let expected = [
            ("country DE".to_owned(), change(None, "1 row", "0 rows")),
            ("country ES".to_owned(), change(None, "1 row", "2 rows")),
            ("country FR".to_owned(), change(Some("total"), "null", "3")),
        ];
        assert_eq!((found.count, told.as_slice()), (3, expected.as_slice()));
    }

    #[test]
    fn nothing_is_compared_with_nothing() {
        let mut found = Differences::default();
        of_groups(&[], &[rows(&["DE"], &[Some(1)])], &["country".to_owned()], &mut found).unwrap();
        assert_eq!((found.count, found.first[0].changes[0].new.as_str()), (1, "0 rows"));
    }
}
