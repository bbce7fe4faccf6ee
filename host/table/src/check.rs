//! Whether what lies at a path is the table that the contract means, and one that this host may write.

use arrow_schema::{DataType as ArrowType, Field, Schema};
use deltalake::kernel::engine::arrow_conversion::TryIntoKernel;
use deltalake::kernel::{Metadata, Protocol, StructField, StructType};

use crate::error::Place;
use crate::{TableError, TableSpec};

/// Features that an append by this host keeps to, as long as the columns and properties that use them are absent.
const FEATURES: [&str; 5] = ["appendOnly", "invariants", "checkConstraints", "changeDataFeed", "generatedColumns"];
const READER_MAX: i32 = 3;
const WRITER_MAX: i32 = 7;
/// Characters that a column name may not hold without Delta's column mapping.
const NOT_IN_NAMES: [char; 10] = [' ', ',', ';', '{', '}', '(', ')', '\n', '\t', '='];

/// The contract's columns as Delta has them.
pub(crate) fn delta_schema(place: &Place, spec: &TableSpec) -> Result<StructType, TableError> {
    check_names(place, spec)?;
    check_partitioning(place, spec)?;
    let fields: Vec<Field> = spec.schema.fields().iter().map(|field| with_comment_only(field)).collect();
    let converted: Result<StructType, _> = (&Schema::new(fields)).try_into_kernel();
    converted.map_err(|e| {
        place.mismatch(format!("its columns cannot be stored: {e}"), "use the types of the contract reference")
    })
}

fn with_comment_only(field: &Field) -> Field {
    let comment = field.metadata().get("comment").cloned();
    field.clone().with_metadata(comment.map(|text| ("comment".to_string(), text)).into_iter().collect())
}

fn check_names(place: &Place, spec: &TableSpec) -> Result<(), TableError> {
    let fields = spec.schema.fields();
    for (i, field) in fields.iter().enumerate() {
        let name = field.name();
        if let Some(other) = fields.iter().take(i).find(|f| same_name(f.name(), name)) {
            return Err(place.mismatch(
                format!(
                    "columns `{}` and `{name}` differ only in case, and Delta does not tell them apart",
                    other.name()
                ),
                "rename one of them",
            ));
        }
        if name.is_empty() || name.contains(NOT_IN_NAMES) {
            return Err(place.mismatch(
                format!("`{name}` cannot be the name of a column in a Delta table"),
                "leave out blanks, commas, semicolons, brackets, equals signs, tabs and line ends",
            ));
        }
    }
    Ok(())
}

fn check_partitioning(place: &Place, spec: &TableSpec) -> Result<(), TableError> {
    for name in &spec.partition_by {
        let Ok(field) = spec.schema.field_with_name(name) else {
            return Err(place.mismatch(format!("partition column `{name}` is not a column"), "name one of its columns"));
        };
        let fits = field.data_type().is_integer()
            || matches!(
                field.data_type(),
                ArrowType::Utf8
                    | ArrowType::Boolean
                    | ArrowType::Date32
                    | ArrowType::Timestamp(..)
                    | ArrowType::Decimal128(..)
            );
        if !fits {
            return Err(place.mismatch(
                format!("column `{name}` of type {} cannot be a partition column", field.data_type()),
                "use a string, boolean, whole number, decimal, date or timestamp",
            ));
        }
    }
    if !spec.partition_by.is_empty() && spec.partition_by.len() >= spec.schema.fields().len() {
        return Err(place.mismatch("every column is a partition column", "leave at least one column for the files"));
    }
    Ok(())
}

/// Compares a table with its contract. Columns are compared by name; their order may differ.
pub(crate) fn same(
    place: &Place,
    spec: &TableSpec,
    protocol: &Protocol,
    metadata: &Metadata,
) -> Result<(), TableError> {
    check_protocol(place, protocol)?;
    let found = metadata.parse_schema().map_err(|e| place.external("cannot read its schema", e))?;
    check_unused(place, metadata, &found)?;
    let wanted = delta_schema(place, spec)?;
    check_columns(place, &wanted, &found)?;
    if metadata.partition_columns() != spec.partition_by {
        return Err(place.mismatch(
            format!(
                "it is partitioned by {}, the contract says {}",
                names(metadata.partition_columns()),
                names(&spec.partition_by)
            ),
            "set `partition_by` as the table has it, or give the table another `path`",
        ));
    }
    Ok(())
}

