//! The trait that every source implements, and what a plan says.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use crisol_checkpoint::{Position, Range};
use crisol_observe::{Gap, PartitionLag};
use futures::stream::BoxStream;

use crate::SourceError;

/// Rows of a range in order, in chunks of at most [`CHUNK_ROWS_MAX`] rows, all of [`Source::schema`].
///
/// Dropping it stops the reading and frees what was fetched ahead (K-070).
pub type Chunks = BoxStream<'static, Result<RecordBatch, SourceError>>;

/// Most rows of one chunk: what a stage gets in one call.
pub const CHUNK_ROWS_MAX: usize = 16_384;

/// A chunk is closed when its variable-length bytes reach this; only a single row may be larger.
pub const CHUNK_BYTES_MAX: usize = 8 << 20;

/// What a stream reads from.
///
/// Contract, held by one suite over all implementations:
/// - the same range gives the same rows in the same order, however often it is read, as long as the source still
///   holds them; how rows are cut into chunks may differ;
/// - ranges that follow each other give each row once: none lost, none doubled at the seam;
/// - `plan` never goes back and never past what exists; it changes nothing that a reader can see before
///   [`Source::read`] of the planned range (files: the entry `sources/0/<n>` is written by `plan`, C-005);
/// - an error leaves the source usable: the call may be made again.
#[async_trait]
pub trait Source: Send + Sync {
    /// Spark's words for it (K-114), for progress.
    fn description(&self) -> String;

    /// Columns of the rows, provenance included.
    fn schema(&self) -> SchemaRef;

    /// Names of the columns that say where a row came from: `topic, partition, offset` or `file_path, file_row`.
    fn provenance(&self) -> Vec<String>;

    /// Where a new checkpoint begins. Called once in a checkpoint's life, before batch 0 is planned. Kafka keeps the
    /// answer under `sources/0/0` itself (K-032), so that a crash before batch 0 does not move it.
    async fn initial(&mut self) -> Result<Position, SourceError>;

    /// Fixes the end of this run, which goes on at `start`, at what exists now (K-100); later `plan`s end there.
    async fn prepare_for_available_now(&mut self, start: &Position) -> Result<(), SourceError>;

    /// The end of the next batch after `start`, within the contract's limits; `None` when nothing waits.
    async fn plan(&mut self, start: &Position) -> Result<Option<Planned>, SourceError>;

    /// The rows of a range.
    async fn read(&mut self, range: &Range) -> Result<Chunks, SourceError>;

    /// All rows that the source holds where a batch ends: of a table, those of the version that ends the range; never
    /// less than was read up to there. What [`Source::schema`] says of rows holds for them.
    ///
    /// # Errors
    /// As for `read`; and for sources that hold no state but a log of records.
    async fn read_held(&mut self, _end: &Position) -> Result<Chunks, SourceError> {
        Err(SourceError::external(format!("{} cannot tell all rows that it holds", self.description())))
    }

    /// All rows that lie before a position: of a table, those that it held there, and none that a later batch brings.
    ///
    /// # Errors
    /// As for `read_held`.
    async fn read_before(&mut self, _end: &Position) -> Result<Chunks, SourceError> {
        Err(SourceError::external(format!("{} cannot tell the rows before a position", self.description())))
    }

    /// The rows that a rebuild of the table above took out, and those that it brought, with the columns of the table and
    /// [`DELETED`](crisol_contract::DELETED) as their last one; `None` for a range that is none of a rebuild, which is
    /// read as ever.
    async fn read_rebuilt(&mut self, _range: &Range) -> Result<Option<Chunks>, SourceError> {
        Ok(None)
    }

    /// Tells the source that the batch ending here is committed for good.
    async fn committed(&mut self, end: &Position) -> Result<(), SourceError>;

    /// How far `consumed` is behind each partition, as far as the source was last asked (K-110); none for sources without
    /// partitions.
    fn lag(&self, _consumed: &Position) -> Vec<PartitionLag> {
        Vec::new()
    }

    /// Takes the gaps that earlier batches of the checkpoint passed over, so that none is told twice.
    fn know_gaps(&mut self, _gaps: Vec<Gap>) {}

    /// Takes the gaps that were found while the next batch was planned, and cannot be found again when its range is read.
    fn take_planned_gaps(&mut self) -> Vec<Gap> {
        Vec::new()
    }

    /// The offsets that the batch read last passed over, where the contract says to go on (K-066); sorted, each told
    /// once.
    fn take_gaps(&mut self) -> Vec<Gap> {
        Vec::new()
    }
}

/// A planned end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// End of the batch, exclusive.
    pub end: Position,
    /// Where the source itself stands, for lag (`latestOffset` of the progress); `None` when unknown.
    pub latest: Option<Position>,
    /// What lies between start and end, as an estimate: offsets, files' bytes, rows.
    pub estimate: Estimate,
}

/// Size of what waits, for progress bars and lag. Offsets are distances, not records (K-049).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Estimate {
    /// In the planned range.
    pub batch_rows: Option<u64>,
    /// From the start of the range to `latest`.
    pub backlog_rows: Option<u64>,
}
