//! Log lines: on standard error, as text or as JSON, above the progress bars.

use std::io::{self, Write};

use indicatif::MultiProgress;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::args::{Color, Global, Output};

/// Starts logging; lines go above the bars.
pub(crate) fn start(global: &Global, bars: &MultiProgress) -> Result<(), String> {
    let filter = filter(global)?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(AboveBars(bars.clone()))
        .with_ansi(ansi(global.color))
        // They would be reported by a macro that panics when standard error cannot be written.
        .log_internal_errors(false);
    match global.log_format {
        Output::Text => builder.with_target(false).init(),
        Output::Json => builder.json().flatten_event(true).init(),
    }
    Ok(())
}

fn filter(global: &Global) -> Result<EnvFilter, String> {
    let named = global.log_level.clone().or_else(|| std::env::var("RUST_LOG").ok().filter(|text| !text.is_empty()));
    let text = named.unwrap_or_else(|| {
        match (global.quiet, global.verbose) {
            // Errors of the Delta library come back to us, and are told once, with their place.
            (true, _) => "error,buoyant_kernel=off",
            (false, 0) => "warn,crisol=info,buoyant_kernel=off",
            (false, 1) => "info,crisol=debug",
            (false, _) => "debug,crisol=trace",
        }
        .into()
    });
    EnvFilter::try_new(&text).map_err(|error| format!("log level `{text}`: {error}"))
}

fn ansi(color: Color) -> bool {
    use std::io::IsTerminal;
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

#[derive(Clone)]
struct AboveBars(MultiProgress);

impl Write for AboveBars {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A line that cannot be written is dropped; the run goes on.
        let _ = self.0.suspend(|| io::stderr().write_all(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = io::stderr().flush();
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for AboveBars {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
