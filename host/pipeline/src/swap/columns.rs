//! How columns differ before and after an exchange.

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use crisol_observe::{ColumnChange, ColumnChanges};
use crisol_stage::ComponentId;

/// How the columns of other stages differ from those of a table that exists.
pub(crate) fn difference(table: &Schema, other: &Schema) -> Option<String> {
    let mut differences = Vec::new();
    for field in other.fields() {
        match table.field_with_name(field.name()) {
            Err(_) => differences.push(format!("column `{}` is new", field.name())),
            Ok(known) if described(known) != described(field) => differences.push(format!(
                "column `{}` is {} instead of {}",
                field.name(),
                described(field),
                described(known)
            )),
            Ok(_) => {}
        }
    }
    let missing = table.fields().iter().filter(|field| other.field_with_name(field.name()).is_err());
    differences.extend(missing.map(|field| format!("column `{}` is missing", field.name())));
    if differences.is_empty() && moved(table, other) {
        differences.push("they come in another order".into());
    }
    (!differences.is_empty()).then(|| differences.join("; "))
}

/// Columns of two schemas side by side. Where nothing but their order differs, their places are told.
pub(crate) fn changes(old: &Schema, new: &Schema) -> ColumnChanges {
    let places = difference(old, new).is_some() && same_columns(old, new);
    let text = |schema: &Schema, name: &str| {
        let (at, field) = schema.fields().find(name)?;
        let place = if places { format!(", place {}", at + 1) } else { String::new() };
        Some(format!("{}{place}", described(field)))
    };
    let added = new.fields().iter().filter(|field| old.fields().find(field.name()).is_none());
    let names = old.fields().iter().chain(added).map(|field| field.name());
    let change = |name: &String| ColumnChange { name: name.clone(), old: text(old, name), new: text(new, name) };
    ColumnChanges(names.map(change).collect())
}

/// How that which the builds of a component give differs; `None`: it does not.
pub(super) fn changes_of(
    component: &str,
    before: &[(ComponentId, SchemaRef)],
    after: &[(ComponentId, SchemaRef)],
) -> Option<ColumnChanges> {
    let (before, after) = (given(component, before), given(component, after));
    difference(&before, &after).map(|_| changes(&before, &after))
}

/// Columns that any build of a component gives; where several do, as the first does.
fn given(component: &str, written: &[(ComponentId, SchemaRef)]) -> Schema {
    let mut fields: Vec<Arc<Field>> = Vec::new();
    for (_, schema) in written.iter().filter(|(id, _)| id.name == component) {
        let new = schema.fields().iter().filter(|field| !fields.iter().any(|known| known.name() == field.name()));
        let new: Vec<_> = new.cloned().collect();
        fields.extend(new);
    }
    Schema::new(fields)
}

fn described(field: &Field) -> String {
    let null = if field.is_nullable() { "" } else { " not null" };
    let data_type = crisol_ipc::types::name(field.data_type()).unwrap_or_else(|| field.data_type().to_string());
    format!("{data_type}{null}")
}

fn same_columns(old: &Schema, new: &Schema) -> bool {
    let same = |field: &Arc<Field>| new.field_with_name(field.name()).is_ok_and(|f| described(f) == described(field));
    old.fields().len() == new.fields().len() && old.fields().iter().all(same)
}

fn moved(old: &Schema, new: &Schema) -> bool {
    old.fields().iter().map(|field| field.name()).ne(new.fields().iter().map(|field| field.name()))
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;

    use super::*;

    fn schema(columns: &[(&str, DataType, bool)]) -> Schema {
        let field =
            |(name, data_type, nullable): &(&str, DataType, bool)| Field::new(*name, data_type.clone(), *nullable);
        Schema::new(columns.iter().map(field).collect::<Vec<_>>())
    }

    #[test]
    fn differences_of_columns_are_named() {
        let table = schema(&[("a", DataType::Int32, false), ("b", DataType::Utf8, true)]);
        let of = |columns: &[(&str, DataType, bool)]| difference(&table, &schema(columns));
        assert_eq!(of(&[("a", DataType::Int32, false), ("b", DataType::Utf8, true)]), None);
        assert_eq!(
            of(&[("a", DataType::Int64, false), ("c", DataType::Utf8, true)]).unwrap(),
            "column `a` is bigint not null instead of int not null; column `c` is new; column `b` is missing"
        );
        assert_eq!(
            of(&[("a", DataType::Int32, true), ("b", DataType::Utf8, true)]).unwrap(),
            "column `a` is int instead of int not null"
        );
        assert_eq!(
            of(&[("b", DataType::Utf8, true), ("a", DataType::Int32, false)]).unwrap(),
            "they come in another order"
        );
    }

    #[test]
    fn all_columns_stand_beside_each_other_those_that_are_gone_in_their_old_place() {
        let table = schema(&[("a", DataType::Int32, false), ("b", DataType::Utf8, true)]);
        let of = |columns: &[(&str, DataType, bool)]| {
            let ColumnChanges(changes) = changes(&table, &schema(columns));
            let text = |text: Option<String>| text.unwrap_or_else(|| "-".into());
            changes.into_iter().map(|c| format!("{}: {} > {}", c.name, text(c.old), text(c.new))).collect::<Vec<_>>()
        };
        assert_eq!(
            of(&[("c", DataType::Utf8, true), ("a", DataType::Int64, false)]),
            ["a: int not null > bigint not null", "b: string > -", "c: - > string"]
        );
        assert_eq!(
            of(&[("b", DataType::Utf8, true), ("a", DataType::Int32, false)]),
            ["a: int not null, place 1 > int not null, place 2", "b: string, place 2 > string, place 1"]
        );
    }

    #[test]
    fn what_a_component_gives_is_compared_over_all_of_its_builds() {
        let id = |version: &str| ComponentId { name: "orders".into(), version: version.into(), digest: version.into() };
        let given = |columns: &[(&str, DataType, bool)]| Arc::new(schema(columns));
        let old = given(&[("a", DataType::Int32, true)]);
        let new = given(&[("a", DataType::Int32, true), ("c", DataType::Utf8, true)]);
        assert_eq!(changes_of("orders", &[(id("1"), old.clone())], &[(id("2"), old.clone())]), None);
        let found = changes_of("orders", &[(id("1"), old.clone())], &[(id("3"), new.clone()), (id("1"), old.clone())]);
        let ColumnChanges(found) = found.unwrap();
        assert_eq!((found.len(), found[1].name.as_str(), found[1].old.clone()), (2, "c", None));
        assert_eq!(changes_of("rules", &[(id("1"), old)], &[(id("3"), new)]), None);
    }
}
