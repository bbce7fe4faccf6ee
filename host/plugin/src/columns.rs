//! Columns as both sides name them: an Arrow schema here, names and type names there.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{Array as _, RecordBatch};
use arrow_schema::{Field, Fields, Schema, SchemaRef};
use crisol_ipc::{GROUP, ROW, types, with_index};

use crate::bindings::{Column, StagePlan};
use crate::limits::{COLUMN_NAME_BYTES_MAX, COLUMNS_MAX, ROWS_MAX};
use crate::text::printable;
use crate::{CallError, Kind};

/// A checked plan.
#[derive(Debug)]
pub(crate) struct Columns {
    /// Names that are read, in the order in which the component wants them.
    pub(crate) reads: Vec<String>,
    /// The same, as the component is told.
    pub(crate) input: Vec<Column>,
    /// The same, as they must arrive: in groups with `_group`.
    pub(crate) input_schema: SchemaRef,
    /// Columns that are given.
    pub(crate) writes: SchemaRef,
    /// The same, and `_row` or `_group`.
    pub(crate) message: SchemaRef,
}

/// The columns of an input that have a type which can cross; others cannot be read.
pub(crate) fn describe(input: &Schema) -> Vec<Column> {
    input.fields().iter().filter_map(|field| column(field)).collect()
}

fn column(field: &Field) -> Option<Column> {
    Some(Column { name: field.name().clone(), type_: types::name(field.data_type())?, nullable: field.is_nullable() })
}

impl Columns {
    /// Checks a plan against the input that it was made for.
    pub(crate) fn check(kind: Kind, plan: &StagePlan, input: &Schema) -> Result<Self, String> {
        let input_fields = check_reads(kind, &plan.reads, input)?;
        let writes = check_writes(kind, &plan.writes)?;
        let input = input_fields.iter().filter_map(|field| column(field)).collect();
        let seen = Schema::new(input_fields);
        Ok(Self {
            reads: plan.reads.clone(),
            input,
            input_schema: if kind.groups() { with_index(&seen, GROUP) } else { Arc::new(seen) },
            message: with_index(&writes, kind.index()),
            writes,
        })
    }

    /// Whether these rows may be given to the component: at most [`ROWS_MAX`], with exactly the columns agreed on.
    pub(crate) fn check_rows(&self, rows: &RecordBatch) -> Result<(), CallError> {
        if rows.num_rows() > ROWS_MAX {
            let what = format!("{} rows were given in one call, {ROWS_MAX} are allowed", rows.num_rows());
            return Err(CallError::Host { what });
        }
        let (wanted, given) = (self.input_schema.fields(), rows.schema_ref().fields());
        let same = wanted.len() == given.len()
            && wanted.iter().zip(given).all(|(w, g)| w.name() == g.name() && w.data_type() == g.data_type());
        let nulls = wanted.iter().zip(rows.columns()).any(|(w, column)| !w.is_nullable() && column.null_count() > 0);
        if same && !nulls {
            return Ok(());
        }
        let names = |fields: &Fields| fields.iter().map(|field| field.name().clone()).collect::<Vec<_>>();
        let what = format!("columns {:?} were given, {:?} were agreed on", names(given), names(wanted));
        Err(CallError::Host { what })
    }
}

fn check_reads(kind: Kind, reads: &[String], input: &Schema) -> Result<Vec<Arc<Field>>, String> {
    if reads.is_empty() && !kind.groups() {
        return Err("reads no column; a row stage reads at least one".to_string());
    }
    if reads.len() > COLUMNS_MAX {
        return Err(format!("reads {} columns, {COLUMNS_MAX} are allowed", reads.len()));
    }
    let mut seen = HashSet::new();
    let mut fields = Vec::with_capacity(reads.len());
    for name in reads {
        if !seen.insert(name) {
            return Err(format!("reads column `{}` twice", shown(name)));
        }
        if kind.groups() && name == GROUP {
            return Err(format!("reads column `{GROUP}`, which it is given without asking"));
        }
        let Some((_, field)) = input.fields().find(name) else { return Err(missing(name, input)) };
        if types::name(field.data_type()).is_none() {
            let data_type = field.data_type();
            return Err(format!(
                "reads column `{}`, whose type {data_type} cannot be given to a component",
                shown(name)
            ));
        }
        fields.push(field.clone());
    }
    Ok(fields)
}

fn missing(name: &str, input: &Schema) -> String {
    let names: Vec<&str> = input.fields().iter().map(|field| field.name().as_str()).collect();
    let near = nearest(name, names.iter().copied());
    let hint = near.map_or_else(|| format!("there are {}", names.join(", ")), |near| format!("did you mean `{near}`?"));
    format!("reads column `{}`, which its input does not have; {}", shown(name), printable(&hint, 500))
}

fn check_writes(kind: Kind, writes: &[Column]) -> Result<SchemaRef, String> {
    if kind == Kind::Validator && !writes.is_empty() {
        return Err(format!("is a validator and writes column `{}`; validators write none", shown(&writes[0].name)));
    }
    if writes.len() > COLUMNS_MAX {
        return Err(format!("writes {} columns, {COLUMNS_MAX} are allowed", writes.len()));
    }
    let mut seen = HashSet::new();
    let mut fields = Vec::with_capacity(writes.len());
    for column in writes {
        check_name(&column.name)?;
        if !seen.insert(&column.name) {
            return Err(format!("writes column `{}` twice", shown(&column.name)));
        }
        let data_type = types::parse(&column.type_)
            .map_err(|error| format!("writes column `{}`: {}", shown(&column.name), printable(&error, 500)))?;
        fields.push(Field::new(&column.name, data_type, column.nullable));
    }
    Ok(Arc::new(Schema::new(fields)))
}

fn check_name(name: &str) -> Result<(), String> {
    if name == ROW || name == GROUP {
        return Err(format!("writes column `{name}`, a name that is taken"));
    }
    if name.is_empty() || name.len() > COLUMN_NAME_BYTES_MAX {
        let bytes = name.len();
        return Err(format!("writes a column whose name has {bytes} bytes; names have 1 to {COLUMN_NAME_BYTES_MAX}"));
    }
    if name.chars().any(char::is_control) || printable(name, usize::MAX) != name {
        return Err(format!("writes column `{}`, a name with characters that cannot be printed", shown(name)));
    }
    Ok(())
}

fn shown(name: &str) -> String {
    printable(name, COLUMN_NAME_BYTES_MAX)
}

/// The name that was probably meant.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name: String = name.chars().take(COLUMN_NAME_BYTES_MAX).collect();
    let near = names.map(|other| (strsim::damerau_levenshtein(&name, other), other)).min()?;
    (near.0 <= (near.1.chars().count() / 3).max(1)).then_some(near.1)
}

#[cfg(test)]
mod tests;
