//! Spark's progress object, one a batch, on standard output.

use crisol::{Event, Observer};

/// Writes progress objects.
pub(super) struct Json;

impl Observer for Json {
    fn observe(&self, event: &Event) {
        if let Event::Committed(progress) = event
            && let Ok(text) = serde_json::to_string(progress)
        {
            crate::out::println!("{text}");
        }
    }
}
