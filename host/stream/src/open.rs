//! A table that is opened, or made, when it is first needed: a stream that rejects nothing has no quarantine table.

use std::sync::Arc;

use async_trait::async_trait;
use crisol_table::{TableError, TableWriter};
use tokio::sync::OnceCell;

/// How such a table is reached.
#[async_trait]
pub trait Opener: Send + Sync {
    /// The table, if there is one.
    async fn find(&self) -> Result<Option<Arc<dyn TableWriter>>, TableError>;

    /// The table; it is made when there is none.
    async fn open_or_create(&self) -> Result<Arc<dyn TableWriter>, TableError>;
}

/// A table opened at first use.
pub struct OpenTable {
    opener: Box<dyn Opener>,
    table: OnceCell<Arc<dyn TableWriter>>,
}

impl OpenTable {
    /// A table that nobody has asked for yet.
    pub fn new(opener: impl Opener + 'static) -> Self {
        Self { opener: Box::new(opener), table: OnceCell::new() }
    }

    /// The table; it is made when there is none.
    ///
    /// # Errors
    /// What opening it says.
    pub async fn get(&self) -> Result<&Arc<dyn TableWriter>, TableError> {
        self.table.get_or_try_init(|| self.opener.open_or_create()).await
    }

    /// The table, if there is one.
    ///
    /// # Errors
    /// What opening it says.
    pub(crate) async fn existing(&self) -> Result<Option<&Arc<dyn TableWriter>>, TableError> {
        if self.table.initialized() {
            return Ok(self.table.get());
        }
        match self.opener.find().await? {
            Some(table) => Ok(Some(self.table.get_or_init(|| async { table }).await)),
            None => Ok(None),
        }
    }

    /// Newest version of this application in the table; `None` when it never wrote, or there is no table.
    ///
    /// # Errors
    /// What opening or reading it says.
    pub async fn transaction(&self, app_id: &str) -> Result<Option<i64>, TableError> {
        match self.opener.find().await? {
            Some(table) => table.transaction(app_id).await,
            None => Ok(None),
        }
    }

    /// Waits for what the table does beside its commits.
    pub(crate) async fn settled(&self) {
        if let Some(table) = self.table.get() {
            table.settled().await;
        }
    }
}

impl std::fmt::Debug for OpenTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenTable").field("open", &self.table.initialized()).finish_non_exhaustive()
    }
}
