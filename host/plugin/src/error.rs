//! What can go wrong with a component: before it serves ([`PluginError`]), and in a call ([`CallError`]).

use std::path::PathBuf;

use crate::text::printable_path;
use crate::{Kind, SampleFault};

/// Why a component cannot serve, or not this stage.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// The sandbox itself cannot be set up on this machine.
    #[error("the sandbox cannot be started: {what}")]
    Engine {
        /// What the runtime said.
        what: String,
    },
    /// A folder or file cannot be read.
    #[error("cannot read {}: {source}", printable_path(path))]
    Read {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is larger than a component may be.
    #[error("{} is {bytes} bytes long; a component may have {max}", printable_path(path))]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// The file is no component, or uses what is switched off.
    #[error("{} is not a component that can be run here: {what}", printable_path(path))]
    Compile {
        /// Which file.
        path: PathBuf,
        /// What the compiler said.
        what: String,
    },
    /// It asks for something that the sandbox does not give.
    #[error("{} imports {}; a component gets {offered}{}", printable_path(path), quoted(imports), advice(imports))]
    Import {
        /// Which file.
        path: PathBuf,
        /// The imports that are refused.
        imports: Vec<String>,
        /// What there is.
        offered: &'static str,
    },
    /// It does not export what its kind must.
    #[error("{} {what}", printable_path(path))]
    Export {
        /// Which file.
        path: PathBuf,
        /// What is missing, and which world has it.
        what: String,
    },
    /// What it says of itself does not hold.
    #[error("{} describes itself wrongly: {what}", printable_path(path))]
    Description {
        /// Which file.
        path: PathBuf,
        /// Which key, and what it should be.
        what: String,
    },
    /// It could not even describe itself.
    #[error("{} cannot describe itself: {cause}", printable_path(path))]
    Describe {
        /// Which file.
        path: PathBuf,
        /// The trap or limit.
        cause: CallError,
    },
    /// The samples that it carries cannot be read.
    #[error("the samples of {} cannot be read: {what}", path.display())]
    Samples {
        /// Which file.
        path: PathBuf,
        /// Which sample, and what is wrong with it.
        what: String,
    },
    /// A sample that it carries does not hold.
    #[error("sample `{sample}` of {} {fault}", path.display())]
    Sample {
        /// Which file.
        path: PathBuf,
        /// Name of the sample.
        sample: String,
        /// Why.
        fault: Box<SampleFault>,
    },
    /// Two files claim the same name, version and schema versions with different bytes.
    #[error(
        "{} and {} both are `{name}` {version} with different bytes; remove one or give it another version",
        printable_path(path),
        printable_path(other)
    )]
    Ambiguous {
        /// The file that is refused.
        path: PathBuf,
        /// The other one.
        other: PathBuf,
        /// Their name.
        name: String,
        /// Their version.
        version: semver::Version,
    },
    /// No component of this name.
    #[error("no component `{name}`{}{}", folder_text(folder), hint_text(hint))]
    NotFound {
        /// The name that was looked for.
        name: String,
        /// The folder that it was looked for in, where there is one.
        folder: Option<PathBuf>,
        /// The nearest name, or those that there are, or why its file was refused.
        hint: Option<String>,
    },
    /// The name belongs to a component of another kind.
    #[error("component `{name}` is {} {is}, not {} {wanted}; use it as `{}`", article(*is), article(*wanted), is.stage_key())]
    WrongKind {
        /// Its name.
        name: String,
        /// What it is.
        is: Kind,
        /// What the stage needs.
        wanted: Kind,
    },
    /// No version of the component is in the range asked for.
    #[error("component `{name}`: no version matches `{wanted}`; there are {have}")]
    NoVersion {
        /// Its name.
        name: String,
        /// The range asked for.
        wanted: semver::VersionReq,
        /// The versions there are.
        have: String,
    },
    /// Options do not fit the JSON Schema that the component declares.
    #[error("options of component `{component}`: {}", problems_text(problems))]
    Options {
        /// Name of the component.
        component: String,
        /// All problems.
        problems: Vec<OptionProblem>,
    },
    /// What it plans to read and write does not hold for this input.
    #[error("component `{component}` {what}")]
    Plan {
        /// Name and version.
        component: String,
        /// Which column, and what is wrong.
        what: String,
    },
    /// One instance may use more memory than all of them together.
    #[error(
        "one instance may use {one} bytes of memory, more than the {all} of all instances together; lower `limits.memory_bytes_max` of the stage, or raise `limits.total_memory_bytes_max` of crisol.toml"
    )]
    Budget {
        /// What one may use.
        one: u64,
        /// What all may use.
        all: u64,
    },
    /// It failed while it planned.
    #[error("component `{component}` cannot plan: {cause}")]
    Planning {
        /// Name and version.
        component: String,
        /// Its own failure, the trap or the limit.
        cause: CallError,
    },
}

