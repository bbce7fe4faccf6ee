//! A table that is opened, or made, when it is first needed: a stream that rejects nothing has no quarantine table.

use std::sync::Arc;

use crisol_table::{TableError, TableWriter};
use futures::future::BoxFuture;
use tokio::sync::OnceCell;

type Open = dyn Fn() -> BoxFuture<'static, Result<Arc<dyn TableWriter>, TableError>> + Send + Sync;

/// A table opened at first use.
pub struct OpenTable {
    open: Box<Open>,
    table: OnceCell<Arc<dyn TableWriter>>,
}

impl OpenTable {
    /// `open` is called until it succeeds once.
    pub fn new(
        open: impl Fn() -> BoxFuture<'static, Result<Arc<dyn TableWriter>, TableError>> + Send + Sync + 'static,
    ) -> Self {
        Self { open: Box::new(open), table: OnceCell::new() }
    }

    /// The table.
    ///
    /// # Errors
    /// What opening it says.
    pub async fn get(&self) -> Result<&Arc<dyn TableWriter>, TableError> {
        self.table.get_or_try_init(|| (self.open)()).await
    }
}

impl std::fmt::Debug for OpenTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenTable").field("open", &self.table.initialized()).finish_non_exhaustive()
    }
}
