//! `host test --conformance`

use crisol_author::{AuthorError, Case, Conformance, Profile};
use serde_json::{Value, json};

use super::{Subject, bench};
use crate::args::{Global, Output, Test};
use crate::exit::Exit;
use crate::out::println;
use crate::tables::plain;

/// Tries a plugin, which is built first, or a component.
pub(super) fn conformance(global: &Global, test: &Test) -> Result<Exit, AuthorError> {
    if let Some(folder) = &test.samples {
        std::fs::read_dir(folder).map_err(|source| AuthorError::Io { path: folder.clone(), source })?;
    }
    let report = match Subject::of(&test.subject)? {
        Subject::Component(component) => bench()?.conformance(component, test.samples.as_deref())?,
        Subject::Plugin(project) => {
            let built = crisol_author::build(&project, Profile::Release)?;
            let samples = test.samples.clone().unwrap_or_else(|| project.samples());
            bench()?.conformance(&built.path, Some(&samples))?
        }
    };
    match global.output {
        Output::Json => println!("{}", as_json(&report)),
        Output::Text => print(&report),
    }
    Ok(if report.failed() == 0 { Exit::Done } else { Exit::No })
}

fn print(report: &Conformance) {
    let Conformance { name, version, kind, cases } = report;
    for Case { name, result } in cases {
        let name = plain(name);
        match result {
            Ok(None) => println!("ok    {name}"),
            Ok(Some(how)) => println!("ok    {name} ({})", plain(how)),
            Err(what) => println!("FAIL  {name}\n      {}", plain(what)),
        }
    }
    let (all, failed) = (cases.len(), report.failed());
    let article = if kind == "aggregator" { "an" } else { "a" };
    println!("{} {version}, {article} {kind}: {} of {all} cases hold", plain(name), all - failed);
}

fn as_json(report: &Conformance) -> Value {
    let case = |case: &Case| match &case.result {
        Ok(how) => json!({ "name": case.name, "state": "ok", "note": how, "error": null }),
        Err(what) => json!({ "name": case.name, "state": "failed", "note": null, "error": what }),
    };
    let Conformance { name, version, kind, cases } = report;
    json!({
        "schema": "crisol.conformance/v1", "component": name, "version": version, "kind": kind,
        "cases": cases.iter().map(case).collect::<Vec<_>>(), "failed": report.failed(),
    })
}
