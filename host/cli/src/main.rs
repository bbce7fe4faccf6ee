//! The command `host`: arguments, log, exit code, and errors rendered once.
//!
//! Data goes to standard output, all else to standard error.

mod args;
mod check;
mod exit;
mod logging;
mod out;
mod plugins;
mod run;
mod show;
mod status;
mod tables;
mod watch;

use std::process::ExitCode;

use clap::Parser;
use indicatif::MultiProgress;

use crate::args::{Cli, Color, Command};
use crate::exit::Exit;

fn main() -> ExitCode {
    let cli = Cli::parse();
    color(cli.global.color);
    let bars = MultiProgress::new();
    if let Err(text) = logging::start(&cli.global, &bars) {
        return exit::wrong_usage(&text);
    }
    #[cfg(feature = "failpoints")]
    let _failpoints = fail::FailScenario::setup();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return exit::wrong_usage(&format!("cannot start threads: {error}")),
    };
    let result = runtime.block_on(execute(&cli, &bars));
    // Threads that still read from a broker must not hold up the end.
    runtime.shutdown_background();
    match result {
        Ok(exit) => exit.into(),
        Err(error) => exit::render(&error, cli.global.output),
    }
}

async fn execute(cli: &Cli, bars: &MultiProgress) -> Result<Exit, crisol::EngineError> {
    let global = &cli.global;
    match &cli.command {
        Command::Run(run) => run::run(global, run, bars).await,
        Command::Check => check::check(global),
        Command::Show(show) => show::show(global, show).await,
        Command::Status => status::status(global).await,
        Command::Plugins => plugins::plugins(global),
    }
}

fn color(color: Color) {
    match color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
}
