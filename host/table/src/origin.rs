//! Which stream wrote each file of a table, and when, as far as the log still says so.

use std::collections::HashMap;

use crate::{Table, TableError, entry};

/// Where a file comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// `None`: another engine wrote it.
    pub(crate) stream: Option<String>,
    /// Version that added it, and its place among the files of that version.
    pub(crate) at: (i64, usize),
}

impl Table {
    /// Origins of the files added up to a version, by their paths as the log has them. Reads the whole log.
    pub(crate) async fn origins(&self, newest: i64) -> Result<HashMap<String, Origin>, TableError> {
        let mut origins = HashMap::new();
        for version in 1..=newest {
            let Some(text) = self.log().read(version).await? else { continue };
            let failed = |e| self.place().external(format!("version {version} of its log cannot be understood"), e);
            let stream = entry::Entry::parse(&text).map_err(failed)?.stream;
            let added = entry::added_paths(&text).map_err(failed)?;
            let origin = |index| Origin { stream: stream.clone(), at: (version, index) };
            origins.extend(added.into_iter().enumerate().map(|(index, path)| (path, origin(index))));
        }
        Ok(origins)
    }
}
