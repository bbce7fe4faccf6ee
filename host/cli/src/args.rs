//! What can be typed.

use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use crisol::{KafkaBound, Trigger};
use crisol_metrics::Address;

use crate::completions::{self, Completions};
use crate::schema::{self, Schema};
use crate::trial::{self, Try};

mod author;

pub(crate) use author::{Authoring, KindName, LangName, New, Test};

const EXAMPLES: &str = "Examples:\n  host run --plugins plugins/\n  host check --project examples/orders";

const RUN_HELP: &str = "\
Ctrl-C, SIGTERM or SIGHUP (a terminal that closes) stops a run in order; a second one stops it at once.

Examples:
  host run --plugins plugins/
  host run orders --trigger continuous --metrics 9464";

const MAINTAIN_HELP: &str = "\
No row changes, and streams below see nothing of it. It may run beside a running host. The files that were put together
stay on disk for readers of older versions, until someone vacuums the table.

Examples:
  host maintain --dry-run
  host maintain bronze.orders_raw silver.orders -o json";

const REBUILD_HELP: &str = "\
The table above is read as far as the stream has come, and the rows that PREDICATE means are made anew by the components
and rules of today: those for which it is true in the table, and those for which it becomes true. Only rows that differ are
replaced, in one commit; the quarantine follows. Tables below follow with the next run. It may run beside a running host.

Examples:
  host rebuild silver.orders --where \"day = DATE '2026-03-01'\" --dry-run
  host rebuild gold.top_orders --where \"country = 'ES'\" -o json";

const BACKFILL_HELP: &str = "\
BOUND is `earliest`, `latest`, a time in UTC (`2026-03-01`, `2026-03-01T10:00:00Z`, milliseconds since 1970), or JSON
that gives each partition an offset or a time: `{\"orders.v1\": {\"0\": 23, \"1\": -2}}`. The end is exclusive.

Rows go through the stages of the contract's table. TABLE is a new one, below `path.tables`, with a quarantine and a
checkpoint of its own: neither the production table nor its position is touched, and a host may run beside it. Started
again with the same words, a backfill that was stopped goes on.

Examples:
  host backfill orders --from 2026-03-01 --to 2026-03-02 --into bronze.orders_march
  host backfill orders --from earliest --to '{\"orders.v1\": {\"0\": 5000, \"1\": 5000}}' --into bronze.orders_first";

const QUARANTINE_HELP: &str = "\
Examples:
  host quarantine list
  host quarantine replay silver.orders --code unsupported_schema_version --dry-run";

const QUARANTINE_SHOW_HELP: &str = "\
Examples:
  host quarantine show silver.orders --code corrupt_record --limit 5 -o json
  host quarantine show silver.orders --stage 'decode orders' --as-test > plugins/orders/tests/refused.json";

const ROLLBACK_HELP: &str = "\
The bytes of the build go back into the file that they came from; a newer file beside it is taken out. What is replaced or
taken out stays beside it as `FILE.rolled-back`. A host that runs takes the change from its next batch on, like any other;
without one the next start does. A file that was refused or that no host has seen yet is undone before anything else. Called
twice, it ends where it began.

Examples:
  host plugins rollback orders --dry-run
  host plugins rollback orders --to 1.2.0";

const HISTORY_HELP: &str = "\
Examples:
  host history silver.orders
  host history silver.orders --quarantine --limit 100 -o json";

const EXIT_CODES: &str = "\
Exit codes:
    0  done, or stopped by Ctrl-C, SIGTERM or SIGHUP
    1  it ran, and the answer is no: a stream failed, `check` found mistakes, or the
       result of another command could not be written
    2  wrong usage
    3  a contract, component or table was refused before anything was read
    4  another host holds the checkpoint
    6  stopped, because rows that should be read are gone
  130  stopped at once by a second Ctrl-C, SIGTERM or SIGHUP
3, 4 and 6 need someone to look: starting again does not help.";

/// Carries Kafka messages and files through sandboxed WebAssembly stages into Delta Lake tables, exactly once.
#[derive(Debug, Parser)]
#[command(name = "host", version, propagate_version = true, disable_help_subcommand = true, max_term_width = 100)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What was typed. A variable of the environment that is empty counts as not set, as everywhere.
pub(crate) fn parse() -> Cli {
    let mut command = command();
    let matches = command.get_matches_mut();
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit())
}

