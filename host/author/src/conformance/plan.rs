//! What a component says before it sees a row.

use arrow_schema::Schema;
use crisol_plugin::{CallError, Component, Plan};
use serde_json::Value;

use super::given::Given;
use super::{Suite, clean};

/// Text that is no options.
const NO_OPTIONS: [&str; 4] = ["{", "[]", "7", "\"\u{0}\""];
const UNKNOWN: &str = r#"{"an option that there is not": 1}"#;

impl Suite {
    pub(super) fn descriptions(&mut self) {
        let component = self.component.clone();
        self.holds("describe gives the same each time", || {
            let twice = || component.describe_twice().map_err(|error| error.to_string());
            let [[first, second], [third, _]] = [twice()?, twice()?];
            match first == second && first == third {
                true => Ok(()),
                false => Err(format!("it said {first}, and then {}", if first == second { third } else { second })),
            }
        });
    }

    pub(super) fn plans(&mut self, given: &Given) {
        let component = self.component.clone();
        let options = Value::from(given.options.clone()).to_string();
        let (schema, label) = (&given.schema, &given.label);
        let planned = || component.plan_unchecked(&options, schema).map_err(|error| error.to_string());
        self.holds(&format!("plan gives the same each time{label}"), || same(&planned()?, &planned()?));
        self.holds(&format!("plan depends only on what is read{label}"), || {
            let plan = planned()?;
            let read: Vec<usize> = plan.reads.iter().filter_map(|name| schema.index_of(name).ok()).collect();
            let less = schema.project(&read).map_err(|error| error.to_string())?;
            same(&plan, &component.plan_unchecked(&options, &less).map_err(|error| error.to_string())?)
        });
        self.case(&format!("plan for no columns does not trap{label}"), || {
            Ok(clean(component.plan_unchecked(&options, &Schema::empty()))?.err())
        });
        if component.options().is_some() {
            self.holds(&format!("options that are none are refused as `options`{label}"), || {
                garbage(&component).iter().try_for_each(|text| refused(component.open_unchecked(text, schema), text))
            });
        }
    }
}

fn same(one: &Plan, other: &Plan) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("it planned {one:?}, and then {other:?}")) }
}

/// Also an option that is not known, where the component says that there are no others.
fn garbage(component: &Component) -> Vec<&'static str> {
    let closed = component.options().and_then(|schema| schema.get("additionalProperties")) == Some(&Value::Bool(false));
    NO_OPTIONS.into_iter().chain(closed.then_some(UNKNOWN)).collect()
}

pub(super) fn refused<T>(result: Result<T, CallError>, options: &str) -> Result<(), String> {
    match result {
        Err(CallError::Failure { code, .. }) if code == "options" => Ok(()),
        Err(error) => Err(format!("the options `{options}`: {error}, and not the failure `options`")),
        Ok(_) => Err(format!("the options `{options}` were taken, and not refused")),
    }
}
