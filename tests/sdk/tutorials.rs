//! The first plugin in each language, command by command as it is written.

use crisol_tests::document::{run, script};

fn tutorial(document: &str, source: &str) {
    let script = script(document);
    assert!(script.contains("host new sales") && script.contains(&format!("cat > {source}")), "{script}");
    let (_folder, tables, said) = run(&script);
    for words in ["FAIL  what cannot be is refused", "1 of 2 samples hold", "2 of 2 samples hold", "price_below_zero"] {
        assert!(said.contains(words), "`{words}` is missing in:\n{said}");
    }
    assert_eq!(tables.count("silver/sales"), 1);
    assert_eq!(tables.count("silver/sales_quarantine"), 1);
}

#[test]
fn the_first_plugin_in_python_runs_as_it_is_written() {
    tutorial("docs/tutorial-python.md", "plugin.py");
}

#[test]
fn the_first_plugin_in_javascript_runs_as_it_is_written() {
    tutorial("docs/tutorial-javascript.md", "src/plugin.js");
}

#[test]
fn the_first_plugin_in_go_runs_as_it_is_written() {
    tutorial("docs/tutorial-go.md", "plugin.go");
}
