//! The rows of a slice, made anew: what the table and its quarantine get instead of what they hold.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, UInt32Array};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use arrow_select::take::take_record_batch;
use crisol_checkpoint::{Position, Range};
use crisol_observe::Accounts;
use crisol_source::{CHUNK_ROWS_MAX, Chunks, Source, SourceError};
use crisol_stage::{ChunkOutput, Origins, TouchedGroups, quarantine_schema};
use crisol_table::TableWriter;
use futures::{StreamExt, TryStreamExt};

use crate::flow::{Message, count};
use crate::regroup::Regrouping;
use crate::slices::{Meant, Slicing, defect, fold_held, input_of, rebuilt};
use crate::writing::Writing;
use crate::{Failure, OpenTable, Slices};

/// Where the rows of a slice are read.
pub(crate) enum Above<'a> {
    /// All that the stream has read, from its first position.
    Before(&'a Range),
    /// What a rebuild of the table above brought.
    Rebuilt(&'a Range),
}

impl Above<'_> {
    fn end(&self) -> &Position {
        match self {
            Self::Before(range) | Self::Rebuilt(range) => &range.end,
        }
    }
}

/// Takes the rows of a slice to the writers of the table and of its quarantine.
pub(crate) struct Sink<'a> {
    writing: &'a Writing,
    /// Columns of the table's incoming rows. `None`, here and below: a dry run, in which nothing is written.
    table: Option<SchemaRef>,
    quarantine: Option<&'a OpenTable>,
    /// Columns of the quarantine's incoming rows, once its writer is open.
    refused: Option<SchemaRef>,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(writing: &'a Writing, table: SchemaRef, quarantine: &'a OpenTable) -> Self {
        Self { writing, table: Some(table), quarantine: Some(quarantine), refused: None }
    }

    /// One that lets all rows go.
    pub(crate) fn nowhere(writing: &'a Writing) -> Self {
        Self { writing, table: None, quarantine: None, refused: None }
    }

    pub(crate) async fn rows(&self, rows: RecordBatch) -> Result<(), Failure> {
        if let Some(incoming) = &self.table {
            self.writing.send(Message::Rows(arriving(rows, incoming)?)).await;
        }
        Ok(())
    }

    /// What the table holds of these is to go.
    pub(crate) async fn name(&self, names: &TouchedGroups) -> Result<(), Failure> {
        let Some(incoming) = &self.table else { return Ok(()) };
        for named in names.named_in(incoming, CHUNK_ROWS_MAX).map_err(defect)? {
            self.writing.send(Message::Rows(named)).await;
        }
        Ok(())
    }

    /// Rows for the quarantine, which must be named as well.
    pub(crate) async fn refuse(&mut self, rows: RecordBatch) -> Result<(), Failure> {
        if rows.num_rows() == 0 {
            return Ok(());
        }
        let Some(quarantine) = self.quarantine else { return Ok(()) };
        let incoming = match &self.refused {
            Some(incoming) => incoming.clone(),
            None => self.open(quarantine.get().await?.as_ref()).await?,
        };
        self.writing.send(Message::Quarantined(arriving(rows, &incoming)?)).await;
        Ok(())
    }

    /// What the quarantine holds of these is to go.
    pub(crate) async fn name_refused(&mut self, origins: &TouchedGroups) -> Result<(), Failure> {
        let Some(quarantine) = self.quarantine.filter(|_| !origins.is_empty()) else { return Ok(()) };
        let incoming = match &self.refused {
            Some(incoming) => incoming.clone(),
            None => match quarantine.existing().await? {
                Some(quarantine) => self.open(quarantine.as_ref()).await?,
                None => return Ok(()),
            },
        };
        for named in origins.named_in(&incoming, CHUNK_ROWS_MAX).map_err(defect)? {
            self.writing.send(Message::Quarantined(named)).await;
        }
        Ok(())
    }

    async fn open(&mut self, quarantine: &dyn TableWriter) -> Result<SchemaRef, Failure> {
        self.writing.send(Message::QuarantineWriter(quarantine.writer()?)).await;
        let incoming = quarantine.incoming();
        self.refused = Some(incoming.clone());
        Ok(incoming)
    }
}