fn check_protocol(place: &Place, protocol: &Protocol) -> Result<(), TableError> {
    let (reader, writer) = (protocol.min_reader_version(), protocol.min_writer_version());
    if reader > READER_MAX || writer > WRITER_MAX {
        return Err(place.mismatch(
            format!("it needs reader version {reader} and writer version {writer} of Delta's protocol, this host knows {READER_MAX} and {WRITER_MAX}"),
            "write this table with another engine, or give the contract another `path`",
        ));
    }
    let listed = protocol.reader_features().into_iter().chain(protocol.writer_features()).flatten();
    let mut unknown: Vec<String> =
        listed.map(ToString::to_string).filter(|f| !FEATURES.contains(&f.as_str())).collect();
    unknown.sort();
    unknown.dedup();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(place.mismatch(
        format!("it needs table features that this host does not write: {}", names(&unknown)),
        "drop the features from the table (ALTER TABLE … DROP FEATURE), or give the contract another `path`",
    ))
}

/// Features that a protocol may list although nothing uses them: refused only when something does.
fn check_unused(place: &Place, metadata: &Metadata, schema: &StructType) -> Result<(), TableError> {
    let property = metadata.configuration().iter().find(|(key, value)| {
        key.starts_with("delta.constraints.")
            || (key.as_str() == "delta.columnMapping.mode" && value.as_str() != "none")
    });
    if let Some((key, value)) = property {
        return Err(place.mismatch(
            format!("property `{key}` = `{value}` asks of writers what this host does not do"),
            "remove the property from the table, or give the contract another `path`",
        ));
    }
    const USES: [&str; 4] =
        ["delta.invariants", "delta.generationExpression", "delta.identity.start", "delta.columnMapping.id"];
    for field in schema.fields() {
        if let Some(key) = USES.iter().find(|key| field.metadata().contains_key(**key)) {
            return Err(place.mismatch(
                format!("column `{}` has `{key}`, which this host does not keep", field.name()),
                "recreate the column without it, or give the contract another `path`",
            ));
        }
    }
    Ok(())
}

fn check_columns(place: &Place, wanted: &StructType, found: &StructType) -> Result<(), TableError> {
    let mut differences = Vec::new();
    for field in wanted.fields() {
        match found.fields().find(|f| same_name(f.name(), field.name())) {
            None => differences.push(format!("column `{}` is new, the table has none", described(field))),
            Some(other) => differences.extend(difference(field, other)),
        }
    }
    let extra = found.fields().filter(|f| !wanted.fields().any(|w| same_name(w.name(), f.name())));
    differences.extend(extra.map(|f| format!("column `{}` of the table is not in the contract", described(f))));
    if differences.is_empty() {
        return Ok(());
    }
    Err(place.mismatch(
        format!("its columns are not the contract's: {}", differences.join("; ")),
        "the columns of a table that exists are not changed: make the contract's columns those of the table; or give the \
         table another `path`; or set the table, its quarantine and its checkpoint folder aside, and the next run makes \
         them anew with the contract's columns",
    ))
}

/// A column with its type, `day date`.
fn described(field: &StructField) -> String {
    format!("{} {}", field.name(), field.data_type())
}

fn difference(wanted: &StructField, found: &StructField) -> Option<String> {
    let name = wanted.name();
    if found.name() != name {
        return Some(format!("column `{name}` is written `{}` in the table", found.name()));
    }
    if found.data_type() != wanted.data_type() {
        return Some(format!(
            "column `{name}` is {} in the table, the contract says {}",
            found.data_type(),
            wanted.data_type()
        ));
    }
    let null_refused = wanted.is_nullable() && !found.is_nullable();
    null_refused.then(|| format!("column `{name}` is NOT NULL in the table, the contract allows null"))
}

fn same_name(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}

fn names(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing".to_string();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
