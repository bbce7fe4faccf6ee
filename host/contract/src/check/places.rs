//! Folders: no two streams on one checkpoint, no table inside another.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{Contracts, Parsed};
use crate::ingestion::SourceSpec;
use crate::placeholder::Lookup;
use crate::problem::Code;
use crate::project::Paths;
use crate::read::Report;
use crate::table::{TableContract, Upstream};
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
    /// The table beside which it lies by default: what is wrong with that is said once.
    follows: Option<String>,
}

/// No folder that is written to lies in another or in a source of files, whatever links lead there.
pub(super) fn overlaps(contracts: &Contracts<'_>, paths: &Paths, lookup: &dyn Lookup, report: &Report) {
    let places: Vec<_> = places(contracts, paths).into_iter().map(|place| (lookup.real(&place.path), place)).collect();
    let mut reported: Vec<String> = Vec::new();
    for (index, (real, place)) in places.iter().enumerate() {
        if place.follows.as_ref().is_some_and(|table| reported.contains(table)) {
            continue;
        }
        let earlier = places.iter().take(index).filter(|(_, other)| !(place.is_source && other.is_source));
        for (other_real, other) in earlier {
            if let Some(how) = how_they_lie(real, other_real) {
                // What is seen without following links is told as it is written.
                let seen = how_they_lie(&place.path, &other.path).is_some();
                let shown = if seen { &other.path } else { other_real };
                let links = if seen { "" } else { ", where links lead" };
                let message = format!("{} {how} {} (`{}`{links})", place.what, other.what, shown.display());
                report.push(place.file.problem(place.key, Code::Conflict, message));
                reported.push(place.what.clone());
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
        let (file, name) = (ingestion.file, &ingestion.contract.name);
        let place = |path, what, key, is_source| Place { path, what, file, key, is_source, follows: None };
        if let SourceSpec::Files(files) = &ingestion.contract.source
            && !files.path.is_empty()
        {
            places.push(place(PathBuf::from(&files.path), format!("the files of `{name}`"), "source.path", true));
        }
        let checkpoint = ingestion.contract.checkpoint_dir(paths);
        // Checkpoints of ingestions are compared with each other by `checkpoints`, with better words.
        if !name.is_empty() && !places.iter().any(|place| place.path == checkpoint) {
            places.push(place(checkpoint, format!("the checkpoint of `{name}`"), "name", false));
        }
    }
    let mut seen: Vec<&str> = Vec::new();
    for table in &contracts.tables {
        let name = table.contract.name.as_str();
        if !name.is_empty() && !seen.contains(&name) {
            seen.push(name);
            places.extend(table_places(table, paths));
        }
    }
    places
}

fn table_places<'a>(table: &Parsed<'a, TableContract>, paths: &Paths) -> Vec<Place<'a>> {
    let (file, contract, name) = (table.file, &table.contract, &table.contract.name);
    let place = |path, what, key, is_source| Place { path, what, file, key, is_source, follows: None };
    let what = format!("the table `{name}`");
    let quarantine = PathBuf::from(&contract.quarantine_path);
    let is_default = file.root.get("quarantine").is_none();
    let mut places = vec![
        place(contract.checkpoint_dir(paths), format!("the checkpoint of `{name}`"), "name", false),
        place(PathBuf::from(&contract.path), what.clone(), "path", false),
        Place {
            follows: is_default.then_some(what),
            ..place(quarantine, format!("the quarantine of `{name}`"), "quarantine.path", false)
        },
    ];
    if let Upstream::External(path) = &contract.from {
        places.push(place(PathBuf::from(path), format!("the upstream table of `{name}`"), "from.delta", true));
    }
    places
}
