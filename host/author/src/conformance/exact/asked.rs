//! Log lines, failures and traps on demand, and options that are refused.

use std::sync::Arc;

use arrow_array::RecordBatch;
use crisol_plugin::{CallError, Component};
use serde_json::{Value, json};
use tracing::Level;

use super::{NOW_US, input, options, told};
use crate::Kind;
use crate::conformance::Suite;
use crate::conformance::given::limits;
use crate::conformance::groups::{Grouped, whole};
use crate::conformance::heard::{Line, heard};
use crate::conformance::plan::refused;
use crate::conformance::values::{self, Choice};

const LINE: &str = "hello from the batch: pa\u{ed}s \u{6771}\u{4eac} \u{1f600}";

impl Suite {
    pub(super) fn asked(&mut self) {
        let component = self.component.clone();
        let run = |written: Value| heard(|| work(&component, written));
        self.holds("exact: a line for the log arrives, once, as info", || {
            let (result, lines) = run(json!({ "log": LINE }));
            result?.map_err(told)?;
            let own: Vec<&Line> = lines.iter().filter(|(_, text)| text == LINE).collect();
            match &own[..] {
                [(level, _)] if *level == Level::INFO => Ok(()),
                _ => Err(format!("the lines were {lines:?}")),
            }
        });
        let places: &[&str] = if component.kind().groups() { &["open", "push", "finish"] } else { &["open", "push"] };
        for place in places {
            self.holds(&format!("exact: it fails in {place}"), || failed(run(json!({ "fail": place })).0?, place));
        }
        self.holds("exact: it traps, and its words arrive", || {
            let (result, lines) = run(json!({ "fail": "trap" }));
            trapped(result?, &lines)
        });
        let input = input(component.kind());
        self.holds("exact: options that do not fit are refused", || {
            let wrong = wrong(component.kind());
            wrong.iter().map(Value::to_string).try_for_each(|text| {
                let opened = component.open_unchecked(&text, &input);
                refused(opened, &text)
            })
        });
    }
}

/// Options of the right names with wrong values, options of other kinds, and one that nobody has.
fn wrong(kind: Kind) -> Vec<Value> {
    let mut all =
        vec![json!({ "nonsense": 1 }), json!({ "log": 7 }), json!({ "fail": "sometimes" }), json!({ "log": ["a"] })];
    match kind {
        Kind::Transformer => all.extend([json!({ "repeat": 0 }), json!({ "stamp": "yes" })]),
        Kind::Validator => all.extend([json!({ "repeat": 2 }), json!({ "stamp": true })]),
        Kind::Aggregator => all.extend([json!({ "skip_single": 1 }), json!({ "repeat": 2 })]),
        Kind::Decoder | Kind::Ranker => all.extend([json!({ "reject_every": 2 }), json!({ "skip_single": true })]),
    }
    if matches!(kind, Kind::Transformer | Kind::Validator) {
        all.extend([json!({ "reject_every": 0 }), json!({ "filter_every": -1 }), json!({ "reject_every": 1.5 })]);
    }
    all
}

/// A few rows with these options in a new instance: the outer error says that it cannot even be set up.
fn work(component: &Arc<Component>, written: Value) -> Result<Result<(), CallError>, String> {
    let (options, input, limits) = (options(written), input(component.kind()), limits());
    let rows = |reads: &[String]| -> Result<RecordBatch, String> {
        let columns: Vec<usize> = reads.iter().filter_map(|name| input.index_of(name).ok()).collect();
        values::rows(&input, 5, Choice::Textual).and_then(|rows| rows.project(&columns)).map_err(told)
    };
    if component.kind().groups() {
        let stage = component.group_stage(&options, &input, &limits).map_err(told)?;
        let grouped = Grouped::of(rows(stage.reads())?, 2);
        return Ok(whole(&stage, stage.fresh_session(NOW_US), &grouped).map(drop));
    }
    let stage = component.row_stage(&options, &input, &limits).map_err(told)?;
    let rows = rows(stage.reads())?;
    Ok(stage.session(NOW_US).push(&rows).map(drop))
}

fn failed(result: Result<(), CallError>, place: &str) -> Result<(), String> {
    let expected = format!("to fail in {place}");
    match result {
        Err(CallError::Failure { code, text, .. }) if code == "asked" && text == expected => Ok(()),
        Err(error) => Err(format!("expected the failure `asked`, {expected}; {error}")),
        Ok(()) => Err(format!("expected the failure `asked`, {expected}; it worked")),
    }
}

/// The words stand beside the trap, or in a line for the log of errors.
fn trapped(result: Result<(), CallError>, lines: &[Line]) -> Result<(), String> {
    const WORDS: &str = "asked to trap";
    match result {
        Ok(()) => Err("expected a trap; it worked".into()),
        Err(error @ CallError::Trap { .. }) => {
            let logged = lines.iter().any(|(level, text)| *level == Level::ERROR && text.contains(WORDS));
            match logged || error.to_string().contains(WORDS) {
                true => Ok(()),
                false => Err(format!("`{WORDS}` is said nowhere; {error}; lines of the log: {lines:?}")),
            }
        }
        Err(error) => Err(format!("expected a trap; {error}")),
    }
}