impl Slicing<'_> {
    /// Makes the rows anew; gives what became of them.
    pub(crate) async fn renew(
        &self,
        meant: Meant,
        above: Above<'_>,
        source: &mut dyn Source,
        sink: &mut Sink<'_>,
    ) -> Result<Accounts, Failure> {
        match self.slices {
            Slices::Rows => self.renew_rows(meant, above, source, sink).await,
            Slices::Keys(_) => self.renew_keys(meant, &above, source, sink).await,
            Slices::Groups(_) => self.renew_groups(meant, above, source, sink).await,
            Slices::Partitions { .. } => self.renew_partitions(meant, &above, source, sink).await,
            Slices::None { why, hint } => Err(Failure::NotRenewed { why: why.clone(), hint: hint.clone() }),
        }
    }

    /// Rows that came from the same place are replaced together.
    async fn renew_rows(
        &self,
        meant: Meant,
        above: Above<'_>,
        source: &mut dyn Source,
        sink: &mut Sink<'_>,
    ) -> Result<Accounts, Failure> {
        let (origins, meant) = (self.origins(), Arc::new(meant.origins));
        let chunks = self.chunks(&above, source).await?;
        let wanted = Arc::clone(&meant);
        let chunks = chunks.map(move |rows| {
            let rows = rows?;
            let told = origins.of(&rows).and_then(|told| wanted.holds(&told));
            let kept = told.and_then(|holds| filter_record_batch(&rows, &holds));
            kept.map_err(|error| SourceError::Data { what: error.to_string(), hint: None })
        });
        let mut accounts = Accounts::default();
        let mut outputs = self.outputs(chunks.boxed());
        while let Some((rows, output)) = outputs.try_next().await? {
            count(&mut accounts, rows.num_rows() as u64, &output);
            sink.rows(output.accepted).await?;
            if let Some(refused) = output.quarantined {
                sink.refuse(refused).await?;
            }
        }
        sink.name(&meant).await?;
        sink.name_refused(&meant).await?;
        Ok(accounts)
    }

    /// Of each key all rows above are given; the table finds out which is the newest.
    async fn renew_keys(
        &self,
        meant: Meant,
        above: &Above<'_>,
        source: &mut dyn Source,
        sink: &mut Sink<'_>,
    ) -> Result<Accounts, Failure> {
        let origins = self.origins();
        let Meant { origins: touched, named, .. } = meant;
        let keys = Arc::new(named.ok_or_else(|| internal("keys were not named"))?);
        let leaving = self.leaving(&keys, touched).await?;
        // Without provenance no row of the table says which row of those that are refused it was.
        let wanted = origins.are_kept_by(&self.table.schema()).then_some(&leaving);
        let mut named = self.no_origins()?;
        let mut accounts = Accounts::default();
        let mut outputs = self.outputs(source.read_before(above.end()).await?);
        while let Some((rows, output)) = outputs.try_next().await? {
            let holds = keys.holds(&output.accepted).map_err(defect)?;
            let from = take_record_batch(&rows, &UInt32Array::from(input_rows(&output, &holds))).map_err(defect)?;
            named.add(&origins.of(&from).map_err(defect)?).map_err(defect)?;
            let refused = self.refused(&output, wanted)?;
            tally(&mut accounts, from.num_rows(), holds.true_count(), &refused);
            sink.rows(filter_record_batch(&output.accepted, &holds).map_err(defect)?).await?;
            named.add(&origins.of_refused(&refused).map_err(defect)?).map_err(defect)?;
            sink.refuse(refused).await?;
        }
        sink.name(&keys).await?;
        sink.name_refused(&named).await?;
        if let Above::Rebuilt(_) = above {
            sink.name_refused(&leaving).await?;
        }
        Ok(accounts)
    }

    /// Where the rows of these keys came from, and `touched`: one of them that is refused now goes into quarantine.
    pub(crate) async fn leaving(
        &self,
        keys: &Arc<TouchedGroups>,
        touched: TouchedGroups,
    ) -> Result<TouchedGroups, Failure> {
        let (origins, keys) = (self.origins(), Arc::clone(keys));
        if origins == Origins::Values {
            return Ok(touched);
        }
        fold_held(self.table, touched, move |leaving, _, rows| {
            let rows = keys.select(rows).map_err(defect)?;
            leaving.add(&origins.of(&rows).map_err(defect)?).map_err(defect)
        })
        .await
    }

    /// The groups are computed from all that the table above holds of them. A table of groups does not say which rows it was
    /// made of, so all rows that the stages refuse of what is read lie in quarantine afterwards.
    async fn renew_groups(
        &self,
        meant: Meant,
        above: Above<'_>,
        source: &mut dyn Source,
        sink: &mut Sink<'_>,
    ) -> Result<Accounts, Failure> {
        let origins = self.origins();
        let Meant { origins: mut named, named: groups, .. } = meant;
        let groups = groups.ok_or_else(|| internal("groups were not named"))?;
        let mut accounts = Accounts::default();
        let mut outputs = self.outputs(self.chunks(&above, source).await?);
        while let Some((rows, output)) = outputs.try_next().await? {
            let holds = groups.holds(&output.accepted).map_err(defect)?;
            let from = take_record_batch(&rows, &UInt32Array::from(input_rows(&output, &holds))).map_err(defect)?;
            named.add(&origins.of(&from).map_err(defect)?).map_err(defect)?;
            let refused = self.refused(&output, None)?;
            tally(&mut accounts, from.num_rows(), 0, &refused);
            named.add(&origins.of_refused(&refused).map_err(defect)?).map_err(defect)?;
            sink.refuse(refused).await?;
        }
        let grouping = self.chain.grouping().ok_or_else(|| internal("a table of groups without its stage"))?;
        let regrouping = Regrouping { chain: self.chain, context: self.context.clone(), workers: self.workers };
        let send = sink.writing.sender();
        regrouping.run(grouping, groups, source, above.end(), send, &mut accounts).await?;
        sink.name_refused(&named).await?;
        Ok(accounts)
    }

    async fn chunks(&self, above: &Above<'_>, source: &mut dyn Source) -> Result<Chunks, Failure> {
        match above {
            Above::Before(range) => Ok(source.read_before(&range.end).await?),
            Above::Rebuilt(range) => {
                let input = self.chain.input_schema();
                let came = rebuilt(source, range).await?.map(move |rows| {
                    let came = input_of(&rows?, false, &input);
                    came.map_err(|error| SourceError::Data { what: error.to_string(), hint: None })
                });
                Ok(came.boxed())
            }
        }
    }

    /// The rows that were refused; only those of `origins` where some are given.
    pub(crate) fn refused(
        &self,
        output: &ChunkOutput,
        origins: Option<&TouchedGroups>,
    ) -> Result<RecordBatch, Failure> {
        let empty = || RecordBatch::new_empty(quarantine_schema());
        let Some(refused) = &output.quarantined else { return Ok(empty()) };
        let Some(wanted) = origins else { return Ok(refused.clone()) };
        let told = self.origins().of_refused(refused).map_err(defect)?;
        filter_record_batch(refused, &wanted.holds(&told).map_err(defect)?).map_err(defect)
    }
}

