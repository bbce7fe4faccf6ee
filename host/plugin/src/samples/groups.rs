//! Samples of rankers and aggregators.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Int32Array, RecordBatch};
use arrow_schema::ArrowError;
use crisol_ipc::{GROUP, with_index};
use serde_json::Value;

use super::compare::{Out, Outcome};
use super::input::{batch, wrong};
use super::{Sample, SampleFault};
use crate::text::printable;
use crate::{CallError, Component, GroupAnswer, GroupStage, Kind, Limits};

/// Given rows, group by group.
struct Groups {
    /// Numbers of the given rows, in the order in which they are pushed.
    order: Vec<usize>,
    /// The group of each.
    of: Vec<i32>,
}

/// Runs a sample in one session.
pub(super) fn run(sample: &Sample, component: &Arc<Component>, limits: &Limits) -> Result<Outcome, SampleFault> {
    let kind = component.kind();
    if !sample.expect.rejected.is_empty() || !sample.expect.filtered.is_empty() {
        return Err(wrong(format!("{kind}s reject no rows; `expect` has `rows` alone")));
    }
    let groups = grouped(sample)?;
    let given = batch(sample, &groups.order)?;
    let stage = component.group_stage(&sample.options, given.schema_ref(), limits).map_err(SampleFault::Refused)?;
    let seen = pushed(&stage, &given, &groups).map_err(|error| wrong(error.to_string()))?;
    let answers = answers(&stage, &seen, sample.timestamp_us).map_err(SampleFault::Failed)?;
    let outs = outs(kind, &answers, &groups);
    let written: Vec<RecordBatch> = answers.into_iter().map(|answer| answer.rows).collect();
    // The table of an aggregator has its groups and what it gives.
    let given = if kind == Kind::Aggregator { keys(sample, &given)? } else { given };
    Ok(Outcome { written, given, rows: outs, rejected: Vec::new() })
}

/// Groups are numbered as they come up; the rows of each keep their order.
fn grouped(sample: &Sample) -> Result<Groups, SampleFault> {
    let known = |name: &&String| {
        let named = sample.input.iter().any(|(column, _)| column == *name);
        named || sample.given.iter().any(|row| row.contains_key(*name))
    };
    if let Some(unknown) = sample.group_by.iter().find(|name| !known(name)) {
        return Err(wrong(format!("`group_by` has `{}`, and no given row has such a column", printable(unknown, 200))));
    }
    let (mut groups, mut numbers): (Vec<Vec<usize>>, _) = (Vec::new(), HashMap::new());
    for (row, cells) in sample.given.iter().enumerate() {
        let key: Value = sample.group_by.iter().map(|name| cells.get(name).cloned().unwrap_or_default()).collect();
        let group = *numbers.entry(key.to_string()).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(row);
    }
    let of = (0..).zip(&groups).flat_map(|(group, rows)| std::iter::repeat_n(group, rows.len())).collect();
    Ok(Groups { order: groups.into_iter().flatten().collect(), of })
}

/// What the component is given: the columns that it reads, and `_group`.
fn pushed(stage: &GroupStage, given: &RecordBatch, groups: &Groups) -> Result<RecordBatch, ArrowError> {
    let reads: Vec<usize> =
        stage.reads().iter().map(|name| given.schema_ref().index_of(name)).collect::<Result<_, _>>()?;
    let seen = given.project(&reads)?;
    let mut columns = seen.columns().to_vec();
    columns.push(Arc::new(Int32Array::from(groups.of.clone())));
    RecordBatch::try_new(with_index(seen.schema_ref(), GROUP), columns)
}

fn answers(stage: &GroupStage, rows: &RecordBatch, timestamp_us: i64) -> Result<Vec<GroupAnswer>, CallError> {
    let mut session = stage.session(timestamp_us)?;
    let mut answers = session.push(rows)?;
    answers.extend(session.finish()?);
    Ok(answers)
}

/// Group by group, each in the order of its answer.
fn outs(kind: Kind, answers: &[GroupAnswer], groups: &Groups) -> Vec<Out> {
    let all = answers.iter().enumerate().flat_map(|(batch, answer)| {
        answer.index.iter().enumerate().map(move |(row, index)| (batch, row, *index as usize))
    });
    let out = |(batch, row, index): (usize, usize, usize)| {
        let given = match kind {
            Kind::Aggregator => groups.of.partition_point(|group| (*group as usize) < index),
            _ => index,
        };
        Some(Out { batch, row, given, number: *groups.order.get(given)? })
    };
    let mut outs: Vec<Out> = all.filter_map(out).collect();
    outs.sort_by_key(|out| groups.of.get(out.given).copied());
    outs
}

fn keys(sample: &Sample, given: &RecordBatch) -> Result<RecordBatch, SampleFault> {
    let keys: Result<Vec<usize>, _> = sample.group_by.iter().map(|name| given.schema_ref().index_of(name)).collect();
    keys.and_then(|keys| given.project(&keys)).map_err(|error| wrong(error.to_string()))
}
