//! For programs, on standard output: Spark's progress object, one a batch, and components that are exchanged or refused.

use crisol::{Event, Observer};
use serde_json::json;

/// Writes JSON Lines.
pub(super) struct Json;

impl Observer for Json {
    fn observe(&self, event: &Event) {
        let line = match event {
            Event::Committed(progress) => serde_json::to_string(progress),
            Event::Swapped { component, from, to, streams, columns } => serde_json::to_string(&json!({
                "schema": "crisol.swapped/v1", "component": component, "from": from, "to": to, "streams": streams,
                "columns": columns,
            })),
            Event::PluginRefused { path, reason, columns } => serde_json::to_string(&json!({
                "schema": "crisol.plugin_refused/v1", "file": path, "reason": reason, "columns": columns,
            })),
            _ => return,
        };
        if let Ok(text) = line {
            crate::out::println!("{text}");
        }
    }
}
