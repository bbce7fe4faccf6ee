//! Takes out the rows that a stream wrote: what a stream does that begins anew and replaces them.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use futures::TryStreamExt;

use crate::log::Put;
use crate::{Table, TableError, entry};

/// A table that changes under our hands so often is somebody else's.
const ATTEMPTS_MAX: u32 = 10;

impl Table {
    /// Removes the files that this stream wrote, under whatever checkpoint, in one commit; readers of older versions
    /// still see them. Files of other streams stay. Nothing happens when there is none.
    ///
    /// The same commit closes the table to the checkpoints `closed`, which are done with: a host that still works with one
    /// of them finds each of its batches done, and adds nothing.
    ///
    /// # Errors
    /// Some files were written by no stream of this host: they may hold this stream's rows, rewritten by
    /// another engine, and nothing is removed. Or other writers committed each time between our look at the table and our commit.
    pub async fn clear(&self, stream: &str, closed: &[String]) -> Result<(), TableError> {
        for _ in 0..ATTEMPTS_MAX {
            let (version, paths) = self.files_of(stream).await?;
            if paths.is_empty() && closed.is_empty() {
                return Ok(());
            }
            let text = entry::clear(&paths, stream, closed, version)
                .map_err(|e| self.place().external("cannot write the text of its commit", e))?;
            // An unknown outcome ends the call: started again, it finds the files gone or tries anew.
            match self.log().put(version + 1, &text).await? {
                Put::Done => return Ok(()),
                Put::Exists => tracing::debug!(table = %self.spec().name, version, "another writer was first"),
            }
        }
        let what = format!("other writers were first {ATTEMPTS_MAX} times in a row");
        Err(TableError::External { table: self.spec().name.clone(), what, source: None })
    }

    /// The newest version, and the files in it that a stream wrote, as the log names them.
    async fn files_of(&self, stream: &str) -> Result<(i64, Vec<String>), TableError> {
        let snapshot = self.snapshot().await?;
        let version = i64::try_from(snapshot.version()).unwrap_or(i64::MAX);
        let origins = self.origins(version).await?;
        let mut own = Vec::new();
        let mut batches = snapshot.files(self.log().delta(), None);
        while let Some(batch) = batches.try_next().await.map_err(|e| self.unreadable(e))? {
            for path in paths(&batch) {
                match origins.get(&path).and_then(|origin| origin.stream.as_deref()) {
                    Some(writer) if writer == stream => own.push(path),
                    Some(_) => {}
                    None => {
                        return Err(self.place().mismatch(
                            format!(
                                "no stream of this host wrote file `{path}`; it may hold rows of stream `{stream}`"
                            ),
                            "delete the rows of this stream with another engine, or give the table another `path`",
                        ));
                    }
                }
            }
        }
        Ok((version, own))
    }
}

/// Paths as they stand in the log: a `remove` that is encoded otherwise than its `add` removes nothing.
fn paths(files: &RecordBatch) -> Vec<String> {
    let column = files.column_by_name("path").and_then(|column| column.as_string_opt::<i32>());
    let values = column.into_iter().flat_map(|column| column.iter().flatten());
    values.map(str::to_string).collect()
}
