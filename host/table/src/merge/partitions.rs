//! `replace_partitions`: the partitions present in the batch are replaced, the others stay (D-032, D-035).

use std::collections::{BTreeMap, HashSet};

use super::rewrite::{Change, Writers};
use super::{LiveFile, Merge, Rewrite, RowChanges};
use crate::{PendingFile, TableError};

type Partition = BTreeMap<String, Option<String>>;

impl Merge {
    pub(super) fn replace_partitions(
        &self,
        live: Vec<LiveFile>,
        files: Vec<PendingFile>,
    ) -> Result<Rewrite, TableError> {
        let present: HashSet<Partition> = files.iter().map(|file| normal(file.partition_values.clone())).collect();
        let gone: Vec<LiveFile> = live
            .into_iter()
            .filter(|file| present.contains(&normal(file.partition_values().clone().into_iter().collect())))
            .collect();
        let mut writers = Writers::new(self, !gone.is_empty())?;
        for file in &gone {
            writers.replace(file, |_| Some(Change::Delete))?;
        }
        for file in files.iter().filter(|_| !gone.is_empty()) {
            for rows in self.rows(file, &self.spec.schema)? {
                writers.tell(&rows?, Change::Insert)?;
            }
        }
        let rewrite = writers.finish(RowChanges::default())?;
        Ok(Rewrite { adds: files, ..rewrite })
    }
}

/// The protocol writes null as the empty string, too.
fn normal(values: Partition) -> Partition {
    values.into_iter().map(|(name, value)| (name, value.filter(|text| !text.is_empty()))).collect()
}
