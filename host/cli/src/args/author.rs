//! What authors of plugins can type.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::completions;

const NEW_HELP: &str = "\
The sources of the SDK are copied beside it, so that nothing but the language's own tools is needed.

Examples:
  host new sales --kind decoder
  host new sales-rules --kind validator --lang python --path plugins/sales-rules";

const BUILD_HELP: &str = "\
The language's own tool does the work, and decides what has to be built anew. The files `tests/*.json` travel in the component;
a host runs them before it lets it serve. A file that would be the same is left untouched.

Examples:
  host build
  host build plugins/sales && cp plugins/sales/build/sales.wasm my-project/plugins/";

const DEV_HELP: &str = "\
The component goes into the folder that --plugins names, else into plugins/ of the project that --project names, which is the one in
the current folder if there is one; a host that runs that project takes it at its next batch. Else it is only built and tested. A build that fails, or whose samples
do not hold, is put nowhere. In Rust it is built quickly rather than well: `host build` makes what is to serve. Ctrl-C ends it.

Examples:
  host dev
  host dev plugins/sales --project my-project";

const TEST_HELP: &str = "\
A sample says what is `given` and what to `expect`; docs/plugin-rust.md shows all of its keys. Limits are those that hold in
production by default. Differences are shown as a table, a trap with the words of the component.

Examples:
  host test
  host test plugins/orders.wasm -o json
  host test plugins/sales --update
  host test plugins/orders.wasm --conformance";

/// Commands for those who write plugins.
#[derive(Debug, Subcommand)]
pub(crate) enum Authoring {
    /// Start a plugin: a small project with samples, a test and the SDK
    #[command(after_help = NEW_HELP)]
    New(New),
    /// Build a plugin: `build/NAME.wasm`, with its samples in it
    #[command(after_help = BUILD_HELP)]
    Build {
        /// Folder of the plugin
        #[arg(value_name = "DIR", default_value = ".")]
        folder: PathBuf,
    },
    /// Work on a plugin: each change is built, tested and, when its samples hold, put into the project's plugins
    #[command(after_help = DEV_HELP)]
    Dev {
        /// Folder of the plugin
        #[arg(value_name = "DIR", default_value = ".")]
        folder: PathBuf,
    },
    /// Run the samples of a plugin through its component, as a host would
    #[command(after_help = TEST_HELP)]
    Test(Test),
    /// Show what a component is: name, version, kind, options, imports, samples
    #[command(after_help = "Examples:\n  host inspect plugins/orders.wasm\n  host inspect build/sales.wasm -o json")]
    Inspect {
        /// The component
        #[arg(value_name = "FILE", add = completions::component_files())]
        component: PathBuf,
    },
}

/// `host new`
#[derive(Debug, Args)]
pub(crate) struct New {
    /// What contracts will call it: small letters, digits and `-`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What it is for
    #[arg(long)]
    pub(crate) kind: KindName,
    /// What it is written in
    #[arg(long, default_value = "rust")]
    pub(crate) lang: LangName,
    /// Folder to make [default: NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
}

/// Kinds of plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindName {
    /// Messages become rows with typed columns
    Decoder,
    /// Rows become other rows, none, one or several of each
    Transformer,
    /// Rows that break a rule go to quarantine, the others pass
    Validator,
    /// Some rows of each group stay
    Ranker,
    /// Each group becomes one row
    Aggregator,
}

/// Languages of plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LangName {
    /// Rust 1.95 or newer
    #[value(alias = "rs")]
    Rust,
    /// Python 3.11 or newer
    #[value(alias = "py")]
    Python,
    /// JavaScript; Node.js 20 or newer builds it
    #[value(name = "javascript", alias = "js")]
    JavaScript,
    /// TypeScript; Node.js 20 or newer builds it
    #[value(name = "typescript", alias = "ts")]
    TypeScript,
    /// Go 1.26 or newer
    #[value(alias = "golang")]
    Go,
}

/// `host test`
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Folder of a plugin, which is built first, or a component
    #[arg(value_name = "DIR|FILE.wasm", default_value = ".")]
    pub(crate) subject: PathBuf,
    /// Folder of the samples, `*.json` [default: `tests/` of the plugin; of a component those that it carries]
    #[arg(long, value_name = "DIR")]
    pub(crate) samples: Option<PathBuf>,
    /// Write what comes into the samples that do not hold; look at the difference before you keep it
    #[arg(long)]
    pub(crate) update: bool,
    /// Try what every host takes for granted, on rare and extreme values, with the columns and options of the samples
    #[arg(long, conflicts_with = "update")]
    pub(crate) conformance: bool,
}
