//! Exit codes, and errors as people and programs read them.

use std::error::Error;
use std::io::Write;

use crisol::{EngineError, ErrorKind, Summary};

use crate::args::Output;
use crate::out::{eprintln, println};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// It did what was asked.
    Done,
    /// It ran, and the answer is no.
    No,
    /// It was called in a way that clap does not see to be wrong.
    WrongUsage,
    /// A contract or component was refused before anything was read.
    Refused,
    /// Rows that should be read are gone.
    DataLoss,
    /// Another host holds the checkpoint.
    Held,
    /// Stopped at once by a second signal.
    Interrupted,
}

impl Exit {
    /// The exit of a class of errors.
    pub(crate) fn of(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Refused => Self::Refused,
            ErrorKind::Held => Self::Held,
            ErrorKind::DataLoss => Self::DataLoss,
            ErrorKind::Failed => Self::No,
        }
    }

    /// The exit of a run: the gravest of its streams' ends.
    pub(crate) fn of_run(summaries: &[Summary]) -> Self {
        let errors = summaries.iter().filter_map(|summary| summary.error.as_ref());
        errors.map(|error| Self::of(crisol::kind(error))).max().unwrap_or(Self::Done)
    }

    fn code(self) -> i32 {
        match self {
            Self::Done => 0,
            Self::No => 1,
            Self::WrongUsage => 2,
            Self::Refused => 3,
            Self::Held => 4,
            Self::DataLoss => 6,
            Self::Interrupted => 130,
        }
    }

    /// Ends the process at once.
    ///
    /// Exit handlers do not run: that of OpenSSL frees what librdkafka's and the runtime's threads, which may still be
    /// ending, free as well (openssl/openssl#6214).
    pub(crate) fn leave(self) -> ! {
        // Who reads them may have gone; there is nobody left to tell.
        let _ = std::io::stdout().flush();
        let _ = std::io::stderr().flush();
        signal_hook::low_level::exit(self.code())
    }
}

/// Said below the problems of contracts, except by the command that it names.
pub(crate) const CHECK_HINT: &str = "`host check` checks contracts and plugins without reading data";

/// Says why the command could not be carried out; below the problems of contracts also a hint.
pub(crate) fn render(error: &EngineError, output: Output, hint: Option<&str>) -> Exit {
    render_problems(error, output);
    if let (EngineError::Contracts(_), Output::Text, Some(hint)) = (error, output, hint) {
        eprintln!("hint: {hint}");
    }
    Exit::of(error.kind())
}

/// Says what is wrong, on standard error, or as JSON on standard output.
pub(crate) fn render_problems(error: &EngineError, output: Output) {
    if output == Output::Json {
        println!("{}", error.to_json());
        return;
    }
    match error {
        EngineError::Contracts(problems) => eprintln!("{problems}"),
        _ => print(error, error.hint().as_deref()),
    }
}

/// `error:`, its causes, and a hint.
pub(crate) fn print(error: &dyn Error, hint: Option<&str>) {
    eprintln!("error: {error}");
    let causes = crisol::causes(error);
    if !causes.is_empty() {
        eprintln!("Caused by:");
    }
    for cause in causes {
        eprintln!("  {}", cause.replace('\n', "\n  "));
    }
    if let Some(hint) = hint {
        eprintln!("\nhint: {hint}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_the_conventions() {
        let codes = [
            (Exit::Done, 0),
            (Exit::No, 1),
            (Exit::WrongUsage, 2),
            (Exit::Refused, 3),
            (Exit::Held, 4),
            (Exit::DataLoss, 6),
            (Exit::Interrupted, 130),
        ];
        for (exit, code) in codes {
            assert_eq!(exit.code(), code);
        }
    }
}
