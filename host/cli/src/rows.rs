//! Rows of a table: for people as far as their terminal has room, for programs whole.

use std::collections::BTreeSet;

use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::ArrowError;
use comfy_table::Cell;

use crate::out::println;
use crate::readable::readable;
use crate::tables::{plain, table};

/// Longest text of a cell, in characters.
const CELL_CHARS_MAX: usize = 60;

/// What a wide column keeps on a narrow terminal; below that, the last columns are left out.
const CELL_CHARS_MIN: usize = 20;

/// What people look for in a quarantine, in this order; the other columns follow.
const QUARANTINE_FIRST: [&str; 10] =
    ["code", "text", "topic", "partition", "offset", "file_path", "file_row", "payload", "input", "stage"];

/// Rows for people: long texts are cut.
pub(crate) fn print_rows(rows: &[RecordBatch]) -> Result<(), ArrowError> {
    let Some(first) = rows.first() else {
        println!("no rows");
        return Ok(());
    };
    let schema = first.schema();
    let headings: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let cells = cells(rows)?;
    let natural = natural_widths(&headings, &cells);
    let widths = match table(&[]).width() {
        Some(width) => fit(&natural, usize::from(width)),
        None => natural,
    };
    let mut shown = table(headings.get(..widths.len()).unwrap_or_default());
    for row in &cells {
        shown.add_row(row.iter().zip(&widths).map(|(cell, width)| Cell::new(cut(cell, *width))));
    }
    println!("{shown}");
    let left_out = headings.get(widths.len()..).unwrap_or_default();
    if !left_out.is_empty() {
        println!("no room for: {}; `-o json` shows all", left_out.join(", "));
    }
    Ok(())
}

/// Rows as JSON, one object a line.
pub(crate) fn print_rows_json(rows: &[RecordBatch]) -> Result<(), ArrowError> {
    let mut writer = arrow_json::LineDelimitedWriter::new(Vec::new());
    for batch in rows {
        writer.write(&readable(batch)?)?;
    }
    writer.finish()?;
    crate::out::write(format_args!("{}", String::from_utf8_lossy(&writer.into_inner())));
    Ok(())
}

/// Rows of a quarantine with what people look for first, and without the columns that none of them has.
pub(crate) fn quarantine_for_people(rows: &[RecordBatch]) -> Result<Vec<RecordBatch>, ArrowError> {
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    let schema = first.schema();
    let used: BTreeSet<usize> = (0..schema.fields().len())
        .filter(|at| rows.iter().any(|batch| batch.column(*at).null_count() < batch.num_rows()))
        .collect();
    let mut order: Vec<usize> = QUARANTINE_FIRST.iter().filter_map(|name| schema.index_of(name).ok()).collect();
    order
        .extend((0..schema.fields().len()).filter(|at| !QUARANTINE_FIRST.contains(&schema.field(*at).name().as_str())));
    order.retain(|at| used.contains(at));
    rows.iter().map(|batch| batch.project(&order)).collect()
}

fn cells(rows: &[RecordBatch]) -> Result<Vec<Vec<String>>, ArrowError> {
    let options = FormatOptions::default().with_null("null");
    let mut cells = Vec::new();
    for batch in rows {
        let batch = readable(batch)?;
        let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let row = |row| columns.iter().map(|column| plain(&column.value(row).to_string())).collect();
        cells.extend((0..batch.num_rows()).map(row));
    }
    Ok(cells)
}

fn natural_widths(headings: &[&str], cells: &[Vec<String>]) -> Vec<usize> {
    let length = |text: &str| text.chars().count().min(CELL_CHARS_MAX);
    let widest = |at: usize| cells.iter().filter_map(|row| row.get(at)).map(|cell| length(cell)).max().unwrap_or(0);
    headings.iter().enumerate().map(|(at, heading)| widest(at).max(heading.chars().count())).collect()
}

/// Widths with which a row fits: the widest columns give way first, and when none can, the last column goes.
fn fit(natural: &[usize], room: usize) -> Vec<usize> {
    let mut widths = natural.to_vec();
    while line(&widths) > room {
        let shown = widths.len();
        match widths.iter_mut().filter(|width| **width > CELL_CHARS_MIN).max() {
            Some(widest) => *widest -= 1,
            None if shown > 1 => widths = natural.get(..shown - 1).unwrap_or_default().to_vec(),
            None => break,
        }
    }
    widths
}

/// How wide a table is: two borders, and around each cell a space and between two cells one more.
fn line(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + 3 * widths.len() + 1
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.into();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, Int64Array, StringArray};
    use std::sync::Arc;

    #[test]
    fn long_cells_are_cut() {
        assert_eq!(cut(&"x".repeat(100), CELL_CHARS_MAX).chars().count(), CELL_CHARS_MAX);
        assert_eq!(cut("short", CELL_CHARS_MAX), "short");
    }

    #[test]
    fn wide_columns_give_way_first_and_then_the_last_ones_go() {
        assert_eq!(fit(&[5, 60, 8], 200), [5, 60, 8]);
        assert_eq!(fit(&[5, 60, 8], 80), [5, 57, 8]);
        assert_eq!(fit(&[5, 60, 60], 60), [5, 23, 22]);
        assert_eq!(fit(&[30, 30, 30, 30], 60), [27, 26]);
        assert_eq!(fit(&[100], 20), [20]);
        assert_eq!(fit(&[5, 5], 4), [5]);
    }

    #[test]
    fn a_quarantine_shows_the_reason_first_and_no_empty_columns() {
        let texts = |values: &[Option<&str>]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
        let rows = RecordBatch::try_from_iter([
            ("stream", texts(&[Some("s"), Some("s")])),
            ("code", texts(&[Some("bad"), Some("bad")])),
            ("topic", texts(&[None, None])),
            ("offset", Arc::new(Int64Array::from(vec![None, Some(7)]))),
        ])
        .unwrap();
        let shown = quarantine_for_people(&[rows]).unwrap();
        let schema = shown[0].schema();
        let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, ["code", "offset", "stream"]);
    }
}
