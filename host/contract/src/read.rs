//! Reading typed values out of a tree. Every reading that fails leaves a problem with its place and gives `None`, so
//! that the rest of the file is read on and all mistakes are found at once.

use std::cell::RefCell;

use crate::keys;
use crate::placeholder::{Braces, Fill};
use crate::problem::{Code, Problem};
use crate::suggest;
use crate::text::{At, Data, Entry, File, Node, absolute};

/// Problems and warnings found so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) problems: RefCell<Vec<Problem>>,
    pub(crate) warnings: RefCell<Vec<Problem>>,
}

impl Report {
    pub(crate) fn push(&self, problem: Problem) {
        self.problems.borrow_mut().push(problem);
    }

    pub(crate) fn warn(&self, problem: Problem) {
        self.warnings.borrow_mut().push(problem);
    }
}

/// A value at a place of a file.
#[derive(Debug, Clone)]
pub(crate) struct Value<'a> {
    pub(crate) file: &'a File,
    pub(crate) report: &'a Report,
    pub(crate) fill: Fill<'a>,
    pub(crate) node: &'a Node,
    /// Path for people, `columns[1].name`.
    pub(crate) key: String,
    /// Path in the table of keys, `columns[].name`.
    pub(crate) pattern: String,
}

/// An object whose keys are all known.
#[derive(Debug, Clone)]
pub(crate) struct Object<'a> {
    value: Value<'a>,
}

impl<'a> Value<'a> {
    /// The root of a file.
    pub(crate) fn root(file: &'a File, report: &'a Report, fill: Fill<'a>) -> Self {
        Self { file, report, fill, node: &file.root, key: String::new(), pattern: String::new() }
    }

    pub(crate) fn refuse(&self, code: Code, message: impl Into<String>) {
        self.report.push(self.problem(code, message));
    }

    pub(crate) fn refuse_hinting(&self, code: Code, message: impl Into<String>, hint: impl Into<String>) {
        self.report.push(self.problem(code, message).hinting(hint));
    }

    pub(crate) fn problem(&self, code: Code, message: impl Into<String>) -> Problem {
        let mut problem = self.file.problem_at(&self.node.at, code, message);
        problem.key = (!self.key.is_empty()).then(|| self.key.clone());
        problem
    }

    fn wrong_type(&self, expected: &str) {
        self.refuse(Code::WrongType, format!("expected {expected}, found {}", self.node.type_name()));
    }

    /// A string as it stands: names, SQL, comments.
    pub(crate) fn plain(&self) -> Option<String> {
        match &self.node.data {
            Data::Text(text) => Some(text.clone()),
            _ => {
                self.wrong_type("a string");
                None
            }
        }
    }

    /// A string as it stands that is not empty.
    pub(crate) fn plain_not_empty(&self) -> Option<String> {
        let text = self.plain()?;
        if text.trim().is_empty() {
            self.refuse(Code::InvalidValue, "must not be empty");
            return None;
        }
        Some(text)
    }

    /// A string with its placeholders filled.
    pub(crate) fn text(&self, braces: Braces) -> Option<String> {
        self.filled(&self.plain()?, braces)
    }

    fn filled(&self, text: &str, braces: Braces) -> Option<String> {
        match self.fill.fill(text, braces) {
            Ok(text) => Some(text),
            Err(message) => {
                self.refuse(Code::Unresolved, message);
                None
            }
        }
    }

    /// An absolute path on the project's folder, placeholders filled; an empty one counts as not set.
    pub(crate) fn location(&self) -> Option<String> {
        let text = self.text(Braces::Placeholder)?;
        if text.is_empty() {
            return None;
        }
        if text.contains("://") {
            let scheme = text.split("://").next().unwrap_or_default();
            self.refuse_hinting(
                Code::NotSupported,
                format!("`{scheme}://` is not supported yet"),
                "give a path on a local or mounted disk",
            );
            return None;
        }
        Some(absolute(self.fill.dir, &text).to_string_lossy().into_owned())
    }

    /// A scalar as text, placeholders filled: values of Kafka options and table properties.
    pub(crate) fn scalar(&self) -> Option<String> {
        match &self.node.data {
            Data::Text(text) => self.filled(text, Braces::Placeholder),
            Data::Number(text) => Some(text.clone()),
            Data::Bool(flag) => Some(flag.to_string()),
            _ => {
                self.wrong_type("a string, number or boolean");
                None
            }
        }
    }

    /// `true` or `false`; as text too where Spark's options are meant.
    pub(crate) fn flag(&self, spelling: Spelling) -> Option<bool> {
        match &self.node.data {
            Data::Bool(flag) => Some(*flag),
            Data::Text(text) if spelling == Spelling::Spark => match text.trim().to_lowercase().as_str() {
                "true" => Some(true),
                "false" => Some(false),
                _ => {
                    self.refuse(Code::InvalidValue, "expected `true` or `false`");
                    None
                }
            },
            _ => {
                self.wrong_type("`true` or `false`");
                None
            }
        }
    }

