//! Three rooms say which types may partition a table: they must say the same, or a start that `host check` takes for
//! good is refused when tables were made already.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_schema::{Field, Schema};
use crisol::{Engine, EngineError};
use crisol_table::{Table, TableSpec};
use tempfile::TempDir;

/// Every type that a contract may name.
const TYPES: [&str; 15] = [
    "string",
    "binary",
    "boolean",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "decimal(9,2)",
    "decimal(38,10)",
    "date",
    "timestamp",
    "array<int>",
    "map<string,int>",
];
const PARTITIONING: [&str; 9] =
    ["string", "boolean", "tinyint", "smallint", "int", "bigint", "decimal(9,2)", "decimal(38,10)", "date"];

fn may_partition(name: &str) -> bool {
    PARTITIONING.contains(&name) || name == "timestamp"
}

fn write(dir: &Path, file: &str, text: &str) {
    let path = dir.join(file);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
    std::fs::write(path, text).expect("a file can be written");
}

/// A project whose second table is partitioned by a column of this type; where the contract does not name the column,
/// only the chain of stages knows its type.
fn problems(type_name: &str, named: bool) -> Option<String> {
    let dir = TempDir::new().expect("a temporary folder");
    write(dir.path(), "crisol.toml", "[path]\ncheckpoint = \"c\"\ntables = \"t\"\n");
    write(
        dir.path(),
        "ingestion/lines.json",
        r#"{ "name": "lines", "source": { "format": "text", "path": "in" }, "destination_contract": "../tables/raw.json" }"#,
    );
    let column = format!(r#"{{ "name": "x", "type": "{type_name}", "generated": "NULL" }}"#);
    let of_file = r#"{ "name": "payload", "type": "string" }"#;
    let by = "\n  \"partition_by\": [\"x\"]";
    if named {
        let text = format!("{{ \"name\": \"raw\", \"columns\": [{of_file}, {column}],{by} }}");
        write(dir.path(), "tables/raw.json", &text);
    } else {
        write(dir.path(), "tables/raw.json", &format!("{{ \"name\": \"raw\", \"columns\": [{of_file}, {column}] }}"));
        write(dir.path(), "tables/next.json", &format!("{{ \"name\": \"next\", \"from\": \"raw\",{by} }}"));
    }
    match Engine::builder().project(dir.path()).build() {
        Ok(_) => None,
        Err(EngineError::Contracts(problems)) => Some(problems.to_string()),
        Err(other) => panic!("{type_name}: {other:?}"),
    }
}

async fn table_refuses(type_name: &str) -> bool {
    let dir = TempDir::new().expect("a temporary folder");
    let path = dir.path().join("t").to_string_lossy().into_owned();
    let data_type = crisol_ipc::types::parse(type_name).expect("a type");
    let fields = vec![Field::new("x", data_type, true), Field::new("y", arrow_schema::DataType::Utf8, true)];
    let spec = TableSpec {
        name: "t".into(),
        path: path.clone(),
        schema: Arc::new(Schema::new(fields)),
        partition_by: vec!["x".into()],
        write: crisol_table::WriteMode::Append,
        properties: BTreeMap::new(),
    };
    Table::open_or_create(&spec, &crisol_store::open(&path).expect("a folder")).await.is_err()
}

#[tokio::test]
async fn the_rooms_agree_which_types_partition() {
    let structs = ["struct<a:int>"];
    for name in TYPES.into_iter().chain(structs) {
        let data_type = crisol_ipc::types::parse(name).expect("a type");
        assert_eq!(crisol_contract::can_partition(&data_type), may_partition(name), "contract room, {name}");
        assert_eq!(!table_refuses(name).await, may_partition(name), "table room, {name}");
        for named in [true, false] {
            let found = problems(name, named);
            assert_eq!(found.is_none(), may_partition(name), "{name}, named {named}: {found:?}");
            for word in found.iter().flat_map(|text| [(text, "`partition_by[0]`"), (text, "2:20"), (text, name)]) {
                assert!(word.0.contains(word.1), "`{}` is missing: {}", word.1, word.0);
            }
        }
    }
}