/// One option that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionProblem {
    /// Where, as a JSON pointer: `/order_by/0`; empty for the options as a whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// Why a call gave nothing. Nothing of the call is used; the instance is gone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The component's code trapped: it panicked, ran out of stack, divided by zero.
    #[error("it trapped: {what}{}", said_text(said))]
    Trap {
        /// The trap.
        what: String,
        /// What it wrote to stderr last, a panic's message for one.
        said: Option<String>,
    },
    /// It did not answer in time.
    #[error(
        "it was stopped after {limit_ms} ms of processor time, {}{}; if it needs longer, raise `limits.deadline_ms_max` of the stage",
        share_text(*share_of_ms),
        said_text(said)
    )]
    Deadline {
        /// The limit.
        limit_ms: u64,
        /// The limit of a whole call, where this one was about a part of its rows.
        share_of_ms: Option<u64>,
        /// What it wrote to stderr last.
        said: Option<String>,
    },
    /// Its code calls itself too deeply.
    #[error(
        "its stack of {limit} bytes overflowed: recursion is too deep{}; if it must be, raise `limits.stack_bytes_max` of crisol.toml",
        said_text(said)
    )]
    Stack {
        /// The limit.
        limit: u64,
        /// What it wrote to stderr last.
        said: Option<String>,
    },
    /// It asked for more memory than it may have.
    #[error("it asked for {asked} {unit}, {limit} are allowed{}{}", raise_text(*raise), said_text(said))]
    Memory {
        /// What it asked for, all in all.
        asked: u64,
        /// The limit.
        limit: u64,
        /// `bytes of memory`, `table elements` or `core instances`.
        unit: &'static str,
        /// The setting that raises the limit, where there is one.
        raise: Option<&'static str>,
        /// What it wrote to stderr last.
        said: Option<String>,
    },
    /// The system gave no room for its instance: a limit of the process, not of the component.
    #[error(
        "the system gave no address space for its sandbox{}; raise the limit of the process's address space (`ulimit -v`)",
        reserved_text(*reserved)
    )]
    AddressSpace {
        /// Bytes that the sandbox reserves for one memory of an instance, where that is known.
        reserved: Option<u64>,
    },
    /// It gave back more than it may.
    #[error("it gave back {}{limit} {unit}, the limit of {of}; if that is right, raise `limits.{setting}` of the stage", actual_text(*actual))]
    Output {
        /// What it gave back, where that is known.
        actual: Option<u64>,
        /// The limit.
        limit: u64,
        /// `bytes`, `rows` or `different codes`.
        unit: &'static str,
        /// `a call`, `a session` or `a code`.
        of: &'static str,
        /// The setting that raises the limit.
        setting: &'static str,
    },
    /// What it gave back is not what was agreed on.
    #[error("its answer is not valid: {what}")]
    Invalid {
        /// Which part, and what is wrong with it.
        what: String,
    },
    /// Rows were lost, doubled, or both returned and rejected.
    #[error("its accounts do not hold for {rows} rows: {what}")]
    Accounts {
        /// Rows given to it.
        rows: usize,
        /// First row that is wrong, counted from 0 in the call, or in the session of a ranker.
        row: Option<u32>,
        /// What is wrong with it.
        what: String,
    },
    /// It said itself that it cannot do its work.
    #[error("it failed: {code}: {text}{}", attributes_text(attributes))]
    Failure {
        /// Its code.
        code: String,
        /// Its text.
        text: String,
        /// Its names and values.
        attributes: Vec<(String, String)>,
    },
    /// The caller gave rows that were not agreed on, or the sandbox failed: a defect of the host.
    #[error("internal error: {what}")]
    Host {
        /// What was found.
        what: String,
    },
}

