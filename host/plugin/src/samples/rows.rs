//! Samples of decoders, transformers and validators.

use std::sync::Arc;

use super::compare::{Out, Outcome};
use super::input::{batch, wrong};
use super::{Sample, SampleFault};
use crate::{Component, Kind, Limits, RowOutput};

/// Runs a sample in one call.
pub(super) fn run(sample: &Sample, component: &Arc<Component>, limits: &Limits) -> Result<Outcome, SampleFault> {
    check(sample, component.kind())?;
    let all: Vec<usize> = (0..sample.given.len()).collect();
    let given = batch(sample, &all)?;
    let stage = component.row_stage(&sample.options, given.schema_ref(), limits).map_err(SampleFault::Refused)?;
    let reads: Result<Vec<usize>, _> = stage.reads().iter().map(|name| given.schema_ref().index_of(name)).collect();
    let seen = reads.and_then(|reads| given.project(&reads)).map_err(|error| wrong(error.to_string()))?;
    let RowOutput { rows: written, origin, rejected } =
        stage.call(&seen, sample.timestamp_us).map_err(SampleFault::Failed)?;
    let out = |(row, origin): (usize, &u32)| Out { batch: 0, row, given: *origin as usize, number: *origin as usize };
    let rows = origin.iter().enumerate().map(out).collect();
    Ok(Outcome { written: written.into_iter().collect(), given, rows, rejected })
}

fn check(sample: &Sample, kind: Kind) -> Result<(), SampleFault> {
    if !sample.group_by.is_empty() {
        return Err(wrong(format!("`group_by` is not for a {kind}, which sees single rows")));
    }
    if kind == Kind::Validator && sample.expect.rows.is_some() {
        return Err(wrong("`expect.rows` is not for a validator: rows that are not rejected pass as they are".into()));
    }
    Ok(())
}
