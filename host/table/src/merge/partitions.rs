//! `replace_partitions`: the partitions present in the batch are replaced, the others stay (D-032, D-035).

use std::collections::HashSet;

use super::live::{Partition, normal};
use super::rewrite::{Change, Writers};
use super::{LiveFile, Merge, Rewrite, RowChanges};
use crate::{PendingFile, TableError};

impl Merge {
    pub(super) fn replace_partitions(
        &self,
        live: Vec<LiveFile>,
        files: Vec<PendingFile>,
    ) -> Result<Rewrite, TableError> {
        let present: HashSet<Partition> = files.iter().map(|file| normal(file.partition_values.clone())).collect();
        let gone: Vec<LiveFile> = live.into_iter().filter(|file| present.contains(&file.partition())).collect();
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
