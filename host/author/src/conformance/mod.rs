//! `host test --conformance`: what every host takes for granted of a component, tried on it.
//!
//! *Protocol*, for any component: it plans the same each time, refuses options that are none, and answers for every row of
//! whatever its columns may hold, however the rows are cut. *Exact*, for components named `conformance`: stages that do the
//! same in every SDK, held value by value against what this module computes.

mod compare;
mod cut;
mod exact;
mod given;
mod groups;
mod heard;
mod plan;
mod rows;
mod values;

use std::path::Path;
use std::sync::Arc;

use crisol_plugin::{CallError, Component, Sample, printable};

use crate::samples::files;
use crate::{AuthorError, Bench};

/// Components of this name are the conformance stages of an SDK.
const NAME: &str = "conformance";
/// What failing cases say is cut to so many bytes.
const SHOWN_BYTES_MAX: usize = 2_000;

/// What came of all cases.
#[derive(Debug)]
pub struct Conformance {
    /// Name of the component.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it is for.
    pub kind: String,
    /// In the order in which they ran.
    pub cases: Vec<Case>,
}

/// One thing that was tried.
#[derive(Debug)]
pub struct Case {
    /// What should be so.
    pub name: String,
    /// `Err`: what is otherwise, for people. `Ok`: it is so; maybe with a word on how.
    pub result: Result<Option<String>, String>,
}

impl Conformance {
    /// How many cases are not as they should be.
    pub fn failed(&self) -> usize {
        self.cases.iter().filter(|case| case.result.is_err()).count()
    }
}

impl Bench {
    /// Tries a component. Its columns and options are those of the samples in the files `*.json` of a folder, and where there
    /// is no folder of those that it carries.
    ///
    /// # Errors
    /// The component is refused, or a file cannot be read.
    pub fn conformance(&self, component: &Path, samples: Option<&Path>) -> Result<Conformance, AuthorError> {
        let component = self.load(component)?;
        let samples: Vec<Sample> = match samples {
            None => component.samples().to_vec(),
            Some(folder) => files(folder)?.into_iter().flat_map(|file| file.samples).collect(),
        };
        let mut suite = Suite { component, cases: Vec::new() };
        suite.protocol(&samples);
        if suite.component.name() == NAME {
            suite.exact();
        }
        let Suite { component, cases } = suite;
        Ok(Conformance {
            name: component.name().into(),
            version: component.version().to_string(),
            kind: component.kind().to_string(),
            cases,
        })
    }
}

/// A component and what came of it so far.
struct Suite {
    component: Arc<Component>,
    cases: Vec<Case>,
}

impl Suite {
    fn protocol(&mut self, samples: &[Sample]) {
        self.descriptions();
        let given = match given::of(&self.component, samples) {
            Ok(given) => given,
            Err(what) => return self.case("samples can be given", || Err(what)),
        };
        if given.is_empty() {
            let told = "no sample, so it is not known what it reads: only its description was tried";
            return self.case("samples", || Ok(Some(told.into())));
        }
        for given in given {
            self.plans(&given);
            if self.component.kind().groups() {
                self.groups(&given);
            } else {
                self.rows(&given);
            }
        }
    }

    fn case(&mut self, name: &str, run: impl FnOnce() -> Result<Option<String>, String>) {
        let result = run().map_err(|what| printable(&what, SHOWN_BYTES_MAX));
        self.cases.push(Case { name: name.into(), result });
    }

    /// A case that has nothing to say when it holds.
    fn holds(&mut self, name: &str, run: impl FnOnce() -> Result<(), String>) {
        self.case(name, || run().map(|()| None));
    }
}

/// A component may say that it cannot work; it may not break.
fn clean<T>(result: Result<T, CallError>) -> Result<Result<T, String>, String> {
    match result {
        Ok(answer) => Ok(Ok(answer)),
        Err(error @ CallError::Failure { .. }) => Ok(Err(error.to_string())),
        Err(error) => Err(error.to_string()),
    }
}
