//! Names in a project, for a command line that proposes them.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::files;

/// What can be named in a project, each list in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// Ingestion contracts.
    pub ingestions: BTreeSet<String>,
    /// Tables.
    pub tables: BTreeSet<String>,
    /// Components that stages ask for.
    pub components: BTreeSet<String>,
}

impl Names {
    /// A light look at the files of a project: nothing is checked, and a file that cannot be read names nothing.
    pub fn of(project: &Path) -> Self {
        let texts = files::read(project).unwrap_or_default();
        let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap_or_default();
        let name = |contract: &Value| contract["name"].as_str().map(ToOwned::to_owned);
        let tables: Vec<Value> = texts.tables.iter().map(|text| parsed(&text.bytes)).collect();
        Self {
            ingestions: texts.ingestion.iter().filter_map(|text| name(&parsed(&text.bytes))).collect(),
            tables: tables.iter().filter_map(name).collect(),
            components: tables.iter().flat_map(components).collect(),
        }
    }
}

/// Components of a table's stages, without ranges of versions.
fn components(table: &Value) -> Vec<String> {
    const KINDS: [&str; 5] = ["decode", "transform", "validate", "rank", "aggregate"];
    let stages = table["stages"].as_array().into_iter().flatten();
    let named = stages.flat_map(|stage| KINDS.iter().filter_map(|kind| stage[*kind].as_str()));
    named.filter_map(|name| name.split('@').next()).map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_contract_hides_no_other() {
        let project = tempfile::TempDir::new().unwrap();
        let write = |file: &str, text: &str| {
            let path = project.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("ingestion/streaming/orders.json", r#"{ "name": "orders" }"#);
        write("tables/silver/broken.json", r#"{ "name": "#);
        write(
            "tables/silver/orders.json",
            r#"{ "name": "silver.orders", "stages": [ { "decode": "orders@^1" }, {} ] }"#,
        );
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        let expected =
            Names { ingestions: set(&["orders"]), tables: set(&["silver.orders"]), components: set(&["orders"]) };
        assert_eq!(Names::of(project.path()), expected);
        assert_eq!(Names::of(&project.path().join("nowhere")), Names::default());
    }
}
