//! A table whose rows change tells of that in change data (D-084), which takes a property and a writer version.

use deltalake::kernel::Protocol;
use serde_json::json;

use crate::error::Place;
use crate::log::{Log, Put};
use crate::tail::Tail;
use crate::{TableError, TableSpec, WriteMode, entry};

pub(crate) const PROPERTY: &str = "delta.enableChangeDataFeed";
/// First writer version that knows change data.
pub(crate) const WRITER: i32 = 4;
/// A table that changes under our hands so often is somebody else's.
const ATTEMPTS_MAX: u32 = 10;

/// Whether the commits of a table tell its changes. A quarantine, which rows are taken out of, has no stream below.
pub(crate) fn tells_changes(spec: &TableSpec) -> bool {
    match spec.write {
        WriteMode::Append | WriteMode::TakeOut => false,
        WriteMode::ReplacePartitions | WriteMode::Upsert { .. } | WriteMode::ReplaceGroups { .. } => true,
        WriteMode::ReplaceNamed { told, .. } => told,
    }
}

/// Lets a table tell its changes from now on, when it has to and does not yet.
pub(crate) async fn change_data(place: &Place, spec: &TableSpec, log: &Log, tail: &mut Tail) -> Result<(), TableError> {
    refuse_append_only(place, spec, tail)?;
    for _ in 0..ATTEMPTS_MAX {
        let has = tail.metadata().configuration().get(PROPERTY).is_some_and(|value| value == "true");
        if !tells_changes(spec) || has {
            return Ok(());
        }
        let failed = |e: serde_json::Error| place.external("cannot let it tell its changes", e);
        let mut metadata = serde_json::to_value(tail.metadata()).map_err(failed)?;
        metadata["configuration"][PROPERTY] = json!("true");
        let metadata = serde_json::from_value(metadata).map_err(failed)?;
        let protocol = with_change_data(tail.protocol()).map_err(failed)?;
        let token = uuid::Uuid::new_v4().to_string();
        let text = entry::tell_changes(&protocol, &metadata, &token).map_err(failed)?;
        // An unknown outcome ends the call: opened again, the table tells its changes or is tried anew.
        match log.put(tail.version() + 1, &text).await? {
            Put::Done => {
                tracing::info!(table = %spec.name, "the table tells its changes from now on (delta.enableChangeDataFeed)")
            }
            Put::Exists => tracing::debug!(table = %spec.name, "another writer was first"),
        }
        tail.advance().await?;
    }
    let what = format!("other writers were first {ATTEMPTS_MAX} times in a row");
    Err(TableError::External { table: spec.name.clone(), what, source: None })
}

/// D-034.
fn refuse_append_only(place: &Place, spec: &TableSpec, tail: &Tail) -> Result<(), TableError> {
    const APPEND_ONLY: &str = "delta.appendOnly";
    let values = [spec.properties.get(APPEND_ONLY), tail.metadata().configuration().get(APPEND_ONLY)];
    let set = values.into_iter().flatten().any(|value| value == "true");
    match spec.write {
        _ if !set => Ok(()),
        WriteMode::Append => Ok(()),
        WriteMode::ReplaceNamed { .. } => Err(place.mismatch(
            "`delta.appendOnly` is set, and a rebuild takes rows out",
            "take the property away, at least while the table is rebuilt",
        )),
        _ => Err(place.mismatch(
            "`delta.appendOnly` is set, and its write mode takes rows out",
            "write it with `append`, or take the property away",
        )),
    }
}

fn with_change_data(protocol: &Protocol) -> Result<Protocol, serde_json::Error> {
    let mut value = serde_json::to_value(protocol)?;
    if protocol.min_writer_version() >= 7 {
        let features = value["writerFeatures"].as_array_mut();
        if let Some(features) = features.filter(|features| !features.contains(&json!("changeDataFeed"))) {
            features.push(json!("changeDataFeed"));
        }
    } else {
        value["minWriterVersion"] = json!(protocol.min_writer_version().max(WRITER));
    }
    serde_json::from_value(value)
}
