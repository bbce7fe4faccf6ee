//! Log lines about what a person should know of a stream that goes on: warnings, and waiting for what does not answer.

use crisol::Event;

/// The name under which lines are shown without `-v`.
const TARGET: &str = "crisol";

/// Writes a line if the event is about trouble.
pub(super) fn log(event: &Event) {
    match event {
        Event::Warning { stream, text } => tracing::warn!(stream, "{text}"),
        Event::Waiting { stream, reason, tries, retry_in } => {
            let seconds = retry_in.as_secs_f64();
            tracing::warn!(target: TARGET, stream, tries, "waiting, next try in {seconds:.1} s: {reason}");
        }
        Event::Recovered { stream } => tracing::info!(target: TARGET, stream, "going on"),
        _ => {}
    }
}
