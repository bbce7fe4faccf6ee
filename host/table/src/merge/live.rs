//! The files that a table has at one version.

use std::collections::{BTreeMap, HashMap};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use deltalake::kernel::Snapshot;
use futures::TryStreamExt;

use crate::TableError;
use crate::error::Place;
use crate::log::Log;
use crate::scan::{Scanned, local};

/// A data file of the table.
#[derive(Debug, Clone)]
pub(crate) struct LiveFile {
    /// As the log names it: a `remove` that is encoded otherwise than its `add` removes nothing.
    pub(crate) path: String,
    pub(crate) size: i64,
    /// `None`: it does not say.
    pub(crate) rows: Option<u64>,
    pub(crate) stats: Option<String>,
    pub(crate) scanned: Scanned,
}

impl LiveFile {
    pub(crate) fn partition_values(&self) -> &HashMap<String, Option<String>> {
        &self.scanned.partition_values
    }

    pub(crate) fn partition(&self) -> Partition {
        normal(self.partition_values().clone())
    }
}

/// Value per partition column, null as `None`.
pub(crate) type Partition = BTreeMap<String, Option<String>>;

/// The protocol writes null as the empty string, too.
pub(crate) fn normal(values: impl IntoIterator<Item = (String, Option<String>)>) -> Partition {
    values.into_iter().map(|(name, value)| (name, value.filter(|text| !text.is_empty()))).collect()
}

/// All files at a version. Costs as much as the table has files.
pub(crate) async fn files(place: &Place, log: &Log, version: i64) -> Result<Vec<LiveFile>, TableError> {
    let failed = |e| place.external(format!("cannot tell its files at version {version}"), e);
    let snapshot = Snapshot::try_new(log.delta(), u64::try_from(version).ok()).await.map_err(failed)?;
    let batches: Vec<RecordBatch> = snapshot.files(log.delta(), None).try_collect().await.map_err(failed)?;
    let views: Vec<_> = snapshot.file_views(log.delta(), None).try_collect().await.map_err(failed)?;
    let named: Vec<&str> = batches.iter().flat_map(paths).collect();
    if named.len() != views.len() {
        let what = format!("its log names {} files, or {}", named.len(), views.len());
        return Err(place.external("cannot tell its files", what));
    }
    let file = |(path, view): (&str, &deltalake::kernel::LogicalFileView)| {
        if view.deletion_vector_descriptor().is_some() {
            let what = format!("file `{path}` has a deletion vector, which this host does not keep");
            return Err(place.mismatch(what, "purge the table's deletion vectors with the engine that wrote them"));
        }
        let outside = || place.data(format!("file `{path}` lies outside the table"));
        let scanned = Scanned {
            path: local(&log.store().root, path).ok_or_else(outside)?,
            partition_values: view.partition_values_map(),
        };
        let rows = view.num_records().and_then(|rows| u64::try_from(rows).ok());
        Ok(LiveFile { path: path.to_owned(), size: view.size(), rows, stats: view.stats(), scanned })
    };
    named.into_iter().zip(&views).map(file).collect()
}

fn paths(files: &RecordBatch) -> Vec<&str> {
    let column = files.column_by_name("path").and_then(|column| column.as_string_opt::<i32>());
    column.into_iter().flat_map(|column| column.iter().flatten()).collect()
}
