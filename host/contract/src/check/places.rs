//! Folders: no two streams on one checkpoint, no table inside another.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::Contracts;
use crate::ingestion::SourceSpec;
use crate::problem::Code;
use crate::project::Paths;
use crate::read::Report;
use crate::table::Upstream;
use crate::text::File;

/// C-043: each stream has a checkpoint of its own. Equal names are reported elsewhere.
pub(super) fn checkpoints(contracts: &Contracts<'_>, paths: &Paths, report: &Report) {
    let mut seen: HashMap<PathBuf, &str> = HashMap::new();
    for ingestion in contracts.ingestions.iter().filter(|ingestion| !ingestion.contract.name.is_empty()) {
        let folder = ingestion.contract.checkpoint_dir(paths);
        match seen.get(&folder) {
            Some(first) if *first != ingestion.contract.name => {
                let message = format!("the checkpoint of this stream would be that of `{first}`");
                let key = if ingestion.contract.checkpoint_suffix.is_empty() { "name" } else { "checkpoint_suffix" };
                let hint = "choose another suffix: a checkpoint belongs to one stream";
                report.push(ingestion.problem(key, Code::Conflict, message).hinting(hint));
            }
            Some(_) => {}
            None => {
                seen.insert(folder, &ingestion.contract.name);
            }
        }
    }
}

/// A folder that something of the project owns.
struct Place<'a> {
    path: PathBuf,
    what: String,
    file: &'a File,
    key: &'static str,
    is_source: bool,
}

/// No folder that is written to lies in another or in a source of files.
pub(super) fn overlaps(contracts: &Contracts<'_>, paths: &Paths, report: &Report) {
    let places = places(contracts, paths);
    for (index, place) in places.iter().enumerate() {
        let earlier = places.iter().take(index).filter(|other| !(place.is_source && other.is_source));
        for other in earlier {
            if let Some(how) = how_they_lie(&place.path, &other.path) {
                let message = format!("{} {how} {} (`{}`)", place.what, other.what, other.path.display());
                report.push(place.file.problem(place.key, Code::Conflict, message));
                break;
            }
        }
    }
}

fn how_they_lie(place: &Path, other: &Path) -> Option<&'static str> {
    if place == other {
        Some("would lie in the same folder as")
    } else if place.starts_with(other) {
        Some("would lie inside")
    } else if other.starts_with(place) {
        Some("would lie around")
    } else {
        None
    }
}

fn places<'a>(contracts: &Contracts<'a>, paths: &Paths) -> Vec<Place<'a>> {
    let mut places = Vec::new();
    for ingestion in &contracts.ingestions {
        let file = ingestion.file;
        let name = &ingestion.contract.name;
        if let SourceSpec::Files(files) = &ingestion.contract.source
            && !files.path.is_empty()
        {
            let (path, what) = (PathBuf::from(&files.path), format!("the files of `{name}`"));
            places.push(Place { path, what, file, key: "source.path", is_source: true });
        }
        if !name.is_empty() {
            // Two of these are compared by `checkpoints`, with better words.
            let (path, what) = (ingestion.contract.checkpoint_dir(paths), format!("the checkpoint of `{name}`"));
            if !places.iter().any(|place: &Place<'_>| place.path == path) {
                places.push(Place { path, what, file, key: "name", is_source: false });
            }
        }
    }
    let mut seen: Vec<&str> = Vec::new();
    for table in contracts.tables.iter().filter(|table| !table.contract.name.is_empty()) {
        let (file, contract) = (table.file, &table.contract);
        if seen.contains(&contract.name.as_str()) {
            continue;
        }
        seen.push(&contract.name);
        let name = &contract.name;
        let mut add = |path: PathBuf, what: String, key| {
            places.push(Place { path, what, file, key, is_source: false });
        };
        add(contract.checkpoint_dir(paths), format!("the checkpoint of `{name}`"), "name");
        add(PathBuf::from(&contract.path), format!("the table `{name}`"), "path");
        add(PathBuf::from(&contract.quarantine_path), format!("the quarantine of `{name}`"), "quarantine.path");
        if let Upstream::External(path) = &contract.from {
            let (path, what) = (PathBuf::from(path), format!("the upstream table of `{name}`"));
            places.push(Place { path, what, file, key: "from.delta", is_source: true });
        }
    }
    places
}
