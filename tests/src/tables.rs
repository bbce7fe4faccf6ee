//! Tables read back by others: the log replayed in Python, the files read by DuckDB.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The tables of a project.
#[derive(Debug)]
pub struct Tables {
    root: PathBuf,
}

const QUERY: &str = "
import json, sys, delta_log
table = delta_log.Table(sys.argv[1])
print(json.dumps(table.query(sys.argv[2]), default=str))
";

const QUERIES: &str = "
import json, sys, delta_log
queries = json.loads(sys.argv[1])
rows = [delta_log.Table(table).query(sql) if delta_log.exists(table) else [] for table, sql in queries]
print(json.dumps(rows, default=str))
";

const COMMITS: &str = "
import json, sys, delta_log
table = delta_log.Table(sys.argv[1])
print(json.dumps({'versions': table.versions, 'transactions': table.transactions, 'commits': table.commits}, default=str))
";

impl Tables {
    /// Tables below this folder.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Where a table lies, `silver/orders`.
    pub fn path(&self, table: &str) -> PathBuf {
        self.root.join(table)
    }

    /// Whether a table exists: whether its log has a version.
    pub fn exists(&self, table: &str) -> bool {
        let entries = std::fs::read_dir(self.path(table).join("_delta_log")).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.path().extension().is_some_and(|extension| extension == "json"))
    }

    /// Rows of `sql` over the relation `rows`, which is the table; checks the log on the way.
    pub fn query(&self, table: &str, sql: &str) -> Vec<Vec<Value>> {
        let text = python(&["-c", QUERY, &self.path(table).to_string_lossy(), sql]);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Rows of several queries, each a table and its `sql`, none of a table that does not exist; cheaper than one by one.
    pub fn queries(&self, queries: &[(&str, &str)]) -> Vec<Vec<Vec<Value>>> {
        let queries: Vec<_> = queries.iter().map(|(table, sql)| (self.path(table), sql)).collect();
        let text = python(&["-c", QUERIES, &serde_json::to_string(&queries).expect("paths are text")]);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The only value of a query.
    pub fn value(&self, table: &str, sql: &str) -> Value {
        let rows = self.query(table, sql);
        rows.first().and_then(|row| row.first()).cloned().unwrap_or(Value::Null)
    }

    /// Number of rows; 0 when the table does not exist.
    pub fn count(&self, table: &str) -> u64 {
        if !self.exists(table) {
            return 0;
        }
        self.value(table, "SELECT count(*) FROM rows").as_u64().unwrap_or(0)
    }

    /// `versions`, `transactions` as `[application, version]`, and `commits` as the `commitInfo` of each.
    pub fn log(&self, table: &str) -> Value {
        let text = python(&["-c", COMMITS, &self.path(table).to_string_lossy()]);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Compares the tables of an example with a computation in plain Python from its input.
    pub fn as_expected(&self, example: &str, input: &Path) {
        let script = crate::root().join("tests/data/expected.py");
        let said =
            python(&[&script.to_string_lossy(), example, &input.to_string_lossy(), &self.root.to_string_lossy()]);
        assert!(said.contains("ok: every row is where it must be, once"), "{said}");
    }
}

/// Runs Python with the readers; gives its output.
fn python(arguments: &[&str]) -> String {
    let mut command = Command::new(crate::given("CRISOL_TEST_PYTHON"));
    command.args(arguments).env("PYTHONPATH", crate::root().join("tests/data"));
    let output = command.output().expect("Python can be started");
    assert!(output.status.success(), "{}", crate::host::both(&output));
    String::from_utf8(output.stdout).expect("text")
}
