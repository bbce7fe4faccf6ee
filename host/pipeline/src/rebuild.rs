//! Slices of tables, made anew from the tables above.

use crisol_stream::Rebuilt;

use crate::{Engine, EngineError, open};

impl Engine {
    /// Makes anew the rows of a table for which a SQL condition over its columns is true, as they are or as the stages of
    /// today make them, and replaces those that differ in one commit; its quarantine follows in another. Streams below
    /// follow when they run. An earlier rebuild that was cut short is finished first, and told first. With `dry_run` nothing
    /// is written.
    ///
    /// # Errors
    /// No stream of the engine fills the table, the condition or the table's write mode does not fit, or the rebuild failed.
    pub async fn rebuild(&self, table: &str, predicate: &str, dry_run: bool) -> Result<Vec<Rebuilt>, EngineError> {
        let Some(plan) = self.streams.iter().find(|stream| stream.table.name == table) else {
            let known = self.streams.iter().map(|stream| stream.table.name.clone()).collect();
            return Err(EngineError::UnknownStream { name: table.into(), known });
        };
        let mut rebuild = open::slice(self, plan, predicate, dry_run).await?;
        if dry_run {
            return Ok(vec![rebuild.try_out(predicate).await?]);
        }
        Ok(rebuild.run(predicate).await?)
    }
}
