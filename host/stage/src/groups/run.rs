//! Sorted rows through the component: sessions of whole groups, and their answers as rows of the table.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int32Array, RecordBatch};
use arrow_row::{OwnedRow, RowConverter};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::interleave::interleave;

use super::{From, GroupAnswer, GroupSession, Grouping};
use crate::{BatchContext, StageError};

/// A session ends with the first group that reaches this many rows.
const SESSION_ROWS: usize = 64 << 10;
/// Rows of a session are held until they are answered.
const SESSION_BYTES_MAX: usize = 256 << 20;
/// Most rows that a component gets in one call.
const CALL_ROWS_MAX: usize = 16_384;

/// What became of the groups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupCounts {
    /// Groups with rows.
    pub groups: u64,
    /// Rows of them.
    pub rows_in: u64,
    /// Rows of the table that came of them.
    pub rows_out: u64,
    /// Of a ranking: rows that were not chosen.
    pub not_ranked: u64,
    /// Of an aggregation: groups without an answer.
    pub empty: u64,
}

/// One pass of sorted rows through a component. Blocking.
pub struct GroupRun {
    grouping: Arc<Grouping>,
    context: BatchContext,
    converter: RowConverter,
    /// Key of the newest row.
    newest: Option<OwnedRow>,
    session: Option<Session>,
    counts: GroupCounts,
}

impl std::fmt::Debug for GroupRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupRun").field("counts", &self.counts).finish_non_exhaustive()
    }
}

/// An open session, and what it was given.
pub(super) struct Session {
    pub(super) work: Box<dyn GroupSession>,
    pub(super) rows: Vec<RecordBatch>,
    /// Number of the first row of each batch.
    starts: Vec<usize>,
    count: usize,
    bytes: usize,
    /// Batch and row of the first row of each group.
    pub(super) groups: Vec<(usize, usize)>,
    answered: u64,
}

impl GroupRun {
    /// Begins with the first group.
    ///
    /// # Errors
    /// A defect of the host.
    pub fn new(grouping: Arc<Grouping>, context: BatchContext) -> Result<Self, StageError> {
        let converter = grouping.keys.converter().map_err(|error| grouping.defect(error))?;
        Ok(Self { grouping, context, converter, newest: None, session: None, counts: GroupCounts::default() })
    }

    /// Takes sorted rows, and gives rows for the table as they become known.
    ///
    /// # Errors
    /// The component failed or lied, a group is too large, or a defect of the host. It stops the stream.
    pub fn push(&mut self, rows: &RecordBatch) -> Result<Vec<RecordBatch>, StageError> {
        let mut out = Vec::new();
        let mut from = 0;
        while from < rows.num_rows() {
            let chunk = rows.slice(from, CALL_ROWS_MAX.min(rows.num_rows() - from));
            from += chunk.num_rows();
            self.chunk(&chunk, &mut out)?;
        }
        Ok(out)
    }

    /// There are no more rows.
    ///
    /// # Errors
    /// As for `push`.
    pub fn finish(mut self) -> Result<(Vec<RecordBatch>, GroupCounts), StageError> {
        let mut out = Vec::new();
        self.end_session(&mut out)?;
        Ok((out, self.counts))
    }

    fn chunk(&mut self, rows: &RecordBatch, out: &mut Vec<RecordBatch>) -> Result<(), StageError> {
        let keys = self.grouping.keys.of(rows, &self.converter).map_err(|error| self.grouping.defect(error))?;
        let mut from = 0;
        let mut groups: Vec<i32> = Vec::with_capacity(rows.num_rows());
        for (row, key) in keys.iter().enumerate() {
            if self.newest.as_ref().is_none_or(|newest| newest.row() != key) {
                let full = self.session.as_ref().is_some_and(|session| session.count + row - from >= SESSION_ROWS);
                if full {
                    self.give(&rows.slice(from, row - from), std::mem::take(&mut groups), out)?;
                    self.end_session(out)?;
                    from = row;
                }
                let place = row - from;
                let session = self.open()?;
                session.groups.push((session.rows.len(), place));
                self.newest = Some(key.owned());
                self.counts.groups += 1;
            }
            let last = self.open()?.groups.len().saturating_sub(1);
            groups.push(i32::try_from(last).unwrap_or(i32::MAX));
        }
        self.give(&rows.slice(from, rows.num_rows() - from), groups, out)
    }

    fn open(&mut self) -> Result<&mut Session, StageError> {
        if self.session.is_none() {
            let work = self.grouping.worker.open(self.context.timestamp_us).map_err(|e| self.grouping.failed(e))?;
            let (rows, starts, groups) = (Vec::new(), Vec::new(), Vec::new());
            self.session = Some(Session { work, rows, starts, count: 0, bytes: 0, groups, answered: 0 });
        }
        self.session.as_mut().ok_or_else(|| StageError::internal("groups", "no session"))
    }