/// The whole command line.
pub(crate) fn command() -> clap::Command {
    Cli::command().mut_args(|arg| {
        let empty = arg.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
        if empty { arg.env(Resettable::Reset) } else { arg }
    })
}

/// Flags that every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Folder of the project (crisol.toml, ingestion/, tables/)
    #[arg(long, global = true, value_name = "DIR", env = "CRISOL_PROJECT", default_value = ".")]
    pub(crate) project: PathBuf,
    /// Folder of the components (*.wasm) [default: plugins/ in the project]
    #[arg(long, global = true, value_name = "DIR", env = "CRISOL_PLUGINS")]
    pub(crate) plugins: Option<PathBuf>,
    /// Set a key of crisol.toml for this run, `path.tables=DIR`; may be repeated. A relative path counts from the
    /// project's folder, not from the current one
    #[arg(long = "set", global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) sets: Vec<(String, String)>,
    /// How results are written to standard output
    #[arg(short, long, global = true, value_name = "FORMAT", env = "CRISOL_OUTPUT", default_value = "text")]
    pub(crate) output: Output,
    /// Only errors on standard error
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// More on standard error; twice for all of it
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Which log lines, `info` or `crisol_source=debug`; wins over -q and -v
    #[arg(long, global = true, value_name = "FILTER", env = "CRISOL_LOG")]
    pub(crate) log_level: Option<String>,
    /// How log lines are written
    #[arg(long, global = true, value_name = "FORMAT", env = "CRISOL_LOG_FORMAT", default_value = "text")]
    pub(crate) log_format: Output,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// No progress bars
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run streams: all of the project, or those named and what they need upstream
    #[command(after_help = RUN_HELP)]
    Run(Run),
    /// Check contracts and components without reading data
    #[command(
        after_help = "Examples:\n  host check\n  host check --project examples/orders --plugins plugins/ -o json"
    )]
    Check,
    /// Show rows of a table
    #[command(
        after_help = "Examples:\n  host show silver.orders\n  host show silver.orders --quarantine --limit 5 -o json"
    )]
    Show(Show),
    /// Count, show or replay rows that were refused
    #[command(after_help = QUARANTINE_HELP)]
    Quarantine {
        /// What is done with them.
        #[command(subcommand)]
        command: Quarantine,
    },
    /// Make rows of a table anew from the table above
    #[command(after_help = REBUILD_HELP)]
    Rebuild(Rebuild),
    /// Read a range of a topic into a table of its own, through the stages of a contract
    #[command(after_help = BACKFILL_HELP)]
    Backfill(Backfill),
    /// Show the commits of a table, the newest first: batch, components, what was read, what became of the rows
    #[command(after_help = HISTORY_HELP)]
    History(History),
    /// Show the offsets that streams went on without, where `fail_on_data_loss` is false
    #[command(after_help = "Examples:\n  host losses\n  host losses orders -o json")]
    Losses(Losses),
    /// Show what each stream does and where it stands: all of the project, or those named
    #[command(after_help = "Examples:\n  host status\n  host status orders --partitions")]
    Status(Status),
    /// Put small files of tables together: all tables of the project, or those named, with their quarantines
    #[command(after_help = MAINTAIN_HELP)]
    Maintain(Maintain),
    /// Show the components and what was refused
    #[command(after_help = "Examples:\n  host plugins --plugins plugins/\n  host plugins -o json")]
    Plugins {
        /// What is done with them.
        #[command(subcommand)]
        command: Option<Plugins>,
    },
    /// Try a component on rows of a real table, beside what serves now; nothing is written
    #[command(after_help = trial::HELP)]
    Try(Try),
    /// Commands for those who write plugins
    #[command(flatten)]
    Author(Authoring),
    /// Write the JSON Schema of contracts or settings, for editors
    #[command(after_help = schema::HELP)]
    Schema(Schema),
    /// Write the script with which a shell completes what is typed
    #[command(after_help = completions::HELP)]
    Completions(Completions),
    /// What the host runs to compile a component: reads it from standard input and limits itself
    #[command(name = crate::COMPILE, hide = true)]
    Compile {
        /// Bytes of memory
        memory_bytes_max: String,
        /// Seconds of processor time
        seconds_max: String,
    },
}

