//! Commands for those who write plugins.

mod build;
mod conformance;
mod dev;
mod inspect;
mod new;
mod test;

use std::path::Path;

use crisol_author::{AuthorError, Bench, Compiler, Project};
use serde_json::json;

use crate::args::{Authoring, Global, Output};
use crate::exit::{self, Exit};
use crate::out::println;

/// Runs one of them.
pub(crate) fn run(global: &Global, command: &Authoring) -> Exit {
    let result = match command {
        Authoring::New(new) => new::new(global, new),
        Authoring::Build { folder } => build::build(global, folder),
        Authoring::Dev { folder } => dev::dev(global, folder),
        Authoring::Test(test) if test.conformance => conformance::conformance(global, test),
        Authoring::Test(test) => test::test(global, test),
        Authoring::Inspect { component } => inspect::inspect(global, component),
    };
    result.unwrap_or_else(|error| refuse(&error, global.output))
}

fn refuse(error: &AuthorError, output: Output) -> Exit {
    match output {
        Output::Json => {
            let error = json!({ "code": code(error), "message": error.to_string(), "hint": error.hint() });
            println!("{}", json!({ "schema": "crisol.error/v1", "errors": [error] }));
        }
        Output::Text => exit::print(error, error.hint().as_deref()),
    }
    match error {
        AuthorError::Name { .. }
        | AuthorError::Exists { .. }
        | AuthorError::NoProject { .. }
        | AuthorError::Carried => Exit::WrongUsage,
        AuthorError::Component(_) | AuthorError::Manifest { .. } | AuthorError::Samples { .. } => Exit::Refused,
        _ => Exit::No,
    }
}

fn code(error: &AuthorError) -> &'static str {
    match error {
        AuthorError::Component(_) => "component_refused",
        AuthorError::Samples { .. } => "samples_refused",
        AuthorError::Manifest { .. } => "manifest_refused",
        AuthorError::Tool { .. } | AuthorError::NoTool { .. } => "tool_failed",
        AuthorError::Name { .. }
        | AuthorError::Exists { .. }
        | AuthorError::NoProject { .. }
        | AuthorError::Carried => "wrong_usage",
        _ => "failed",
    }
}

fn bench() -> Result<Bench, AuthorError> {
    Bench::new(Some(Compiler::new(crate::OWN_PROGRAM, crate::COMPILE)))
}

/// A component as it is, or the plugin of a folder.
enum Subject<'a> {
    Component(&'a Path),
    Plugin(Project),
}

impl<'a> Subject<'a> {
    fn of(path: &'a Path) -> Result<Self, AuthorError> {
        let is_component = path.extension().is_some_and(|extension| extension == "wasm");
        Ok(if is_component { Self::Component(path) } else { Self::Plugin(Project::open(path)?) })
    }
}
