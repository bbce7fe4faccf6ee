//! Files written anew, as one.

use std::sync::Arc;

use super::plan::Group;
use crate::error::Place;
use crate::files::{Files, Layout};
use crate::{FileWriter, PendingFile, TableError};

/// A group, and the files in its place: durable, of no commit yet, with the same rows in the same order.
#[derive(Debug)]
pub(super) struct Rewritten {
    pub(super) group: Group,
    pub(super) adds: Vec<PendingFile>,
}

/// Where new files end: files of another writer may take more room here, and a rest in a second file would be small again.
pub(super) fn file_bytes(target_bytes: u64) -> usize {
    usize::try_from(target_bytes.saturating_mul(2)).unwrap_or(usize::MAX)
}

/// Writes groups anew; leaves out those that do not come to fewer files, and those without rows: an entry that only takes
/// out files tells of a table that was emptied.
pub(super) async fn groups(
    place: &Arc<Place>,
    layout: &Arc<Layout>,
    groups: Vec<Group>,
) -> Result<Vec<Rewritten>, TableError> {
    let (at, new) = (place.clone(), layout.clone());
    let work = tokio::task::spawn_blocking(move || {
        groups.into_iter().map(|group| rewrite(&at, &new, group)).collect::<Result<Vec<_>, _>>()
    });
    let all = work.await.map_err(|e| failed(place, e))??;
    let mut fewer = Vec::with_capacity(all.len());
    for rewritten in all {
        if (1..rewritten.group.files.len()).contains(&rewritten.adds.len()) {
            fewer.push(rewritten);
        } else {
            layout.discard(&rewritten.adds).await;
        }
    }
    Ok(fewer)
}

fn rewrite(place: &Place, layout: &Arc<Layout>, group: Group) -> Result<Rewritten, TableError> {
    let mut files = Box::new(Files::new(layout.clone())?);
    let mut read = 0;
    for file in &group.files {
        let before = read;
        for rows in file.scanned.rows(&layout.schema()).map_err(|e| failed(place, e))? {
            let rows = rows.map_err(|e| failed(place, e))?;
            files.write(&rows)?;
            read += rows.num_rows() as u64;
        }
        let found = read - before;
        if let Some(said) = file.rows.filter(|said| *said != found) {
            return Err(failed(place, format!("file `{}` holds {found} rows, the log says {said}", file.path)));
        }
    }
    let adds = files.finish()?;
    let written: u64 = adds.iter().map(|file| file.rows).sum();
    if written != read {
        return Err(failed(place, format!("{written} rows were written of {read} that were read")));
    }
    Ok(Rewritten { group, adds })
}

fn failed(place: &Place, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> TableError {
    place.external(format!("cannot put its small files together in `{}`", place.path), source)
}
