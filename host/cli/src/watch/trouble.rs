//! Log lines about what a person should know of a stream: warnings, waiting for what does not answer, rows that broke a
//! component, and its end in error.

use crisol::{Event, POISON_CODES, Progress, waiting_text};

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
        Event::Committed(progress) => broken(progress),
        Event::Ended { stream, error: Some(error), .. } => {
            tracing::error!(target: TARGET, stream, "the stream failed, what does not depend on it goes on: {error}");
        }
        Event::Recovered { stream } => tracing::info!(target: TARGET, stream, "going on"),
        _ => {}
    }
}

fn broken(progress: &Progress) {
    let rejected = progress.host.accounts.rejected.iter().filter(|(code, _)| POISON_CODES.contains(&code.as_str()));
    let rows: Vec<String> = rejected.map(|(code, rows)| format!("{code} {rows}")).collect();
    if !rows.is_empty() {
        let (stream, batch) = (progress.name.as_deref().unwrap_or_default(), progress.batch_id);
        let rows = rows.join(", ");
        tracing::warn!(
            target: TARGET,
            stream,
            batch,
            "rows on which a component failed went to quarantine: {rows}; `host quarantine show` tells why"
        );
    }
}
