//! Tables for people, and the same as JSON.

use crate::out::println;
use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::ArrowError;
use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{Cell, CellAlignment, Table};
use crisol::Summary;

use crate::watch::thousands;

/// Longest text of a cell, in characters.
const CELL_CHARS_MAX: usize = 60;

/// A table with these headings.
pub(crate) fn table(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY).set_header(headings.iter().map(|heading| Cell::new(heading)));
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

/// Rows for people: long texts are cut.
pub(crate) fn print_rows(rows: &[RecordBatch]) -> Result<(), ArrowError> {
    let Some(first) = rows.first() else {
        println!("no rows");
        return Ok(());
    };
    let schema = first.schema();
    let headings: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let mut shown = table(&headings);
    let options = FormatOptions::default().with_null("null");
    for batch in rows {
        let columns = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options))
            .collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            shown.add_row(columns.iter().map(|column| Cell::new(cut(&column.value(row).to_string()))));
        }
    }
    println!("{shown}");
    Ok(())
}

/// Rows as JSON, one object a line.
pub(crate) fn print_rows_json(rows: &[RecordBatch]) -> Result<(), ArrowError> {
    let mut writer = arrow_json::LineDelimitedWriter::new(Vec::new());
    for batch in rows {
        writer.write(batch)?;
    }
    writer.finish()?;
    print_bytes(&writer.into_inner());
    Ok(())
}

fn print_bytes(bytes: &[u8]) {
    crate::out::write(format_args!("{}", String::from_utf8_lossy(bytes)));
}

fn number(number: u64) -> Cell {
    Cell::new(thousands(number)).set_alignment(CellAlignment::Right)
}

fn cut(text: &str) -> String {
    let text = plain(text);
    if text.chars().count() <= CELL_CHARS_MAX {
        return text;
    }
    text.chars().take(CELL_CHARS_MAX - 1).chain(['…']).collect()
}

/// Without control characters: what a row holds must not steer a terminal.
pub(crate) fn plain(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_are_shown_and_not_obeyed() {
        assert_eq!(plain("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
    }

    #[test]
    fn long_cells_are_cut() {
        assert_eq!(cut(&"x".repeat(100)).chars().count(), CELL_CHARS_MAX);
        assert_eq!(cut("short"), "short");
    }
}
