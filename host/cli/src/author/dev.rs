//! `host dev`

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crisol_author::{AuthorError, Bench, Profile, Project, Watch};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::{bench, refuse, test};
use crate::args::{Global, Output};
use crate::exit::Exit;
use crate::out::println;
use crate::tables::plain;

/// Builds, tests and places a plugin, and again after each change, until it is stopped.
pub(super) fn dev(global: &Global, folder: &Path) -> Result<Exit, AuthorError> {
    for signal in [SIGINT, SIGTERM] {
        // What was asked for is done whenever it is stopped.
        let stop = signal_hook::flag::register_conditional_shutdown(signal, 0, Arc::new(AtomicBool::new(true)));
        stop.map_err(|source| AuthorError::Io { path: folder.into(), source })?;
    }
    Project::open(folder)?;
    let (bench, into) = (bench()?, destination(global)?);
    if global.output == Output::Text {
        match &into {
            Some(into) => println!("builds whose samples hold go into {}", plain(&into.to_string_lossy())),
            None => println!("builds go nowhere: neither --project nor --plugins names a folder"),
        }
    }
    let mut watch = Watch::new(folder)?;
    loop {
        if let Err(error) = cycle(global, folder, into.as_deref(), &bench) {
            refuse(&error, global.output);
        }
        if global.output == Output::Text {
            println!("waiting for a change in {}", plain(&folder.to_string_lossy()));
        }
        watch.changed()?;
        if global.output == Output::Text {
            println!("it has changed: building and testing it …");
        }
    }
}

/// The folder of the components of a project, if there is one.
fn destination(global: &Global) -> Result<Option<PathBuf>, AuthorError> {
    let folder = match &global.plugins {
        Some(folder) => folder.clone(),
        None if global.project.join("crisol.toml").is_file() => global.project.join("plugins"),
        None => return Ok(None),
    };
    std::fs::read_dir(&folder).map_err(|source| AuthorError::Io { path: folder.clone(), source })?;
    Ok(Some(folder))
}

fn cycle(global: &Global, folder: &Path, into: Option<&Path>, bench: &Bench) -> Result<(), AuthorError> {
    let project = Project::open(folder)?;
    let start = Instant::now();
    let built = crisol_author::build(&project, Profile::Dev)?;
    let build_seconds = start.elapsed().as_secs_f64();
    let report = bench.test(&built.path, Some(&project.samples()), false)?;
    let holds = report.failed() == 0;
    let placed = into.filter(|_| holds).map(|folder| bench.place(&project, folder)).transpose()?;
    let seconds = start.elapsed().as_secs_f64();
    if global.output == Output::Json {
        let place = placed.as_ref().map(|(place, _)| place);
        let report = test::as_json(&report);
        println!(
            "{}",
            json!({ "schema": "crisol.dev/v1", "build_seconds": build_seconds, "seconds": seconds, "test": report, "placed": place })
        );
        return Ok(());
    }
    test::print(&report, Some(&project));
    let place = match placed {
        Some((place, true)) => format!(
            "{}: a host that runs takes it at its next batch, or refuses it: `host plugins` tells",
            plain(&place.to_string_lossy())
        ),
        Some((place, false)) => format!("{}: as before", plain(&place.to_string_lossy())),
        None if holds => "put nowhere".into(),
        None => "put nowhere: its samples do not hold".into(),
    };
    println!("{place} ({build_seconds:.1} s to build, {seconds:.1} s in all)");
    Ok(())
}
