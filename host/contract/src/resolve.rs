//! From texts to a project, or to all that is wrong with it.

use std::path::{Path, PathBuf};

use crate::check::{self, Contracts, Parsed};
use crate::keys::KeyFile;
use crate::parse;
use crate::placeholder::{Fill, KnownPaths, Lookup};
use crate::positions::Positions;
use crate::problem::{self, Code, Problem, Problems};
use crate::project::{Paths, Project};
use crate::read::{Report, Value};
use crate::settings::{self, Settings};
use crate::text::{File, absolute, shown};

/// The texts of a project's files.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    /// `crisol.toml`.
    pub settings: Option<SourceText>,
    /// Files under `ingestion/`.
    pub ingestion: Vec<SourceText>,
    /// Files under `tables/`.
    pub tables: Vec<SourceText>,
}

/// A file that was read.
#[derive(Debug, Clone)]
pub struct SourceText {
    /// Where it lies; a relative path stands on the project's folder.
    pub path: PathBuf,
    /// What it holds, as it lies there: that it is no text is a problem like any other.
    pub bytes: Vec<u8>,
}

/// A valid project, and what is worth saying about it.
#[derive(Debug)]
pub struct Resolved {
    /// The project.
    pub project: Project,
    /// What is allowed and may surprise.
    pub warnings: Vec<Problem>,
    /// Where the keys of its files stand.
    pub positions: Positions,
}

/// Reads and checks a whole project.
///
/// `dir` is the project's folder, absolute; relative paths in settings, contracts and `sets` stand on it. `sets` are
/// `--set KEY=VALUE` and win over `CRISOL__…` of the environment, which wins over `crisol.toml`.
///
/// # Errors
/// Every mistake of every file, as far as one does not hide another.
pub fn resolve(
    dir: &Path,
    texts: &Texts,
    sets: &[(String, String)],
    lookup: &dyn Lookup,
) -> Result<Resolved, Problems> {
    let report = Report::default();
    let (settings_file, settings) = read_settings(dir, texts, sets, lookup, &report);
    let fill = Fill { dir, lookup, paths: &settings.paths };
    let (ingestion_files, _) = files(dir, &texts.ingestion, KeyFile::Ingestion, &report);
    let (table_files, unread) = files(dir, &texts.tables, KeyFile::Table, &report);
    if texts.ingestion.is_empty() && texts.tables.is_empty() {
        let nothing = File::absent(dir, &dir.to_string_lossy(), KeyFile::Settings);
        let message = "there are no contracts: no JSON file under `ingestion/` or `tables/`";
        report.push(nothing.problem_at(&nothing.root.at, Code::MissingFile, message));
    }
    let mut contracts = Contracts { ingestions: Vec::new(), tables: Vec::new(), unread };
    for file in &ingestion_files {
        if let Some((contract, destination)) = parse::ingestion(&Value::root(file, &report, fill), &settings.kafka) {
            contracts.ingestions.push(Parsed { contract, file, destination });
        }
    }
    for file in &table_files {
        match parse::table(&Value::root(file, &report, fill), &settings.limits) {
            Some(contract) => contracts.tables.push(Parsed { contract, file, destination: None }),
            None => contracts.unread.push(file.path.clone()),
        }
    }
    let paths = paths(dir, &settings.paths);
    check::check(&mut contracts, &paths, settings.host_limits.total_memory_bytes_max, lookup, &report);
    let (problems, warnings) = (report.problems.take(), report.warnings.take());
    let (project, warnings) = finish(dir, paths, settings, contracts, (problems, warnings), &order(dir, texts))?;
    let files = settings_file.into_iter().chain(ingestion_files).chain(table_files).collect();
    Ok(Resolved { project, warnings, positions: Positions::new(files) })
}

/// Names of files as problems show them, in the order in which they are told.
fn order(dir: &Path, texts: &Texts) -> Vec<String> {
    let files = texts.settings.iter().chain(&texts.ingestion).chain(&texts.tables);
    files.map(|source| shown(dir, &source.path)).collect()
}

fn finish(
    dir: &Path,
    paths: Paths,
    settings: Settings,
    contracts: Contracts<'_>,
    (mut problems, mut warnings): (Vec<Problem>, Vec<Problem>),
    order: &[String],
) -> Result<(Project, Vec<Problem>), Problems> {
    problem::sort(&mut problems, order);
    problem::sort(&mut warnings, order);
    if !problems.is_empty() {
        return Err(Problems::new(problems));
    }
    let mut ingestions: Vec<_> = contracts.ingestions.into_iter().map(|parsed| parsed.contract).collect();
    ingestions.sort_by(|a, b| a.name.cmp(&b.name));
    let project = Project {
        dir: absolute(dir, ""),
        paths,
        limits: settings.limits,
        host_limits: settings.host_limits,
        handoff: settings.handoff,
        ingestions,
        tables: contracts.tables.into_iter().map(|parsed| parsed.contract).collect(),
    };
    Ok((project, warnings))
}

/// The settings, and the file that they were read from, with what the environment and `--set` change in it.
fn read_settings(
    dir: &Path,
    texts: &Texts,
    sets: &[(String, String)],
    lookup: &dyn Lookup,
    report: &Report,
) -> (Option<File>, Settings) {
    const NAME: &str = "crisol.toml";
    let mut file = match &texts.settings {
        Some(source) => {
            let parsed =
                File::parse(dir, &source.path, &source.bytes, KeyFile::Settings, &mut report.problems.borrow_mut());
            match parsed {
                Some(file) => file,
                None => return (None, stand_in(dir)),
            }
        }
        None => File::absent(dir, NAME, KeyFile::Settings),
    };
    settings::apply_overrides(&mut file.root, sets, lookup);
    let no_paths = KnownPaths::default();
    let settings = settings::read(&Value::root(&file, report, Fill { dir, lookup, paths: &no_paths }));
    (Some(file), settings)
}

/// Settings for reading on when `crisol.toml` cannot be read.
fn stand_in(dir: &Path) -> Settings {
    let path = |name: &str| Some(dir.join(format!("faulty-path-{name}")));
    let paths = KnownPaths { landing: path("landing"), checkpoint: path("checkpoint"), tables: path("tables") };
    Settings { paths, ..Settings::default() }
}

fn files(dir: &Path, texts: &[SourceText], kind: KeyFile, report: &Report) -> (Vec<File>, Vec<PathBuf>) {
    let (mut read, mut unread) = (Vec::new(), Vec::new());
    for source in texts {
        match File::parse(dir, &source.path, &source.bytes, kind, &mut report.problems.borrow_mut()) {
            Some(file) => read.push(file),
            None => unread.push(absolute(dir, &source.path.to_string_lossy())),
        }
    }
    (read, unread)
}

fn paths(dir: &Path, known: &KnownPaths) -> Paths {
    let or_dir = |path: &Option<PathBuf>| path.clone().unwrap_or_else(|| dir.to_owned());
    Paths { landing: known.landing.clone(), checkpoint: or_dir(&known.checkpoint), tables: or_dir(&known.tables) }
}
