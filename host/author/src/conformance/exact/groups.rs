//! Rankers and aggregators over groups of all texts and decimals.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, Decimal128Array, Int32Array, Int64Array, RecordBatch, StringArray};
use crisol_plugin::{CallError, GroupStage};
use serde_json::{Value, json};

use super::{NOW_US, options, table, told};
use crate::Kind;
use crate::conformance::Suite;
use crate::conformance::given::limits;
use crate::conformance::groups::{Answered, Grouped, apart, equal, pieces, whole};

impl Suite {
    pub(super) fn ranked_or_added(&mut self) {
        let sets: &[Value] = match self.component.kind() {
            Kind::Aggregator => &[json!({}), json!({ "skip_single": true }), json!({ "skip_single": false })],
            _ => &[json!({})],
        };
        for written in sets {
            let component = self.component.clone();
            self.holds(&format!("exact: groups of all sizes, options {written}"), || {
                let skip_single = written.get("skip_single") == Some(&json!(true));
                let stage = component.group_stage(&options(written.clone()), &table::all(), &limits()).map_err(told)?;
                for (name, grouped) in decks(&stage)? {
                    let expected = expected(component.kind(), &grouped, skip_single)?;
                    tried(&stage, &grouped, &expected).map_err(|what| format!("{name}{what}"))?;
                }
                Ok(())
            });
        }
    }
}

fn decks(stage: &GroupStage) -> Result<Vec<(&'static str, Grouped)>, String> {
    let schema = table::all();
    let reads: Result<Vec<usize>, _> = stage.reads().iter().map(|name| schema.index_of(name)).collect();
    let seen = Arc::new(schema.project(&reads.map_err(told)?).map_err(told)?);
    let mut decks = Vec::new();
    for (name, rows) in table::messages(&seen).map_err(told)? {
        if name == "16,384 rows" {
            decks.push(("one group of 16,384 rows", Grouped::of(rows.clone(), 16_384)));
        }
        decks.push((name, Grouped::of(rows, 7)));
    }
    Ok(decks)
}

/// In one message, in pieces, each group alone, and twice in an instance that is kept.
fn tried(stage: &GroupStage, grouped: &Grouped, expected: &Answered) -> Result<(), String> {
    let check = |how: &str, answered: Result<Answered, CallError>| {
        let answered = answered.map_err(|error| format!("{how}: {error}"))?;
        equal(expected, &answered).map_err(|what| format!("{how}: {what}"))
    };
    check("", whole(stage, stage.fresh_session(NOW_US), grouped))?;
    check(", in pieces", pieces(stage, stage.fresh_session(NOW_US), grouped))?;
    if grouped.rows.num_rows() < 100 {
        check(", each group in a session of its own", apart(stage, NOW_US, grouped))?;
    }
    check(", in an instance that is kept", whole(stage, stage.session(NOW_US), grouped))?;
    check(", in an instance that was kept", whole(stage, stage.session(NOW_US + 1), grouped))
}

fn expected(kind: Kind, grouped: &Grouped, skip_single: bool) -> Result<Answered, String> {
    let columns = |name: &str| {
        let column = grouped.rows.column_by_name(name);
        column.cloned().ok_or_else(|| format!("it does not read `{name}`"))
    };
    let texts = columns("s")?;
    let texts: &StringArray = texts.as_string();
    match kind {
        Kind::Aggregator => added(grouped, columns("d18")?.as_primitive::<Decimal128Type>(), texts, skip_single),
        _ => ranked(grouped, texts),
    }
}

/// Where each group begins, how many rows it has, and its number.
fn groups(grouped: &Grouped) -> impl Iterator<Item = (usize, usize, i32)> {
    grouped.groups.chunk_by(|one, other| one == other).scan(0, |next, rows| {
        let first = *next;
        *next += rows.len();
        Some((first, rows.len(), rows[0]))
    })
}

fn said(texts: &StringArray, row: usize) -> Option<&str> {
    texts.is_valid(row).then(|| texts.value(row))
}

fn ranked(grouped: &Grouped, texts: &StringArray) -> Result<Answered, String> {
    let odd = |(first, length, _)| (first..first + length).step_by(2).zip(1..);
    let (rows, places): (Vec<usize>, Vec<i32>) = groups(grouped).flat_map(odd).unzip();
    let said: StringArray = rows.iter().map(|row| said(texts, *row)).collect();
    let columns: [(&str, ArrayRef); 2] = [("place", Arc::new(Int32Array::from(places))), ("said", Arc::new(said))];
    let index = rows.into_iter().map(|row| row as u32).collect();
    Ok(Answered { rows: RecordBatch::try_from_iter(columns).map_err(told)?, index })
}

fn added(
    grouped: &Grouped,
    numbers: &Decimal128Array,
    texts: &StringArray,
    skip_single: bool,
) -> Result<Answered, String> {
    let (mut index, mut counts, mut totals, mut longest) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (first, length, group) in groups(grouped).filter(|(_, length, _)| !skip_single || *length > 1) {
        let rows = || first..first + length;
        let all = || rows().filter(|row| numbers.is_valid(*row));
        index.push(group as u32);
        counts.push(length as i64);
        totals.push((all().count() > 0).then(|| all().map(|row| numbers.value(row)).sum::<i128>()));
        // Of the longest the first.
        longest.push(rows().rev().filter_map(|row| said(texts, row)).max_by_key(|text| text.len()));
    }
    let totals = Decimal128Array::from(totals).with_precision_and_scale(38, 4).map_err(told)?;
    let columns: [(&str, ArrayRef); 3] = [
        ("rows", Arc::new(Int64Array::from(counts))),
        ("total", Arc::new(totals)),
        ("longest", Arc::new(StringArray::from(longest))),
    ];
    Ok(Answered { rows: RecordBatch::try_from_iter(columns).map_err(told)?, index })
}