/// Rows of a slice count where they are made anew: those that passed, and those that were refused.
pub(crate) fn tally(accounts: &mut Accounts, passed: usize, written: usize, refused: &RecordBatch) {
    accounts.rows_in += (passed + refused.num_rows()) as u64;
    accounts.rows_accepted += passed as u64;
    accounts.rows_written += written as u64;
    let codes = refused.column_by_name("code").and_then(|column| column.as_string_opt::<i32>());
    for code in codes.into_iter().flat_map(|codes| codes.iter().flatten()) {
        *accounts.rejected.entry(code.to_owned()).or_default() += 1;
    }
}

/// The input rows of some of the accepted rows, each once.
pub(crate) fn input_rows(output: &ChunkOutput, of: &BooleanArray) -> Vec<u32> {
    let row = |at: usize| match &output.origin {
        Some(origin) => origin.get(at).copied().unwrap_or_default(),
        None => u32::try_from(at).unwrap_or_default(),
    };
    let mut seen = HashSet::new();
    (0..of.len()).filter(|at| of.value(*at)).map(row).filter(|row| seen.insert(*row)).collect()
}

/// Rows as a table's writer takes them: those that do not say otherwise are to come.
fn arriving(rows: RecordBatch, incoming: &SchemaRef) -> Result<RecordBatch, Failure> {
    let mut columns = rows.columns().to_vec();
    if columns.len() < incoming.fields().len() {
        columns.push(Arc::new(BooleanArray::from(vec![false; rows.num_rows()])) as ArrayRef);
    }
    RecordBatch::try_new(Arc::clone(incoming), columns).map_err(defect)
}

pub(crate) fn internal(what: &str) -> Failure {
    Failure::Internal { what: what.into() }
}
