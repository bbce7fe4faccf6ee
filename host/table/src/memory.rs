//! A table in memory, for the tests of rooms that write tables. It keeps the same contract as the Delta form.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use async_trait::async_trait;

use crate::{
    AppTransaction, CommitNote, CommitOutcome, FileWriter, HeldFile, PendingFile, Standing, TableError, TableWriter,
    entry,
};

/// One commit of a [`MemoryTable`].
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryCommit {
    /// Who wrote, and which batch.
    pub transaction: AppTransaction,
    /// What the commit says of itself.
    pub note: CommitNote,
    /// Rows of the files that it names, in their order.
    pub rows: Vec<RecordBatch>,
}

/// What goes wrong at the next commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing lands, and the caller gets an error.
    Refused,
    /// The commit lands, and the caller gets an error.
    AnswerLost,
}

/// A table in memory. Clones share it, as several hosts share one table. Version 0 is its creation.
#[derive(Debug, Clone)]
pub struct MemoryTable {
    schema: SchemaRef,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    files: HashMap<String, Vec<RecordBatch>>,
    commits: Vec<MemoryCommit>,
    fault: Option<Fault>,
}

impl MemoryTable {
    /// An empty table with these columns.
    pub fn new(schema: SchemaRef) -> Self {
        Self { schema, state: Arc::default() }
    }

    /// Commits so far; the first is version 1.
    pub fn commits(&self) -> Vec<MemoryCommit> {
        self.state().commits.clone()
    }

    /// Rows that readers see, in order of their commits.
    pub fn rows(&self) -> Vec<RecordBatch> {
        self.state().commits.iter().flat_map(|commit| commit.rows.clone()).collect()
    }

    /// Makes the next commit go wrong, once.
    pub fn fail_next(&self, fault: Fault) {
        self.state().fault = Some(fault);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn transaction(&self, app_id: &str) -> Option<i64> {
        let own = self.commits.iter().rev().find(|commit| commit.transaction.app_id == app_id);
        own.map(|commit| commit.transaction.version)
    }

    fn version(&self) -> i64 {
        i64::try_from(self.commits.len()).unwrap_or(i64::MAX)
    }
}

fn failed(what: String) -> TableError {
    TableError::External { table: "memory".to_string(), what, source: None }
}

#[async_trait]
impl TableWriter for MemoryTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    async fn transaction(&self, app_id: &str) -> Result<Option<i64>, TableError> {
        Ok(self.state().transaction(app_id))
    }

    fn writer(&self) -> Result<Box<dyn FileWriter>, TableError> {
        Ok(Box::new(MemoryFiles { table: self.clone(), rows: Vec::new() }))
    }

    async fn commit(
        &self,
        files: &[PendingFile],
        transaction: &AppTransaction,
        note: &CommitNote,
    ) -> Result<CommitOutcome, TableError> {
        let mut state = self.state();
        if state.transaction(&transaction.app_id).is_some_and(|version| version >= transaction.version) {
            return Ok(CommitOutcome::AlreadyCommitted { version: state.version() });
        }
        let fault = state.fault.take();
        if fault == Some(Fault::Refused) {
            return Err(failed("the commit was refused".to_string()));
        }
        let mut rows = Vec::new();
        for file in files {
            let found = state.files.get(&file.path).ok_or_else(|| failed(format!("no file `{}`", file.path)))?;
            rows.extend(found.iter().cloned());
        }
        state.commits.push(MemoryCommit { transaction: transaction.clone(), note: note.clone(), rows });
        match fault {
            Some(_) => Err(failed("the answer to the commit was lost".to_string())),
            None => Ok(CommitOutcome::Committed { version: state.version() }),
        }
    }

    async fn commit_while(
        &self,
        standing: &Standing,
        files: &[PendingFile],
        transaction: &AppTransaction,
        note: &CommitNote,
    ) -> Result<Option<CommitOutcome>, TableError> {
        if self.state().transaction(&standing.app_id) != standing.version {
            return Ok(None);
        }
        self.commit(files, transaction, note).await.map(Some)
    }

    /// Rows in memory lie in no files.
    async fn held(&self) -> Result<Vec<HeldFile>, TableError> {
        Ok(Vec::new())
    }
}

struct MemoryFiles {
    table: MemoryTable,
    rows: Vec<RecordBatch>,
}

impl FileWriter for MemoryFiles {
    fn write(&mut self, rows: &RecordBatch) -> Result<(), TableError> {
        if rows.schema_ref().fields() != self.table.schema.fields() {
            return Err(TableError::Data { table: "memory".to_string(), what: "rows have other columns".to_string() });
        }
        self.rows.push(rows.clone());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<PendingFile>, TableError> {
        let rows: u64 = self.rows.iter().map(|batch| batch.num_rows() as u64).sum();
        if rows == 0 {
            return Ok(Vec::new());
        }
        let path = format!("part-{}", uuid::Uuid::new_v4());
        let size = self.rows.iter().map(RecordBatch::get_array_memory_size).sum::<usize>();
        let file = PendingFile {
            path: path.clone(),
            size: i64::try_from(size).unwrap_or(i64::MAX),
            rows,
            partition_values: Default::default(),
            stats: format!("{{\"numRecords\":{rows}}}"),
            modification_time: entry::now_millis(),
        };
        self.table.state().files.insert(path, self.rows);
        Ok(vec![file])
    }
}
