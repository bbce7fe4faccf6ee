//! The rows that a table holds, file by file.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::TableError;
use crate::error::Place;
use crate::scan::Scanned;

/// A data file of a table, at the version at which it was asked for.
#[derive(Debug, Clone)]
pub struct HeldFile {
    place: Arc<Place>,
    schema: SchemaRef,
    scanned: Scanned,
}

impl HeldFile {
    pub(crate) fn new(place: &Arc<Place>, schema: &SchemaRef, scanned: Scanned) -> Self {
        Self { place: Arc::clone(place), schema: Arc::clone(schema), scanned }
    }

    /// Its rows, with the columns of the table. Blocking.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn rows(&self) -> Result<impl Iterator<Item = Result<RecordBatch, TableError>> + use<>, TableError> {
        let place = Arc::clone(&self.place);
        let failed = move |e| place.external(format!("cannot read its rows in `{}`", place.path), e);
        let rows = self.scanned.rows(&self.schema).map_err(&failed)?;
        Ok(rows.map(move |rows| rows.map_err(&failed)))
    }
}