impl CallError {
    /// All that [`Self::poison_code`] gives.
    pub const POISON_CODES: [&'static str; 5] =
        ["plugin_trap", "plugin_timeout", "plugin_memory", "plugin_output", "plugin_invalid"];

    /// The code under which a row goes to quarantine that alone brings about this error; `None` where no row can be to
    /// blame: the component gave up by itself, or the host is at fault.
    pub fn poison_code(&self) -> Option<&'static str> {
        let [trap, timeout, memory, output, invalid] = Self::POISON_CODES;
        match self {
            Self::Trap { .. } | Self::Stack { .. } => Some(trap),
            Self::Deadline { .. } => Some(timeout),
            Self::Memory { .. } => Some(memory),
            Self::Output { .. } => Some(output),
            Self::Invalid { .. } | Self::Accounts { .. } => Some(invalid),
            Self::AddressSpace { .. } | Self::Failure { .. } | Self::Host { .. } => None,
        }
    }
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// What to do where the interfaces are ours, but of another time.
fn advice(imports: &[String]) -> &'static str {
    if imports.iter().any(|name| name.starts_with("crisol:stage/")) {
        ". It was made for another version of the interfaces: build it with the SDK of this host"
    } else {
        ""
    }
}

/// ` in …`, for messages about what a folder should hold.
fn folder_text(folder: &Option<PathBuf>) -> String {
    folder.as_ref().map(|folder| format!(" in `{}`", printable_path(folder))).unwrap_or_default()
}

fn hint_text(hint: &Option<String>) -> String {
    hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default()
}

fn share_text(share_of_ms: Option<u64>) -> String {
    share_of_ms.map_or_else(
        || "the limit of a call".to_string(),
        |ms| format!("what these rows have of the {ms} ms of a call"),
    )
}

fn said_text(said: &Option<String>) -> String {
    said.as_ref().map(|said| format!("; it said: {said}")).unwrap_or_default()
}

fn raise_text(setting: Option<&str>) -> String {
    setting.map(|setting| format!("; if it needs more, raise `limits.{setting}` of the stage")).unwrap_or_default()
}

fn reserved_text(reserved: Option<u64>) -> String {
    let text = |bytes: u64| format!(", which reserves {:.1} GiB for one instance", bytes as f64 / (1_u64 << 30) as f64);
    reserved.map(text).unwrap_or_default()
}

fn actual_text(actual: Option<u64>) -> String {
    match actual {
        Some(actual) => format!("{actual} instead of at most "),
        None => "more than ".to_string(),
    }
}

fn article(kind: Kind) -> &'static str {
    if kind == Kind::Aggregator { "an" } else { "a" }
}

fn problems_text(problems: &[OptionProblem]) -> String {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    problems.join("; ")
}

fn attributes_text(attributes: &[(String, String)]) -> String {
    if attributes.is_empty() {
        return String::new();
    }
    let attributes: Vec<String> = attributes.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!(" ({})", attributes.join(", "))
}

impl std::fmt::Display for OptionProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "`{path}`: {}", self.message),
        }
    }
}