    /// Gives rows to the open session.
    fn give(&mut self, rows: &RecordBatch, groups: Vec<i32>, out: &mut Vec<RecordBatch>) -> Result<(), StageError> {
        let grouping = Arc::clone(&self.grouping);
        let Some(session) = self.session.as_mut().filter(|_| rows.num_rows() > 0) else { return Ok(()) };
        let seen = grouping.seen(rows, groups).map_err(|error| grouping.defect(error))?;
        session.starts.push(session.count);
        session.count += rows.num_rows();
        session.bytes += rows.get_array_memory_size();
        session.rows.push(rows.clone());
        self.counts.rows_in += rows.num_rows() as u64;
        if session.bytes > SESSION_BYTES_MAX {
            let group = grouping.keys.shown(rows, rows.num_rows() - 1);
            let most = SESSION_BYTES_MAX >> 20;
            return Err(
                grouping.failed(format!("the group ({group}) holds more than {most} MiB, the most of one group"))
            );
        }
        let answers = match session.work.push(&seen) {
            Ok(answers) => answers,
            Err(error) => {
                let (work, answers) = grouping.afresh(session, &error, &self.context)?;
                session.work = work;
                answers
            }
        };
        grouping.rows_of(session, answers, out)
    }

    fn end_session(&mut self, out: &mut Vec<RecordBatch>) -> Result<(), StageError> {
        let Some(mut session) = self.session.take() else { return Ok(()) };
        let answers = self.grouping.finish(&mut session, &self.context)?;
        self.grouping.rows_of(&mut session, answers, out)?;
        self.counts.rows_out += session.answered;
        if self.grouping.worker.ranks() {
            self.counts.not_ranked += (session.count as u64).saturating_sub(session.answered);
        } else {
            self.counts.empty += (session.groups.len() as u64).saturating_sub(session.answered);
        }
        Ok(())
    }
}

/// In the place of a session that has ended.
pub(super) struct Ended;

impl GroupSession for Ended {
    fn push(&mut self, _rows: &RecordBatch) -> Result<Vec<GroupAnswer>, String> {
        Err("the session has ended".into())
    }

    fn finish(self: Box<Self>) -> Result<Vec<GroupAnswer>, String> {
        Err("the session has ended".into())
    }
}

impl Grouping {
    /// What the component sees of rows.
    pub(super) fn seen(&self, rows: &RecordBatch, groups: Vec<i32>) -> Result<RecordBatch, ArrowError> {
        let group: ArrayRef = Arc::new(Int32Array::from(groups));
        let columns = self.reads.iter().map(|at| Arc::clone(rows.column(*at))).chain([group]);
        RecordBatch::try_new(self.seen_schema(), columns.collect())
    }

    fn seen_schema(&self) -> SchemaRef {
        let fields = self.reads.iter().map(|at| Arc::new(self.input.field(*at).clone()));
        let group = Arc::new(Field::new("_group", DataType::Int32, false));
        Arc::new(Schema::new(fields.chain([group]).collect::<Vec<_>>()))
    }

    /// Answers as rows of the table.
    fn rows_of(
        &self,
        session: &mut Session,
        answers: Vec<GroupAnswer>,
        out: &mut Vec<RecordBatch>,
    ) -> Result<(), StageError> {
        for answer in answers.into_iter().filter(|answer| answer.rows.num_rows() > 0) {
            session.answered += answer.rows.num_rows() as u64;
            let places = answer.index.iter().map(|index| self.place(session, *index as usize));
            let places = places.collect::<Option<Vec<_>>>();
            let places = places.ok_or_else(|| self.failed("it answered for a row or group that it was not given"))?;
            out.push(self.complete(session, &answer.rows, &places).map_err(|error| self.defect(error))?);
        }
        Ok(())
    }

    /// Where the row that an answer is about lies: batch and row.
    fn place(&self, session: &Session, index: usize) -> Option<(usize, usize)> {
        if !self.worker.ranks() {
            return session.groups.get(index).copied();
        }
        let batch = session.starts.partition_point(|start| *start <= index).checked_sub(1)?;
        (index < session.count).then(|| (batch, index - session.starts[batch]))
    }

    fn complete(
        &self,
        session: &Session,
        written: &RecordBatch,
        places: &[(usize, usize)],
    ) -> Result<RecordBatch, ArrowError> {
        let column = |from: &From| match from {
            From::Written(at) => Ok(Arc::clone(written.column(*at))),
            From::Input(at) => {
                let parts: Vec<_> = session.rows.iter().map(|rows| rows.column(*at).as_ref()).collect();
                interleave(&parts, places)
            }
        };
        let mut columns = self.columns.iter().map(column).collect::<Result<Vec<ArrayRef>, _>>()?;
        columns.push(Arc::new(BooleanArray::from(vec![false; places.len()])));
        RecordBatch::try_new(Arc::clone(&self.output), columns)
    }
}
