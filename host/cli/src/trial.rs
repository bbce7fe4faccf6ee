//! `host try`: a component on rows of a real table, beside what serves now.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use crisol::{Build, Cost, Difference, Differences, EngineError, Reason, Trial, Tried};

use crate::args::{Global, Output};
use crate::completions;
use crate::exit::Exit;
use crate::out::println;
use crate::plugins::short;
use crate::run::engine;
use crate::tables::{number, plain, table};
use crate::watch::thousands;

pub(crate) const HELP: &str = "\
The newest rows of the table above are taken through the stages of the contract, once with the component in its place and once
with what serves now. No table, checkpoint or quarantine is touched, and a host may run beside it.

Examples:
  host try build/orders.wasm --contract silver.orders
  host try build/top-n.wasm --contract gold.top_orders --rows 20000 -o json";

/// Longest value that is shown, in characters.
const VALUE_CHARS_MAX: usize = 160;
/// Differences that are shown; `-o json` has more.
const SHOWN_MAX: usize = 5;

/// `host try`
#[derive(Debug, Args)]
pub(crate) struct Try {
    /// The component
    #[arg(value_name = "FILE", add = completions::component_files())]
    component: PathBuf,
    /// Name of the table whose stages ask for it, `silver.orders`
    #[arg(long, value_name = "TABLE", add = completions::tables())]
    contract: String,
    /// How many rows at most
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rows: u32,
}

/// Tries the component.
pub(crate) async fn trial(global: &Global, asked: &Try) -> Result<Exit, EngineError> {
    let trial = engine(global).trial(&asked.component, &asked.contract, asked.rows as usize).await?;
    match global.output {
        Output::Json => println!("{}", json(&trial)?),
        Output::Text => print(&trial),
    }
    Ok(if trial.new.error.is_some() { Exit::No } else { Exit::Done })
}

fn json(trial: &Trial) -> Result<serde_json::Value, EngineError> {
    let mut written = serde_json::to_value(trial).map_err(EngineError::internal)?;
    written["schema"] = "crisol.try/v1".into();
    Ok(written)
}

fn print(trial: &Trial) {
    let Trial { table: name, component, stages, upstream, rows, .. } = trial;
    let stages = plain(&stages.join(", "));
    println!("{} in {name}, {stages}: {} rows of {upstream}; nothing was written", plain(component), thousands(*rows));
    if trial.groups_of_these_rows {
        println!("groups are made of these rows alone: they may be parts of the groups of the table");
    }
    print_both(&trial.new, trial.serving.as_ref());
    if let Some(why) = &trial.not_serving {
        println!("nothing serves now: {}", plain(why));
    }
    let serving = trial.serving.as_ref();
    print_reasons("refused", &trial.new.rejected, serving.map(|serving| serving.rejected.as_slice()));
    print_reasons("filtered", &trial.new.filtered, serving.map(|serving| serving.filtered.as_slice()));
    for (who, tried) in [("it", Some(&trial.new)), ("what serves now", serving)] {
        if let Some(error) = tried.and_then(|tried| tried.error.as_ref()) {
            println!("{who} failed: {}", plain(error));
        }
    }
    if let Some(columns) = &trial.columns {
        println!("other columns come out:\n{columns}");
    }
    if let Some(differences) = &trial.differences {
        print_differences(trial, differences);
    }
}

/// What came of the rows, side by side.
fn print_both(new: &Tried, serving: Option<&Tried>) {
    let both: Vec<&Tried> = [new].into_iter().chain(serving).collect();
    let mut shown = table(if serving.is_some() { &["", "new", "serves now"] } else { &["", "new"] });
    let mut line = |what: &str, value: &dyn Fn(&Tried) -> String| {
        shown.add_row([what.to_owned()].into_iter().chain(both.iter().map(|tried| value(tried))));
    };
    line("build", &|tried| tried.builds.iter().map(build).collect::<Vec<_>>().join(", "));
    if new.groups.is_some() {
        line("groups", &|tried| tried.groups.map(thousands).unwrap_or_default());
    }
    line("rows out", &|tried| thousands(tried.rows_out));
    line("refused", &|tried| thousands(count(&tried.rejected)));
    line("filtered", &|tried| thousands(count(&tried.filtered)));
    line("time per row", &|tried| time(&tried.cost));
    line("peak memory", &|tried| format!("{:.1} MiB", tried.cost.memory_bytes as f64 / f64::from(1 << 20)));
    println!("{shown}");
}

fn build(build: &Build) -> String {
    format!("{} {}", build.version, short(&build.digest))
}

fn count(reasons: &[Reason]) -> u64 {
    reasons.iter().map(|reason| reason.rows).sum()
}

/// Of the rows that the component was given.
fn time(cost: &Cost) -> String {
    match cost.nanoseconds_per_row {
        Some(nanoseconds) => format!("{:.2} µs", nanoseconds as f64 / 1_000.0),
        None => "-".into(),
    }
}

/// Reasons of both, with an example each.
fn print_reasons(what: &str, new: &[Reason], serving: Option<&[Reason]>) {
    let mut all: BTreeMap<&str, (u64, u64, &str)> = BTreeMap::new();
    for reason in serving.into_iter().flatten() {
        all.insert(&reason.code, (0, reason.rows, &reason.example));
    }
    for reason in new {
        let entry = all.entry(&reason.code).or_default();
        (entry.0, entry.2) = (reason.rows, &reason.example);
    }
    if all.is_empty() {
        return;
    }
    let mut shown = table(&[what, "new", "serves now", "for example"]);
    for (code, (rows, before, example)) in all {
        let before = if serving.is_some() { number(before) } else { "-".into() };
        shown.add_row([plain(code).into(), number(rows), before, cut(example).into()]);
    }
    println!("{shown}");
}

fn print_differences(trial: &Trial, differences: &Differences) {
    let unit = if trial.groups_of_these_rows { "groups" } else { "rows" };
    if differences.count == 0 {
        println!("no differences: the same became of all {unit}");
        return;
    }
    let of = if trial.groups_of_these_rows { String::new() } else { format!(" of {}", thousands(trial.rows)) };
    println!("differences: {}{of} {unit}; the first:", thousands(differences.count));
    let mut shown = table(&["of", "column", "serves now", "new"]);
    for Difference { place, changes } in differences.first.iter().take(SHOWN_MAX) {
        for change in changes {
            let column = change.column.as_deref().unwrap_or("-");
            shown.add_row([plain(place), plain(column), cut(&change.serving), cut(&change.new)]);
        }
    }
    println!("{shown}");
}

fn cut(text: &str) -> String {
    let text = plain(text);
    if text.chars().count() <= VALUE_CHARS_MAX {
        return text;
    }
    text.chars().take(VALUE_CHARS_MAX - 1).chain(['…']).collect()
}
