//! Takes out all rows of a table in one commit: what a stream does that begins anew and replaces what it wrote.

use futures::TryStreamExt;
use serde_json::{Value, json};

use crate::log::Put;
use crate::{Table, TableError, entry};

/// A table that changes under our hands so often is somebody else's.
const ATTEMPTS_MAX: u32 = 10;

impl Table {
    /// Removes all files in one commit; readers of older versions still see them. Nothing happens to an empty table.
    ///
    /// # Errors
    /// Other writers committed each time between our look at the table and our commit.
    pub async fn clear(&self, stream: &str) -> Result<(), TableError> {
        for _ in 0..ATTEMPTS_MAX {
            let (version, removes) = self.removes().await?;
            if removes.is_empty() {
                return Ok(());
            }
            let text = entry::clear(&removes, stream, version)
                .map_err(|e| self.place().external("cannot write the text of its commit", e))?;
            // An unknown outcome ends the call: started again, it finds the table empty or tries anew.
            match self.log().put(version + 1, &text).await? {
                Put::Done => return Ok(()),
                Put::Exists => tracing::debug!(table = %self.spec().name, version, "another writer was first"),
            }
        }
        let what = format!("other writers were first {ATTEMPTS_MAX} times in a row");
        Err(TableError::External { table: self.spec().name.clone(), what, source: None })
    }

    /// A `remove` for each file of the newest version.
    async fn removes(&self) -> Result<(i64, Vec<Value>), TableError> {
        let snapshot = self.snapshot().await?;
        let views = snapshot.file_views(self.log().delta(), None);
        let removes = views.map_ok(|view| json!({ "remove": view.remove_action(true) }));
        let removes = removes.try_collect().await.map_err(|e| self.unreadable(e))?;
        Ok((i64::try_from(snapshot.version()).unwrap_or(i64::MAX), removes))
    }
}
