//! Options of a stage, checked against the JSON Schema that the component declares.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::OptionProblem;
use crate::limits::OPTIONS_BYTES_MAX;
use crate::schema_cost;
use crate::text::printable;

const PROBLEMS_MAX: usize = 20;
const MESSAGE_BYTES_MAX: usize = 300;

/// What options a component takes.
#[derive(Debug)]
pub(crate) struct OptionsSchema {
    /// As declared.
    schema: Option<Value>,
    validator: Option<Validator>,
}

impl OptionsSchema {
    /// Takes no options.
    pub(crate) fn none() -> Self {
        Self { schema: None, validator: None }
    }

    /// Patterns run in linear time, whatever they are, and the whole in a bounded one: the schema comes from a component.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        if !schema.is_object() {
            return Err("it is not an object".to_string());
        }
        schema_cost::check(schema)?;
        let validator = jsonschema::options()
            .with_pattern_options(PatternOptions::regex())
            .build(schema)
            .map_err(|error| error.to_string())?;
        Ok(Self { schema: Some(schema.clone()), validator: Some(validator) })
    }

    /// The JSON Schema as the component declares it; `None` when it takes no options.
    pub(crate) fn schema(&self) -> Option<&Value> {
        self.schema.as_ref()
    }

    /// All problems of these options.
    pub(crate) fn problems(&self, options: &Map<String, Value>) -> Vec<OptionProblem> {
        let Some(validator) = &self.validator else {
            let unknown = |key: &String| OptionProblem {
                path: format!("/{key}"),
                message: "this component takes no options".into(),
            };
            return options.keys().take(PROBLEMS_MAX).map(unknown).collect();
        };
        let options = Value::Object(options.clone());
        let bytes = options.to_string().len();
        if bytes > OPTIONS_BYTES_MAX {
            let message = format!("they are {bytes} bytes long, {OPTIONS_BYTES_MAX} are allowed");
            return vec![OptionProblem { path: String::new(), message }];
        }
        validator
            .iter_errors(&options)
            .take(PROBLEMS_MAX)
            .flat_map(|error| one_each(&error))
            .take(PROBLEMS_MAX)
            .collect()
    }
}

/// Options that are not known stand at their own places, each.
fn one_each(error: &ValidationError<'_>) -> Vec<OptionProblem> {
    let path = error.instance_path().to_string();
    if let ValidationErrorKind::AdditionalProperties { unexpected } = error.kind() {
        let unknown = |name: &String| OptionProblem {
            path: format!("{path}/{}", name.replace('~', "~0").replace('/', "~1")),
            message: "this option is unknown".into(),
        };
        return unexpected.iter().map(unknown).collect();
    }
    vec![OptionProblem { path, message: printable(&error.to_string(), MESSAGE_BYTES_MAX) }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problems(schema: Value, options: Value) -> Vec<(String, String)> {
        let Value::Object(options) = options else { panic!("options are an object") };
        let problems = OptionsSchema::new(&schema).unwrap().problems(&options);
        problems.into_iter().map(|problem| (problem.path, problem.message)).collect()
    }

    #[test]
    fn all_problems_are_told_with_their_path() {
        let schema = json!({ "type": "object", "additionalProperties": false, "required": ["n"],
            "properties": { "n": { "type": "integer" }, "by": { "type": "array", "items": { "type": "string" } } } });
        assert_eq!(problems(schema.clone(), json!({ "n": 3, "by": ["a"] })), vec![]);
        let found = problems(schema, json!({ "by": ["a", 7], "m": 1 }));
        let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        assert!(paths.contains(&"/by/1"), "{found:?}");
        assert!(found.iter().any(|(_, message)| message.contains("\"n\" is a required property")), "{found:?}");
        assert!(found.contains(&("/m".to_owned(), "this option is unknown".to_owned())), "{found:?}");
    }

    #[test]
    fn a_component_without_options_refuses_each_that_is_given() {
        let Value::Object(options) = json!({ "a": 1 }) else { panic!() };
        let problems = OptionsSchema::none().problems(&options);
        assert_eq!(problems[0].path, "/a");
        assert!(OptionsSchema::none().problems(&Map::new()).is_empty());
    }

    #[test]
    fn a_pattern_that_backtracks_is_refused_or_linear() {
        let schema = json!({ "properties": { "a": { "pattern": "^(a+)+$" } } });
        let start = std::time::Instant::now();
        assert_eq!(problems(schema, json!({ "a": format!("{}!", "a".repeat(5_000)) })).len(), 1);
        assert!(start.elapsed() < std::time::Duration::from_secs(5));
        assert!(OptionsSchema::new(&json!({ "pattern": r"(a)\1" })).is_err(), "backreferences need backtracking");
    }

    #[test]
    fn a_schema_that_refers_to_itself_or_elsewhere_does_no_harm() {
        let _ = OptionsSchema::new(&json!({ "$ref": "#" })).map(|schema| schema.problems(&Map::new()));
        let loops =
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } });
        let _ = OptionsSchema::new(&loops).map(|schema| schema.problems(&Map::new()));
        assert!(OptionsSchema::new(&json!({ "$ref": "http://127.0.0.1:1/schema.json" })).is_err());
        assert!(OptionsSchema::new(&json!({ "$ref": "file:///etc/hostname" })).is_err());
    }
}
