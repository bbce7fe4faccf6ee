//! Partitions made anew: each delivery of the table above replaces the partitions that it brings, so the last one stands.

use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch, UInt32Array};
use arrow_select::filter::filter_record_batch;
use arrow_select::take::take_record_batch;
use crisol_checkpoint::Range;
use crisol_observe::Accounts;
use crisol_source::{CHUNK_ROWS_MAX, Source};
use crisol_stage::TouchedGroups;
use futures::TryStreamExt;

use crate::flow::failed_stage;
use crate::renew::{Above, Sink, input_rows, internal, tally};
use crate::slices::{Meant, Slicing, defect};
use crate::{Failure, Slices};

impl Slicing<'_> {
    /// The deliveries are read backwards: a partition that a later one brought is done.
    pub(crate) async fn renew_partitions(
        &self,
        meant: Meant,
        above: &Above<'_>,
        source: &mut dyn Source,
        sink: &mut Sink<'_>,
    ) -> Result<Accounts, Failure> {
        let Above::Before(range) = above else { return Err(internal("partitions follow no rebuild")) };
        let Meant { named: Some(old), condition: Some(condition), .. } = meant else {
            return Err(internal("partitions were not named"));
        };
        let (origins, old) = (self.origins(), Arc::new(old));
        let leaving = self.leaving(&old, self.no_origins()?).await?;
        let wanted = origins.are_kept_by(&self.table.schema()).then_some(&leaving);
        let (mut done, mut named, mut accounts) = (self.partitions()?, self.no_origins()?, Accounts::default());
        for delivery in deliveries(source, range).await?.iter().rev() {
            let mut brought = self.partitions()?;
            let mut outputs = self.outputs(source.read(delivery).await?);
            while let Some((rows, output)) = outputs.try_next().await? {
                let holds = condition.holds(&output.accepted, &self.context).map_err(failed_stage)?;
                let from = take_record_batch(&rows, &UInt32Array::from(input_rows(&output, &holds))).map_err(defect)?;
                named.add(&origins.of(&from).map_err(defect)?).map_err(defect)?;
                let refused = self.refused(&output, wanted)?;
                let accepted = self.still_open(&output.accepted, &holds, &done)?;
                brought.add(&accepted).map_err(defect)?;
                tally(&mut accounts, from.num_rows(), accepted.num_rows(), &refused);
                named.add(&origins.of_refused(&refused).map_err(defect)?).map_err(defect)?;
                sink.rows(accepted).await?;
                sink.refuse(refused).await?;
            }
            for partitions in brought.named(CHUNK_ROWS_MAX).map_err(defect)? {
                done.add(&partitions).map_err(defect)?;
            }
        }
        sink.name(&old).await?;
        sink.name(&done).await?;
        sink.name_refused(&named).await?;
        Ok(accounts)
    }

    fn partitions(&self) -> Result<TouchedGroups, Failure> {
        let Slices::Partitions { by, .. } = self.slices else { return Err(internal("a table without partitions")) };
        TouchedGroups::by(by, &self.table.incoming()).map_err(defect)
    }

    fn still_open(
        &self,
        accepted: &RecordBatch,
        meant: &BooleanArray,
        done: &TouchedGroups,
    ) -> Result<RecordBatch, Failure> {
        let done = done.holds(accepted).map_err(defect)?;
        let open: BooleanArray =
            meant.iter().zip(&done).map(|(meant, done)| Some(meant == Some(true) && done != Some(true))).collect();
        filter_record_batch(accepted, &open).map_err(defect)
    }
}

/// The batches of the stream, planned once more: each ends behind a version that holds rows.
async fn deliveries(source: &mut dyn Source, range: &Range) -> Result<Vec<Range>, Failure> {
    let mut deliveries = Vec::new();
    let mut start = range.start.clone();
    while start != range.end {
        let planned = source.plan(&start).await?;
        let end = planned.ok_or_else(|| internal("the table above ends before the stream does"))?.end;
        deliveries.push(Range { start, end: end.clone() });
        start = end;
    }
    Ok(deliveries)
}
