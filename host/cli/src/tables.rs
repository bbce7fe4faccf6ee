//! Tables for people, and the same as JSON.

use crate::out::println;
use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use crisol::Summary;

use crate::watch::thousands;

/// A table with these headings, as wide as the terminal at most.
pub(crate) fn table(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(headings.iter().map(Cell::new));
    table
}

/// What became of every row, a line a stream, and the reasons below.
pub(crate) fn print_accounts(summaries: &[Summary]) {
    let mut accounts =
        table(&["stream", "table", "batches", "rows in", "accepted", "written", "rejected", "filtered", "state"]);
    for summary in summaries {
        let rows = &summary.accounts;
        let mut cells = vec![Cell::new(&summary.stream), Cell::new(&summary.table), number(summary.batches)];
        let counts = [rows.rows_in, rows.rows_accepted, rows.rows_written, rows.rows_rejected(), rows.rows_filtered()];
        cells.extend(counts.map(number));
        cells.push(Cell::new(if summary.error.is_some() { "FAIL" } else { "ok" }));
        accounts.add_row(cells);
    }
    println!("{accounts}");
    for summary in summaries {
        for (code, rows) in &summary.accounts.rejected {
            println!("{}: {} rejected: {}", summary.stream, thousands(*rows), plain(code));
        }
        for (code, rows) in &summary.accounts.filtered {
            println!("{}: {} filtered: {}", summary.stream, thousands(*rows), plain(code));
        }
        for (rule, count) in &summary.accounts.expectations {
            let (passed, failed) = (thousands(count.passed), thousands(count.failed));
            println!("{}: rule {}: {passed} passed, {failed} failed", summary.stream, plain(rule));
        }
        print_changes(summary);
    }
}

/// What an upsert, or the groups that were computed again, came to.
fn print_changes(summary: &Summary) {
    let stream = &summary.stream;
    if let Some(changes) = &summary.accounts.changes {
        let [inserted, updated, superseded, deleted] =
            [changes.inserted, changes.updated, changes.superseded, changes.deleted].map(thousands);
        println!("{stream}: {inserted} inserted, {updated} updated, {superseded} superseded, {deleted} deleted");
    }
    if let Some(groups) = &summary.accounts.groups {
        let [touched, rows, not_ranked, empty] =
            [groups.touched, groups.rows_in, groups.not_ranked, groups.empty].map(thousands);
        println!("{stream}: {touched} groups of {rows} rows; {not_ranked} rows not ranked, {empty} groups empty");
    }
}

/// The accounts as one JSON object.
pub(crate) fn print_accounts_json(summaries: &[Summary]) {
    let streams: Vec<_> = summaries
        .iter()
        .map(|summary| {
            serde_json::json!({
                "stream": summary.stream,
                "table": summary.table,
                "batches": summary.batches,
                "accounts": summary.accounts,
                "error": summary.error.as_ref().map(crisol::error_json),
            })
        })
        .collect();
    println!("{}", serde_json::json!({ "schema": "crisol.accounts/v1", "streams": streams }));
}

/// A count, to the right.
pub(crate) fn number(number: u64) -> Cell {
    Cell::new(thousands(number)).set_alignment(CellAlignment::Right)
}

/// Without control characters and marks that turn text round: what a row holds must not steer a terminal.
pub(crate) fn plain(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() || turns(c) { c.escape_default().collect() } else { vec![c] }).collect()
}

/// Embeddings, overrides and isolates of the direction of text.
fn turns(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_are_shown_and_not_obeyed() {
        assert_eq!(plain("a\u{1b}[31mb\n\u{202e}"), "a\\u{1b}[31mb\\n\\u{202e}");
    }
}
