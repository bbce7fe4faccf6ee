//! Whether a table was begun anew since it was read: emptied by a rebuild of the stream above, or made again.

use crisol_checkpoint::Position;

use super::{TableSource, table_position};
use crate::SourceError;

impl TableSource {
    /// Whether the rows read up to `position` were taken out since, all of them, or belong to another table: a stream that
    /// stands there cannot go on, and can read it all again from a new checkpoint.
    ///
    /// A table that lost only some of its rows is not such a one: read again, it would stop at the same commit. Reads the
    /// whole log.
    ///
    /// # Errors
    /// The table or its log cannot be read, or the position is that of another kind of source.
    pub async fn began_anew_since(&mut self, position: &Position) -> Result<bool, SourceError> {
        let position = table_position(position)?;
        let Some(opened) = self.open().await? else { return Ok(false) };
        if opened.layout.id != position.reservoir_id {
            return Ok(true);
        }
        Ok(self.history().await?.start() > position.reservoir_version)
    }
}
