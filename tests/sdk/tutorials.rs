//! The first plugin in each language, command by command as it is written.

use crisol_tests::document::first_plugin;

#[test]
fn the_first_plugin_in_python_runs_as_it_is_written() {
    first_plugin("docs/tutorial-python.md", "plugin.py", "");
}

#[test]
fn the_first_plugin_in_javascript_runs_as_it_is_written() {
    first_plugin("docs/tutorial-javascript.md", "src/plugin.js", "");
}

#[test]
fn the_first_plugin_in_go_runs_as_it_is_written() {
    first_plugin("docs/tutorial-go.md", "plugin.go", "");
}