/// `host plugins`
#[derive(Debug, Subcommand)]
pub(crate) enum Plugins {
    /// Put the build of a component back that served before
    #[command(after_help = ROLLBACK_HELP)]
    Rollback(Rollback),
}

/// `host plugins rollback`
#[derive(Debug, Args)]
pub(crate) struct Rollback {
    /// Name of the component, as `host plugins` shows it
    #[arg(value_name = "NAME", add = completions::components())]
    pub(crate) component: String,
    /// Which build that served: its version, or the first digits of its digest, at least four [default: the one before]
    #[arg(long, value_name = "BUILD")]
    pub(crate) to: Option<String>,
    /// Say what would become of the files, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// `host run`
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Streams to run: names of ingestion contracts or tables
    #[arg(value_name = "STREAM", add = completions::streams())]
    pub(crate) streams: Vec<String>,
    /// When batches are made: `available_now`, `continuous`, or a pace, `"10 seconds"`; wins over the contracts
    #[arg(long, value_name = "WHEN", value_parser = trigger)]
    pub(crate) trigger: Option<Trigger>,
    /// With a new checkpoint: read all again and append, though the table already holds rows
    #[arg(long, conflicts_with = "rebuild")]
    pub(crate) reread: bool,
    /// With a new checkpoint: take out what the table holds, then read all again
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Serve metrics and probes over HTTP while streams run, `HOST:PORT`; a port alone is for this machine only
    #[arg(long, value_name = "ADDRESS", env = "CRISOL_METRICS")]
    pub(crate) metrics: Option<Address>,
}

/// `host status`
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Names of streams or tables
    #[arg(value_name = "STREAM", add = completions::streams())]
    pub(crate) streams: Vec<String>,
    /// How far they are behind by partition, the furthest first
    #[arg(long)]
    pub(crate) partitions: bool,
}

/// `host show`
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Name of the table, `silver.orders`
    #[arg(value_name = "TABLE", add = completions::tables())]
    pub(crate) table: String,
    /// How many rows
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// The rows that were refused, instead
    #[arg(long)]
    pub(crate) quarantine: bool,
}

/// `host history`
#[derive(Debug, Args)]
pub(crate) struct History {
    /// Name of the table, `silver.orders`
    #[arg(value_name = "TABLE", add = completions::tables())]
    pub(crate) table: String,
    /// How many commits
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// The commits of its quarantine, instead
    #[arg(long)]
    pub(crate) quarantine: bool,
}

/// `host backfill`
#[derive(Debug, Clone, Args)]
pub(crate) struct Backfill {
    /// Name of an ingestion contract, or of the table that it fills
    #[arg(value_name = "CONTRACT", add = completions::streams())]
    pub(crate) contract: String,
    /// Where the range begins
    #[arg(long, value_name = "BOUND", value_parser = crisol::parse_bound)]
    pub(crate) from: KafkaBound,
    /// Where it ends, exclusive
    #[arg(long, value_name = "BOUND", value_parser = crisol::parse_bound)]
    pub(crate) to: KafkaBound,
    /// Name of the table that it goes to, `bronze.orders_march`; none of the project's
    #[arg(long, value_name = "TABLE")]
    pub(crate) into: String,
    /// Go on without records that are gone, and count them (`host losses`), whatever the contract says
    #[arg(long)]
    pub(crate) accept_data_loss: bool,
}

/// `host losses`
#[derive(Debug, Args)]
pub(crate) struct Losses {
    /// Names of streams, tables or backfills [default: all]
    #[arg(value_name = "STREAM", add = completions::streams())]
    pub(crate) streams: Vec<String>,
}