    /// A whole number of at least `min`; as text too where Spark's options are meant, from outside, or by placeholder.
    pub(crate) fn count(&self, min: u64, spelling: Spelling) -> Option<u64> {
        let text = match &self.node.data {
            Data::Number(text) => text.clone(),
            Data::Text(text) if spelling == Spelling::Spark || text.contains("${") || self.is_outside() => {
                self.filled(text, Braces::Placeholder)?.trim().to_owned()
            }
            _ => {
                self.wrong_type("a whole number");
                return None;
            }
        };
        if text.is_empty() {
            return None;
        }
        match text.parse::<u64>() {
            Ok(number) if number >= min => Some(number),
            _ => {
                self.refuse(Code::InvalidValue, format!("expected a whole number of at least {min}"));
                None
            }
        }
    }

    pub(crate) fn is_empty_text(&self) -> bool {
        matches!(&self.node.data, Data::Text(text) if self.fill.fill(text, Braces::Placeholder).is_ok_and(|t| t.is_empty()))
    }

    fn is_outside(&self) -> bool {
        matches!(self.node.at, At::Outside(_))
    }

    /// One of several words.
    pub(crate) fn choice<T: Copy>(&self, what: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.plain()?;
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*choice);
        }
        let names = || choices.iter().map(|(name, _)| *name);
        let message = format!("`{text}` is not {what}{}", suggest::did_you_mean(&text, names()));
        self.report.push(Problem { hint: suggest::choose(names()), ..self.problem(Code::InvalidValue, message) });
        None
    }

    /// The values of a list.
    pub(crate) fn items(&self) -> Option<Vec<Value<'a>>> {
        let Data::List(items) = &self.node.data else {
            self.wrong_type("a list");
            return None;
        };
        Some(items.iter().enumerate().map(|(index, node)| self.item(index, node)).collect())
    }

    fn item(&self, index: usize, node: &'a Node) -> Value<'a> {
        let (key, pattern) = (format!("{}[{index}]", self.key), format!("{}[]", self.pattern));
        Value { node, key, pattern, ..self.clone() }
    }

    /// Strings of a list, as they stand, none of them empty.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        let items = self.items()?;
        if items.is_empty() {
            self.refuse(Code::InvalidValue, "must name at least one");
        }
        Some(items.iter().filter_map(Value::plain_not_empty).collect())
    }

    /// An object; keys that do not belong there become problems.
    pub(crate) fn object(&self) -> Option<Object<'a>> {
        self.object_without(&|_| None)
    }

    /// The same, where some of the keys that do not belong there belong to another place.
    pub(crate) fn object_without(&self, place: &dyn Fn(&str) -> Option<&'static str>) -> Option<Object<'a>> {
        if !self.is_object() {
            self.wrong_type("an object");
            return None;
        }
        let names = keys::names_under(self.file.kind, &self.pattern);
        if !names.contains(&"*") {
            for entry in self.node.entries().iter().filter(|entry| !names.contains(&entry.name.as_str())) {
                match place(&entry.name) {
                    Some(place) => {
                        let message = format!("unknown key; this option belongs to `{place}`");
                        let mut problem = self.file.problem_at(&entry.at, Code::UnknownKey, message);
                        problem.key = Some(self.below(entry).key);
                        self.report.push(problem);
                    }
                    None => self.unknown_key(entry, names.iter().copied()),
                }
            }
        }
        Some(Object { value: self.clone() })
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self.node.data, Data::Object(_))
    }

    /// The entries of an object whose keys anyone may name.
    pub(crate) fn any_entries(&self) -> Option<Vec<(&'a Entry, Value<'a>)>> {
        if !self.is_object() {
            self.wrong_type("an object");
            return None;
        }
        Some(self.node.entries().iter().map(|entry| (entry, self.below(entry))).collect())
    }

    pub(crate) fn below(&self, entry: &'a Entry) -> Value<'a> {
        let join = |above: &str, name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
        Value {
            node: &entry.value,
            key: join(&self.key, &entry.name),
            pattern: join(&self.pattern, &entry.name),
            ..self.clone()
        }
    }

    pub(crate) fn unknown_key<'n>(&self, entry: &'a Entry, valid: impl Iterator<Item = &'n str> + Clone) {
        let message = format!("unknown key{}", suggest::did_you_mean(&entry.name, valid.clone()));
        let mut problem = self.file.problem_at(&entry.at, Code::UnknownKey, message);
        problem.key = Some(self.below(entry).key);
        problem.hint = suggest::choose(valid.filter(|name| *name != "$schema"));
        self.report.push(problem);
    }

    /// Any JSON object.
    pub(crate) fn json_object(&self) -> Option<serde_json::Map<String, serde_json::Value>> {
        match self.node.to_json() {
            serde_json::Value::Object(map) => Some(map),
            _ => {
                self.wrong_type("an object");
                None
            }
        }
    }
}

/// Whether numbers and booleans may also be given as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// They may: Spark's options are text.
    Spark,
    /// They may not.
    Json,
}

impl<'a> Object<'a> {
    pub(crate) fn get(&self, name: &str) -> Option<Value<'a>> {
        self.value.node.get(name).map(|entry| self.value.below(entry))
    }

    /// A key that must be there.
    pub(crate) fn require(&self, name: &str) -> Option<Value<'a>> {
        let found = self.get(name);
        if found.is_none() {
            let below = if self.value.key.is_empty() { name.to_owned() } else { format!("{}.{name}", self.value.key) };
            let mut problem = self.value.problem(Code::MissingKey, "this key is required");
            problem.key = Some(below);
            self.value.report.push(problem);
        }
        found
    }

    pub(crate) fn value(&self) -> &Value<'a> {
        &self.value
    }
}
