//! `host inspect`

use std::path::Path;

use arrow_schema::SchemaRef;
use crisol::{EngineError, Fit, type_name};
use crisol_author::{AuthorError, Inspected, SampleColumns};
use serde_json::{Value, json};

use super::bench;
use crate::args::{Global, Output};
use crate::exit::Exit;
use crate::out::println;
use crate::plugins::options;
use crate::run::engine;
use crate::tables::plain;
use crate::watch::thousands;

/// Tells what a component is, and which contracts of the project it fits.
pub(super) fn inspect(global: &Global, component: &Path) -> Result<Exit, AuthorError> {
    let inspected = bench()?.inspect(component)?;
    let fits = match engine(global).fits(component) {
        Err(EngineError::NoProject { .. }) => None,
        found => Some(found),
    };
    match global.output {
        Output::Json => println!("{}", as_json(&inspected, fits.as_ref())),
        Output::Text => print(&inspected, fits.as_ref()),
    }
    Ok(Exit::Done)
}

/// Columns read and written, and what tells them: the first contract that the component fits, else a sample of its own.
fn columns<'a>(
    inspected: &'a Inspected,
    fits: Option<&'a Result<Vec<Fit>, EngineError>>,
) -> Option<(String, &'a SchemaRef, &'a SchemaRef)> {
    let fits = fits.and_then(|fits| fits.as_ref().ok()).into_iter().flatten();
    let contract = fits.filter_map(|fit| {
        let (reads, writes) = fit.columns.as_ref()?;
        Some((format!("in {}, {}", fit.table, fit.stage), reads, writes))
    });
    let sample = inspected.columns.as_ref();
    let sample =
        sample.map(|(name, SampleColumns { reads, writes })| (format!("in its sample `{name}`"), reads, writes));
    contract.chain(sample).next()
}

fn print(inspected: &Inspected, fits: Option<&Result<Vec<Fit>, EngineError>>) {
    let Inspected { name, version, kind, schema_versions, reuse, digest, size_bytes, imports, samples, .. } = inspected;
    let listed = |names: &[String]| match names {
        [] => "none".to_string(),
        names => plain(&names.join(", ")),
    };
    println!("{} {version}, {kind}", plain(name));
    println!("schema versions: {schema_versions}");
    println!("options: {}", options(inspected.options.as_ref()));
    match columns(inspected, fits) {
        Some((place, reads, writes)) => {
            println!("columns {}:", plain(&place));
            print_columns("  ", reads, writes);
        }
        None => println!("columns: they follow from options and input; no contract and no sample gives both"),
    }
    println!("instances: {}", if *reuse { "kept for up to 64 calls" } else { "a fresh one for each call" });
    println!("size: {} bytes", thousands(*size_bytes));
    println!("digest: {digest}");
    println!("imports: {}", plain(&imported(imports)));
    println!("samples: {}", listed(samples));
    match fits {
        None => {}
        Some(Ok(fits)) => print_fits(name, fits),
        Some(Err(error)) => {
            println!("contracts: cannot be looked at: {}", plain(&first_line(error)));
        }
    }
}

/// Interfaces of WASI by their number alone: they are there for the runtimes of languages, and give nothing.
fn imported(imports: &[String]) -> String {
    let (wasi, own): (Vec<&String>, Vec<&String>) = imports.iter().partition(|name| name.starts_with("wasi:"));
    let mut parts: Vec<String> = own.into_iter().cloned().collect();
    if !wasi.is_empty() {
        parts.push(format!("{} of WASI, which give no files, network, environment or clock here", wasi.len()));
    }
    if parts.is_empty() { "none".to_string() } else { parts.join(", ") }
}

fn print_columns(indent: &str, reads: &SchemaRef, writes: &SchemaRef) {
    println!("{indent}reads: {}", described(reads));
    println!("{indent}writes: {}", described(writes));
}

fn print_fits(name: &str, fits: &[Fit]) {
    if fits.is_empty() {
        println!("contracts: none of the project names `{}`", plain(name));
        return;
    }
    println!("contracts:");
    for (at, Fit { table, stage, columns, problems }) in fits.iter().enumerate() {
        let verdict = match (columns, problems.is_empty()) {
            (Some(_), _) => "fits",
            (None, true) => "its columns are known once the stream runs",
            (None, false) => "does not fit",
        };
        println!("  {table}, {}: {verdict}", plain(stage));
        for problem in problems {
            println!("    {}", plain(&problem.to_string()));
            if let Some(hint) = &problem.hint {
                println!("      {}", plain(hint));
            }
        }
        if columns.is_some() {
            println!("    a table that exists already is compared when its stream starts");
        }
        let shown = fits.iter().take(at).any(|earlier| earlier.columns == *columns);
        let first = fits.iter().position(|fit| fit.columns.is_some()) == Some(at);
        if let (Some((reads, writes)), false, false) = (columns, shown, first) {
            print_columns("    ", reads, writes);
        }
    }
}

fn described(columns: &SchemaRef) -> String {
    let one = |field: &std::sync::Arc<arrow_schema::Field>| {
        let null = if field.is_nullable() { "" } else { " not null" };
        format!("{} {}{null}", field.name(), type_text(field))
    };
    match columns.fields().is_empty() {
        true => "none".into(),
        false => plain(&columns.fields().iter().map(one).collect::<Vec<_>>().join(", ")),
    }
}

fn type_text(field: &arrow_schema::Field) -> String {
    type_name(field.data_type()).unwrap_or_else(|| field.data_type().to_string())
}

fn first_line(error: &EngineError) -> String {
    match error {
        EngineError::Contracts(problems) => {
            let count = problems.as_slice().len();
            format!("{count} problem{} in them, which `host check` tells", if count == 1 { "" } else { "s" })
        }
        error => error.to_string(),
    }
}

fn as_json(inspected: &Inspected, fits: Option<&Result<Vec<Fit>, EngineError>>) -> Value {
    let listed = |columns: &SchemaRef| {
        let one = |field: &std::sync::Arc<arrow_schema::Field>| json!({ "name": field.name(), "type": type_text(field), "nullable": field.is_nullable() });
        columns.fields().iter().map(one).collect::<Vec<_>>()
    };
    let columns = columns(inspected, fits)
        .map(|(from, reads, writes)| json!({ "from": from, "reads": listed(reads), "writes": listed(writes) }));
    let fit = |fit: &Fit| {
        let columns = fit.columns.as_ref();
        let fits = if fit.columns.is_some() { Some(true) } else { (!fit.problems.is_empty()).then_some(false) };
        json!({
            "table": fit.table, "stage": fit.stage, "fits": fits, "problems": fit.problems,
            "reads": columns.map(|(reads, _)| listed(reads)), "writes": columns.map(|(_, writes)| listed(writes)),
        })
    };
    let contracts = fits.and_then(|fits| fits.as_ref().ok()).map(|fits| fits.iter().map(fit).collect::<Vec<_>>());
    let error = fits.and_then(|fits| fits.as_ref().err()).map(first_line);
    json!({
        "schema": "crisol.inspect/v1", "component": inspected, "columns": columns, "contracts": contracts,
        "contracts_error": error,
    })
}
