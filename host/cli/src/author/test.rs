//! `host test`

use crisol_author::{AuthorError, Profile, Project, Report, SampleResult, Verdict};
use serde_json::{Value, json};

use super::{Subject, bench};
use crate::args::{Global, Output, Test};
use crate::exit::Exit;
use crate::out::println;
use crate::tables::{plain, table};

/// Runs the samples of a plugin, which is built first, or of a component.
pub(super) fn test(global: &Global, test: &Test) -> Result<Exit, AuthorError> {
    if let Some(folder) = &test.samples {
        // Of a plugin they may be missing; those that are asked for may not.
        std::fs::read_dir(folder).map_err(|source| AuthorError::Io { path: folder.clone(), source })?;
    }
    let (report, project) = match Subject::of(&test.subject)? {
        Subject::Component(component) => (bench()?.test(component, test.samples.as_deref(), test.update)?, None),
        Subject::Plugin(project) => {
            let built = crisol_author::build(&project, Profile::Release)?;
            let samples = test.samples.clone().unwrap_or_else(|| project.samples());
            (bench()?.test(&built.path, Some(&samples), test.update)?, Some(project))
        }
    };
    match global.output {
        Output::Json => println!("{}", as_json(&report)),
        Output::Text => print(&report, project.as_ref()),
    }
    Ok(if report.failed() == 0 { Exit::Done } else { Exit::No })
}

/// What came of the samples of a component, or of the plugin of a project.
pub(super) fn print(report: &Report, project: Option<&Project>) {
    for SampleResult { name, verdict, .. } in &report.results {
        let name = plain(name);
        match verdict {
            Verdict::Holds => println!("ok    {name}"),
            Verdict::Updated => println!("new   {name}"),
            Verdict::Fails(why) => println!("FAIL  {name}\n      it {}", plain(why)),
            Verdict::Differs(differences) => {
                println!("FAIL  {name}");
                let mut shown = table(&["where", "expected", "got"]);
                for difference in differences {
                    shown.add_row([&difference.place, &difference.expected, &difference.got].map(|text| plain(text)));
                }
                println!("{shown}");
            }
        }
    }
    for file in &report.updated {
        println!("written anew: {}", plain(&file.to_string_lossy()));
    }
    let Report { name, version, kind, results, .. } = report;
    let failed = report.failed();
    let samples = match results.len() {
        0 => "no samples: there is nothing that could fail".into(),
        all => format!("{} of {all} samples hold", all - failed),
    };
    let article = if kind.starts_with('a') { "an" } else { "a" };
    println!("{} {version}, {article} {kind}: {samples}", plain(name));
    if let Some(project) = project.filter(|project| project.name != *name) {
        let (name, project) = (plain(name), plain(&project.name));
        println!("its source calls it `{name}`, plugin.toml `{project}`: contracts name it `{name}`");
    }
}

pub(super) fn as_json(report: &Report) -> Value {
    let result = |result: &SampleResult| {
        let (state, differences, error) = match &result.verdict {
            Verdict::Holds => ("ok", Vec::new(), None),
            Verdict::Updated => ("updated", Vec::new(), None),
            Verdict::Fails(why) => ("failed", Vec::new(), Some(why)),
            Verdict::Differs(differences) => {
                let one =
                    |d: &crisol_author::Difference| json!({ "where": d.place, "expected": d.expected, "got": d.got });
                ("failed", differences.iter().map(one).collect(), None)
            }
        };
        json!({ "name": result.name, "file": result.file, "state": state, "differences": differences, "error": error })
    };
    let Report { name, version, kind, results, updated } = report;
    json!({
        "schema": "crisol.test/v1", "component": name, "version": version, "kind": kind,
        "samples": results.iter().map(result).collect::<Vec<_>>(), "failed": report.failed(), "updated": updated,
    })
}
