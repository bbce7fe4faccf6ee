//! What the table holds now, kept up to date entry by entry: the cost is that of the new commits, not of the history
//!

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use deltalake::kernel::{Metadata, Protocol};
use deltalake::table::state::DeltaTableState;

use crate::entry::Entry;
use crate::error::Place;
use crate::log::Log;
use crate::{TableError, TableSpec, check};

#[derive(Debug)]
pub(crate) struct Tail {
    place: Arc<Place>,
    spec: Arc<TableSpec>,
    log: Log,
    /// Newest version that was read.
    version: i64,
    protocol: Protocol,
    metadata: Metadata,
    /// Newest `txn` of each application asked for; complete for the keys it has.
    transactions: BTreeMap<String, Option<i64>>,
    /// Whether something was read that we did not put ourselves, and the folder was not synced since.
    unsettled: bool,
}

impl Tail {
    /// Reads the table and compares it with its contract.
    pub(crate) async fn open(place: Arc<Place>, spec: Arc<TableSpec>, log: Log) -> Result<Self, TableError> {
        let state = log.load().await?;
        check::same(&place, &spec, state.protocol(), state.metadata())?;
        Ok(Self {
            place,
            spec,
            log,
            version: version(&state),
            protocol: state.protocol().clone(),
            metadata: state.metadata().clone(),
            transactions: BTreeMap::new(),
            unsettled: true,
        })
    }

    pub(crate) fn version(&self) -> i64 {
        self.version
    }

    pub(crate) fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    pub(crate) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Reads what was committed since; afterwards [`Tail::version`] was the newest one at some moment of this call.
    pub(crate) async fn advance(&mut self) -> Result<(), TableError> {
        while let Some(text) = self.log.read(self.version + 1).await? {
            self.take(&text)?;
            self.unsettled = true;
        }
        if self.left_behind().await? {
            self.reload(None).await?;
        }
        Ok(())
    }

    /// Whether entries may have been cleaned up before they were read: "no next entry" then does not mean "newest", and
    /// a commit put there would be seen by nobody.
    async fn left_behind(&self) -> Result<bool, TableError> {
        let checkpoint = self.log.last_checkpoint().await;
        if checkpoint.is_some_and(|version| version > self.version) {
            return Ok(true);
        }
        Ok(checkpoint != Some(self.version) && !self.log.has(self.version).await?)
    }

    /// Newest `txn` of an application, as of [`Tail::version`].
    pub(crate) async fn transaction(&mut self, app_id: &str) -> Result<Option<i64>, TableError> {
        if !self.transactions.contains_key(app_id) {
            self.reload(Some(app_id)).await?;
        }
        Ok(self.transactions.get(app_id).copied().flatten())
    }

    /// The same of an application that was asked for before.
    pub(crate) fn known_transaction(&self, app_id: &str) -> Option<i64> {
        self.transactions.get(app_id).copied().flatten()
    }

    /// Reads the whole table anew, for the applications known and one more.
    async fn reload(&mut self, app_id: Option<&str>) -> Result<(), TableError> {
        let state = self.log.load().await?;
        self.compare(state.protocol(), state.metadata())?;
        let mut apps: Vec<String> = self.transactions.keys().cloned().collect();
        apps.extend(app_id.map(str::to_string));
        let mut transactions = BTreeMap::new();
        for app in apps {
            let newest = state.transaction_version(self.log.delta(), &app).await;
            let newest = newest.map_err(|e| self.place.external("cannot read its transactions", e))?;
            transactions.insert(app, newest);
        }
        self.transactions = transactions;
        self.version = version(&state);
        self.protocol = state.protocol().clone();
        self.metadata = state.metadata().clone();
        self.unsettled = true;
        Ok(())
    }

    /// Takes the entry of the next version. On an error the version stays what it was, so that the next call meets it
    /// again.
    pub(crate) fn take(&mut self, text: &Bytes) -> Result<(), TableError> {
        let next = self.version + 1;
        let entry = Entry::parse(text)
            .map_err(|e| self.place.external(format!("version {next} of its log cannot be understood"), e))?;
        if entry.protocol.is_some() || entry.metadata.is_some() {
            let protocol = entry.protocol.unwrap_or_else(|| self.protocol.clone());
            let metadata = entry.metadata.unwrap_or_else(|| self.metadata.clone());
            self.compare(&protocol, &metadata)?;
            self.protocol = protocol;
            self.metadata = metadata;
        }
        for (app, version) in entry.transactions {
            if let Some(known) = self.transactions.get_mut(&app) {
                *known = Some(version);
            }
        }
        self.version = next;
        Ok(())
    }

    /// The table must still be the one that was opened (R-025, D-026).
    fn compare(&self, protocol: &Protocol, metadata: &Metadata) -> Result<(), TableError> {
        if metadata.id() != self.metadata.id() {
            return Err(self.place.mismatch(
                format!(
                    "the table was replaced while this host wrote to it: its id was `{}`, now it is `{}`",
                    self.metadata.id(),
                    metadata.id()
                ),
                "start the stream again after a look at who replaced the table",
            ));
        }
        check::same(&self.place, &self.spec, protocol, metadata)
    }

    /// Makes durable what was read, before anything is built on it.
    pub(crate) async fn settle(&mut self) -> Result<(), TableError> {
        if self.unsettled {
            self.log.settle().await?;
            self.unsettled = false;
        }
        Ok(())
    }
}

fn version(state: &DeltaTableState) -> i64 {
    i64::try_from(state.version()).unwrap_or(i64::MAX)
}
