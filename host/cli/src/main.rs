//! The command `host`: arguments, log, exit code, and errors rendered once.
//!
//! Data goes to standard output, all else to standard error.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod args;
mod author;
mod backfill;
mod check;
mod completions;
mod exit;
mod history;
mod logging;
mod losses;
mod maintain;
mod memory;
mod out;
mod plugins;
mod quarantine;
mod readable;
mod rebuild;
mod rollback;
mod rows;
mod run;
mod schema;
mod show;
mod status;
mod tables;
mod trial;
mod watch;

use indicatif::MultiProgress;

use crate::args::{Cli, Color, Command, Plugins};
use crate::exit::Exit;
use crate::out::eprintln;

/// The command that the host runs to compile a component.
const COMPILE: &str = "compile-component";
/// This very program, whatever lies at its path by now.
const OWN_PROGRAM: &str = "/proc/self/exe";

fn main() {
    if completions::answer() {
        Exit::Done.leave();
    }
    let cli = args::parse();
    if let Command::Compile { memory_bytes_max, seconds_max } = &cli.command {
        compile(memory_bytes_max, seconds_max).leave();
    }
    if let Command::Completions(asked) = &cli.command {
        completions::completions(asked).leave();
    }
    if let Command::Schema(asked) = &cli.command {
        schema::schema(asked).leave();
    }
    memory::share_arenas();
    run_command(&cli).leave()
}

fn compile(memory_bytes_max: &str, seconds_max: &str) -> Exit {
    match crisol::compile_in_child(memory_bytes_max, seconds_max) {
        Ok(()) => Exit::Done,
        Err(text) => {
            eprintln!("{text}");
            Exit::No
        }
    }
}

fn run_command(cli: &Cli) -> Exit {
    color(cli.global.color);
    let bars = watch::bars();
    if let Err(text) = logging::start(&cli.global, &bars) {
        eprintln!("error: {text}");
        return Exit::WrongUsage;
    }
    if let Command::Author(command) = &cli.command {
        return author::run(&cli.global, command);
    }
    #[cfg(feature = "failpoints")]
    let _failpoints = fail::FailScenario::setup();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: cannot start threads: {error}");
            return Exit::No;
        }
    };
    let result = runtime.block_on(execute(cli, &bars));
    // Threads that still read from a broker must not hold up the end; they end with the process.
    std::mem::forget(runtime);
    let hint = matches!(cli.command, Command::Run(_)).then_some(exit::CHECK_HINT);
    let exit = result.unwrap_or_else(|error| exit::render(&error, cli.global.output, hint));
    // A run has done its work when its batches are committed; of the other commands the output is the work.
    if exit == Exit::Done && out::lost() && !matches!(cli.command, Command::Run(_)) {
        eprintln!("error: the result is not complete");
        return Exit::No;
    }
    exit
}

async fn execute(cli: &Cli, bars: &MultiProgress) -> Result<Exit, crisol::EngineError> {
    let global = &cli.global;
    match &cli.command {
        Command::Run(run) => run::run(global, run, bars).await,
        Command::Check => check::check(global),
        Command::Show(show) => show::show(global, show).await,
        Command::Quarantine { command } => quarantine::quarantine(global, command).await,
        Command::Rebuild(rebuild) => rebuild::rebuild(global, rebuild).await,
        Command::Backfill(backfill) => backfill::backfill(global, backfill, bars).await,
        Command::Losses(losses) => losses::losses(global, losses).await,
        Command::Status(status) => status::status(global, status).await,
        Command::Maintain(maintain) => maintain::maintain(global, maintain).await,
        Command::History(history) => history::history(global, history).await,
        Command::Try(asked) => trial::trial(global, asked).await,
        Command::Plugins { command: None } => plugins::plugins(global),
        Command::Plugins { command: Some(Plugins::Rollback(asked)) } => rollback::rollback(global, asked),
        // They are done before there are threads.
        Command::Compile { .. } | Command::Completions(_) | Command::Schema(_) | Command::Author(_) => Ok(Exit::Done),
    }
}

fn color(color: Color) {
    match color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
}
