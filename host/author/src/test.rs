//! `host test`: samples through a component, and what came of each.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crisol_plugin::{Component, Difference, Limits, Sample, SampleFault};
use serde_json::Value;

use crate::samples::{SampleFile, files};
use crate::{AuthorError, Bench};

/// What came of all samples.
#[derive(Debug)]
pub struct Report {
    /// Name of the component.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it is for.
    pub kind: String,
    /// Samples in the order of files, and in each of its own.
    pub results: Vec<SampleResult>,
    /// Files that were written anew.
    pub updated: Vec<PathBuf>,
}

/// What came of one sample.
#[derive(Debug)]
pub struct SampleResult {
    /// Where it stands; `None`: in the component.
    pub file: Option<PathBuf>,
    /// What it is called.
    pub name: String,
    /// What came of it.
    pub verdict: Verdict,
}

/// Whether a sample holds.
#[derive(Debug)]
pub enum Verdict {
    /// It does.
    Holds,
    /// It did not, and now says what comes.
    Updated,
    /// Something else came out.
    Differs(Vec<Difference>),
    /// It cannot be run, or the component failed on it: text for people.
    Fails(String),
}

impl Report {
    /// How many samples do not hold.
    pub fn failed(&self) -> usize {
        self.results.iter().filter(|result| matches!(result.verdict, Verdict::Differs(_) | Verdict::Fails(_))).count()
    }
}

impl Bench {
    /// Runs the samples in the files `*.json` of a folder, and where there is no folder those that the component carries. With
    /// `update`, samples that differ are written anew, with what comes.
    ///
    /// # Errors
    /// The component is refused, or a file cannot be read or written. Samples that a component carries cannot be written.
    pub fn test(&self, component: &Path, samples: Option<&Path>, update: bool) -> Result<Report, AuthorError> {
        let component = self.load(component)?;
        let mut report = Report {
            name: component.name().into(),
            version: component.version().to_string(),
            kind: component.kind().to_string(),
            results: Vec::new(),
            updated: Vec::new(),
        };
        let Some(folder) = samples else {
            if update {
                return Err(AuthorError::Carried);
            }
            let run = |sample: &Sample| result(None, sample, verdict(sample, &component));
            report.results = component.samples().iter().map(run).collect();
            return Ok(report);
        };
        for file in files(folder)? {
            let results: Vec<SampleResult> = file
                .samples
                .iter()
                .map(|sample| result(Some(file.path.clone()), sample, verdict(sample, &component)))
                .collect();
            report.results.extend(if update {
                rewritten(&file, results, &component, &mut report.updated)?
            } else {
                results
            });
        }
        Ok(report)
    }
}

fn result(file: Option<PathBuf>, sample: &Sample, verdict: Verdict) -> SampleResult {
    SampleResult { file, name: sample.name.clone(), verdict }
}

fn verdict(sample: &Sample, component: &Arc<Component>) -> Verdict {
    match sample.run(component, &Limits::default()) {
        Ok(()) => Verdict::Holds,
        Err(SampleFault::Differs(differences)) => Verdict::Differs(differences),
        Err(fault) => Verdict::Fails(fault.to_string()),
    }
}

/// Writes what comes into the samples of a file that differ; all else in it stays as it is.
fn rewritten(
    file: &SampleFile,
    mut results: Vec<SampleResult>,
    component: &Arc<Component>,
    updated: &mut Vec<PathBuf>,
) -> Result<Vec<SampleResult>, AuthorError> {
    let wrong = |what: String| AuthorError::Samples { path: file.path.clone(), what };
    let mut written: Value = serde_json::from_str(&file.text)
        .map_err(|error| wrong(format!("`--update` needs one object or one list in a file: {error}")))?;
    let mut changed = false;
    for (at, (result, sample)) in results.iter_mut().zip(&file.samples).enumerate() {
        if !matches!(result.verdict, Verdict::Differs(_)) {
            continue;
        }
        let expect = sample.come(component, &Limits::default()).map_err(|fault| wrong(fault.to_string()))?;
        let place = if written.is_array() { written.get_mut(at) } else { Some(&mut written) };
        if let Some(place) = place.and_then(|sample| sample.get_mut("expect")) {
            *place = expect.to_json();
            (result.verdict, changed) = (Verdict::Updated, true);
        }
    }
    if changed {
        let text = serde_json::to_string_pretty(&written).map_err(|error| wrong(error.to_string()))?;
        fs::write(&file.path, text + "\n").map_err(AuthorError::io(&file.path))?;
        updated.push(file.path.clone());
    }
    Ok(results)
}
