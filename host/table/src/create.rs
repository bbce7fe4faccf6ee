//! Creating a table from its contract: version 0 is put by us, once, and nobody's `metaData` is ever put over another's
//! (R-025, R-033, D-071).

use std::collections::BTreeMap;

use deltalake::kernel::{Metadata, MetadataExt, Protocol, new_metadata};
use serde_json::json;

use crate::check;
use crate::error::Place;
use crate::log::{Log, Put};
use crate::{TableError, TableSpec, entry, upgrade};

/// What the host sets on every table: Spark's checkpoint interval, and no clean-up of the log on the side
/// (T-129).
pub(crate) const ALWAYS: [(&str, &str); 2] =
    [("delta.checkpointInterval", "10"), ("delta.enableExpiredLogCleanup", "false")];

/// Properties that a contract may set: those that need no table feature and that nothing we write disagrees with.
const ALLOWED: [&str; 7] = [
    "delta.appendOnly",
    "delta.checkpoint.writeStatsAsJson",
    "delta.checkpoint.writeStatsAsStruct",
    "delta.dataSkippingNumIndexedCols",
    "delta.deletedFileRetentionDuration",
    "delta.logRetentionDuration",
    "delta.targetFileSize",
];

/// Creates the table and gives its id; `None` when somebody else created one meanwhile.
pub(crate) async fn create(place: &Place, spec: &TableSpec, log: &Log) -> Result<Option<String>, TableError> {
    let (protocol, metadata) = actions(place, spec)?;
    refuse_occupied(place, log).await?;
    let token = uuid::Uuid::new_v4().to_string();
    let text = entry::create(&protocol, &metadata, &token).map_err(|e| place.external("cannot write entry 0", e))?;
    match log.put(0, &text).await {
        Ok(Put::Done) => Ok(Some(metadata.id().to_string())),
        Ok(Put::Exists) => Ok(None),
        // Unknown: perhaps it landed. What is there is read and compared before anything else is written.
        Err(e) => {
            if log.exists().await? {
                Ok(None)
            } else {
                Err(e)
            }
        }
    }
}

fn actions(place: &Place, spec: &TableSpec) -> Result<(Protocol, Metadata), TableError> {
    let schema = check::delta_schema(place, spec)?;
    let properties = properties(place, spec)?;
    let failed = |e: serde_json::Error| place.external("cannot describe it", e);
    let writer = if upgrade::tells_changes(spec) { upgrade::WRITER } else { 2 };
    let protocol =
        serde_json::from_value(json!({"minReaderVersion": 1, "minWriterVersion": writer})).map_err(failed)?;
    let metadata = new_metadata(&schema, &spec.partition_by, &properties)
        .and_then(|metadata| metadata.with_name(spec.name.clone()))
        .map_err(|e| place.external("cannot describe it", e))?;
    Ok((protocol, metadata))
}

fn properties(place: &Place, spec: &TableSpec) -> Result<BTreeMap<String, String>, TableError> {
    let mut properties = spec.properties.clone();
    for (name, value) in &spec.properties {
        let always = ALWAYS.iter().find(|(key, _)| key == name);
        let refused = match always {
            Some((_, fixed)) => (value != fixed).then(|| format!("is always `{fixed}` here")),
            None if name == "delta.isolationLevel" => (value != "Serializable")
                .then(|| "must be `Serializable`, or open-source Spark refuses the table".into()),
            None if name == "delta.setTransactionRetentionDuration" => {
                Some("would make the table forget which batches it holds, and a batch could land twice".into())
            }
            None => (name.starts_with("delta.") && !ALLOWED.contains(&name.as_str()))
                .then(|| "needs a table feature that this host does not write, or is not known".into()),
        };
        if let Some(why) = refused {
            return Err(place.mismatch(
                format!("property `{name}` = `{value}` {why}"),
                format!("properties that may be set: {}, and names outside `delta.`", ALLOWED.join(", ")),
            ));
        }
    }
    if upgrade::tells_changes(spec) {
        properties.insert(upgrade::PROPERTY.to_string(), "true".to_string());
    }
    properties.extend(ALWAYS.map(|(key, value)| (key.to_string(), value.to_string())));
    Ok(properties)
}

/// A folder that holds something else is never turned into a table. Names that start with a dot do not count.
async fn refuse_occupied(place: &Place, log: &Log) -> Result<(), TableError> {
    let failed = |e| place.external(format!("cannot list `{}`", place.path), e);
    let found = log.store().object.list_with_delimiter(None).await.map_err(failed)?;
    let folders = found.common_prefixes.into_iter();
    let files = found.objects.into_iter().map(|object| object.location);
    let other = folders.chain(files).find(|path| {
        let name = path.filename().unwrap_or_default();
        name != "_delta_log" && !name.starts_with('.')
    });
    match other {
        None => Ok(()),
        Some(other) => Err(place.mismatch(
            format!("the folder is not empty and holds no Delta table (found `{other}`)"),
            "give the table another `path`, or empty the folder",
        )),
    }
}
