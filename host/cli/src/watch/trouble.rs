//! Log lines about what a person should know of a stream that goes on: warnings, and waiting for what does not answer.

use crisol::{Event, waiting_text};

/// The name under which lines are shown without `-v`.
const TARGET: &str = "crisol";

/// Writes a line if the event is about trouble.
pub(super) fn log(event: &Event) {
    match event {
        Event::Warning { stream, text } => tracing::warn!(stream, "{text}"),
        Event::Waiting { stream, reason, tries, retry_in } => {
            let why = waiting_text(reason, *tries, *retry_in);
            tracing::warn!(target: TARGET, stream, "waiting for the source: {why}");
        }
        Event::Recovered { stream } => tracing::info!(target: TARGET, stream, "going on"),
        _ => {}
    }
}