/// `host maintain`
#[derive(Debug, Args)]
pub(crate) struct Maintain {
    /// Names of tables, `silver.orders`
    #[arg(value_name = "TABLE", add = completions::tables())]
    pub(crate) tables: Vec<String>,
    /// Show what would be done, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// `host rebuild`
#[derive(Debug, Args)]
pub(crate) struct Rebuild {
    /// Name of the table, `silver.orders`
    #[arg(value_name = "TABLE", add = completions::tables())]
    pub(crate) table: String,
    /// Which rows: a SQL condition over the table's columns; of a table of groups, over those of its groups
    #[arg(long = "where", value_name = "PREDICATE")]
    pub(crate) predicate: String,
    /// Say what would become of the rows, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// `host quarantine`
#[derive(Debug, Subcommand)]
pub(crate) enum Quarantine {
    /// Count the rows in quarantine, by table, stage and code
    List {
        /// Names of tables [default: all]
        #[arg(value_name = "TABLE", add = completions::tables())]
        tables: Vec<String>,
    },
    /// Show rows in quarantine, the newest
    #[command(after_help = QUARANTINE_SHOW_HELP)]
    Show(QuarantineShow),
    /// Take rows to the first stage again; those that pass are added to the table and leave the quarantine
    Replay(QuarantineReplay),
}

/// `host quarantine show`
#[derive(Debug, Args)]
pub(crate) struct QuarantineShow {
    /// Name of the table, `silver.orders`
    #[arg(value_name = "TABLE", add = completions::tables())]
    pub(crate) table: String,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// How many rows
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Write them as samples, JSON for the tests of the plugin that refused them; `expect` says what happens now
    #[arg(long)]
    pub(crate) as_test: bool,
}

/// `host quarantine replay`
#[derive(Debug, Args)]
pub(crate) struct QuarantineReplay {
    /// Name of the table, `silver.orders`
    #[arg(value_name = "TABLE", add = completions::tables())]
    pub(crate) table: String,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Say what would become of the rows, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Which rows of a quarantine.
#[derive(Debug, Clone, Args)]
pub(crate) struct Chosen {
    /// Only rows refused for this reason, `corrupt_record`
    #[arg(long, value_name = "CODE")]
    pub(crate) code: Option<String>,
    /// Only rows refused by this stage, `decode orders`
    #[arg(long, value_name = "STAGE")]
    pub(crate) stage: Option<String>,
    /// Only rows of batches from this time on, in UTC: `2026-03-01` or `2026-03-01T10:00:00Z`
    #[arg(long = "since", value_name = "TIME", value_parser = time_us)]
    pub(crate) since_us: Option<i64>,
    /// Only rows of batches before this time
    #[arg(long = "until", value_name = "TIME", value_parser = time_us)]
    pub(crate) until_us: Option<i64>,
}

/// How something is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Text,
    /// For programs: one JSON object a line.
    Json,
}

/// When colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().into(), value.into())),
        _ => Err("expected KEY=VALUE, such as path.tables=/data/tables".into()),
    }
}

/// Microseconds since 1970.
fn time_us(text: &str) -> Result<i64, String> {
    let whole = if text.len() == "2026-03-01".len() { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let expected = || "expected a time in UTC from 1970 on, `2026-03-01` or `2026-03-01T10:00:00Z`".to_owned();
    let time = humantime::parse_rfc3339_weak(&whole).map_err(|_| expected())?;
    let since = time.duration_since(std::time::UNIX_EPOCH).map_err(|_| expected())?;
    i64::try_from(since.as_micros()).map_err(|_| expected())
}

fn trigger(text: &str) -> Result<Trigger, String> {
    match text {
        "available_now" => Ok(Trigger::AvailableNow),
        "continuous" => Ok(Trigger::Continuous),
        pace => humantime::parse_duration(pace)
            .map(Trigger::Every)
            .map_err(|_| "choose `available_now`, `continuous`, or a time such as `10 seconds`".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn triggers_have_three_forms() {
        assert_eq!(trigger("available_now"), Ok(Trigger::AvailableNow));
        assert_eq!(trigger("continuous"), Ok(Trigger::Continuous));
        assert_eq!(trigger("10 seconds"), Ok(Trigger::Every(std::time::Duration::from_secs(10))));
        assert!(trigger("once").is_err());
    }

    #[test]
    fn a_time_is_a_day_or_a_moment_in_utc() {
        assert_eq!(time_us("2026-03-01"), Ok(1_772_323_200_000_000));
        assert_eq!(time_us("2026-03-01T10:00:00.5Z"), Ok(1_772_359_200_500_000));
        assert!(time_us("yesterday").is_err());
        assert!(time_us("1969-12-31").is_err());
    }

    #[test]
    fn settings_need_a_key_and_a_value() {
        assert_eq!(key_value("path.tables=/t=1"), Ok(("path.tables".into(), "/t=1".into())));
        assert!(key_value("path.tables").is_err());
        assert!(key_value("=x").is_err());
    }
}
