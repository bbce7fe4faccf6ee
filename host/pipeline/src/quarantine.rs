//! What is done with quarantines: counted, looked at, replayed.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{RecordBatch, StringArray, TimestampMicrosecondArray, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use crisol_source::Chunks;
use crisol_stage::quarantine_schema;
use crisol_stream::{Failure, Replayed, Selection};
use futures::TryStreamExt;

use crate::plan::StreamPlan;
use crate::{Engine, EngineError, Tables, open};

/// What [`Tables::refused_counts`] needs of a quarantine.
const COUNTED: [&str; 3] = ["stage", "code", "batch_timestamp"];

/// Rows of one stage and code: how many, and the first and last timestamp of their batches.
#[derive(Debug, Clone, Copy)]
struct Count {
    rows: u64,
    first_us: i64,
    last_us: i64,
}

/// By table, stage and code.
type Counts = BTreeMap<(String, String, String), Count>;

impl Tables {
    /// The rows in quarantine, counted by table, stage and code: columns `table`, `stage`, `code`, `rows`, `first`, `last`.
    /// Of all tables when none is named.
    ///
    /// # Errors
    /// No contract describes a table, or a quarantine cannot be read.
    pub async fn refused_counts(&self, names: &[String]) -> Result<RecordBatch, EngineError> {
        for name in names {
            self.stream_of(name)?;
        }
        let mut counts = Counts::new();
        for stream in self.streams.iter().filter(|stream| names.is_empty() || names.contains(&stream.table.name)) {
            let counted = count(stream, &mut counts).await;
            counted.map_err(|failure| EngineError::opening(&stream.name, failure))?;
        }
        counted_rows(&counts).map_err(EngineError::internal)
    }

    /// The newest rows of a table's quarantine that are meant, oldest first; at most `limit`.
    ///
    /// # Errors
    /// As for [`Tables::refused_counts`].
    pub async fn refused_rows(
        &self,
        name: &str,
        selection: &Selection,
        limit: usize,
    ) -> Result<Vec<RecordBatch>, EngineError> {
        let stream = self.stream_of(name)?;
        newest_refused(stream, selection, limit).await.map_err(|failure| EngineError::opening(&stream.name, failure))
    }

    fn stream_of(&self, name: &str) -> Result<&StreamPlan, EngineError> {
        self.streams.iter().find(|stream| stream.table.name == name).ok_or_else(|| self.unknown(name))
    }
}

impl Engine {
    /// Takes rows of a table's quarantine to the first stage again. Those that pass are added to the table, and then leave
    /// the quarantine; so do those that are filtered. An earlier replay that was cut short is finished first, and told
    /// first. With `dry_run` nothing is written.
    ///
    /// # Errors
    /// No stream of the engine fills the table, its write mode adds no single rows, or the replay failed.
    pub async fn replay(
        &self,
        table: &str,
        selection: &Selection,
        dry_run: bool,
    ) -> Result<Vec<Replayed>, EngineError> {
        let Some(plan) = self.streams.iter().find(|stream| stream.table.name == table) else {
            let known = self.streams.iter().map(|stream| stream.table.name.clone()).collect();
            return Err(EngineError::UnknownStream { name: table.into(), known });
        };
        let Some(mut replay) = open::replay(self, plan).await? else {
            return Ok(vec![Replayed { selection: selection.clone(), ..Replayed::default() }]);
        };
        if dry_run {
            return Ok(vec![replay.try_out(selection).await?]);
        }
        Ok(replay.run(selection).await?)
    }
}

async fn count(stream: &StreamPlan, counts: &mut Counts) -> Result<(), Failure> {
    let schema = quarantine_schema();
    let fields = schema.fields().iter().filter(|field| COUNTED.contains(&field.name().as_str())).cloned();
    let columns = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let Some(mut chunks) = open::quarantine_rows(stream, columns).await? else { return Ok(()) };
    while let Some(rows) = chunks.try_next().await? {
        let times = rows.column_by_name("batch_timestamp").map(|c| c.as_primitive::<TimestampMicrosecondType>());
        let [stages, codes] = ["stage", "code"].map(|name| rows.column_by_name(name).map(|c| c.as_string::<i32>()));
        let (Some(times), Some(stages), Some(codes)) = (times, stages, codes) else { continue };
        for row in 0..rows.num_rows() {
            let key = (stream.table.name.clone(), stages.value(row).to_owned(), codes.value(row).to_owned());
            let at = times.value(row);
            let count = counts.entry(key).or_insert(Count { rows: 0, first_us: at, last_us: at });
            count.rows += 1;
            count.first_us = count.first_us.min(at);
            count.last_us = count.last_us.max(at);
        }
    }
    Ok(())
}

fn counted_rows(counts: &Counts) -> Result<RecordBatch, ArrowError> {
    let timestamp = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let column = |name: &str, data_type: &DataType| Field::new(name, data_type.clone(), false);
    let mut fields = ["table", "stage", "code"].map(|name| column(name, &DataType::Utf8)).to_vec();
    fields.push(column("rows", &DataType::UInt64));
    fields.extend(["first", "last"].map(|name| column(name, &timestamp)));
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let text = |of: fn(&(String, String, String)) -> &String| StringArray::from_iter_values(counts.keys().map(of));
    let time = |of: fn(&Count) -> i64| {
        TimestampMicrosecondArray::from_iter_values(counts.values().map(of)).with_timezone("UTC")
    };
    RecordBatch::try_new(
        schema,
        vec![
            Arc::new(text(|(table, _, _)| table)),
            Arc::new(text(|(_, stage, _)| stage)),
            Arc::new(text(|(_, _, code)| code)),
            Arc::new(UInt64Array::from_iter_values(counts.values().map(|count| count.rows))),
            Arc::new(time(|count| count.first_us)),
            Arc::new(time(|count| count.last_us)),
        ],
    )
}

/// The newest rows of a stream's quarantine that are meant, oldest first.
pub(crate) async fn newest_refused(
    stream: &StreamPlan,
    selection: &Selection,
    limit: usize,
) -> Result<Vec<RecordBatch>, Failure> {
    match open::quarantine_rows(stream, quarantine_schema()).await? {
        Some(chunks) => newest(chunks, selection, limit).await,
        None => Ok(Vec::new()),
    }
}

/// The last `limit` rows that are meant; memory holds little more.
async fn newest(mut chunks: Chunks, selection: &Selection, limit: usize) -> Result<Vec<RecordBatch>, Failure> {
    let mut kept: VecDeque<RecordBatch> = VecDeque::new();
    let mut held = 0;
    while let Some(rows) = chunks.try_next().await? {
        let rows = selection.of(&rows).map_err(Failure::Restore)?;
        held += rows.num_rows();
        kept.push_back(rows);
        while let Some(first) = kept.front().map(RecordBatch::num_rows).filter(|first| held - first >= limit) {
            held -= first;
            kept.pop_front();
        }
    }
    if let Some(first) = kept.front_mut() {
        *first = first.slice(held.saturating_sub(limit), first.num_rows() - held.saturating_sub(limit));
    }
    Ok(kept.into_iter().filter(|rows| rows.num_rows() > 0).collect())
}
