//! Log lines about components that are exchanged or refused.

use crisol::{Build, ColumnChanges, Event};

/// The name under which lines are shown without `-v`.
const TARGET: &str = "crisol";

/// Writes a line if the event is about components.
pub(super) fn log(event: &Event) {
    match event {
        Event::Swapped { component, from, to, streams, columns } => {
            let below = below(columns.as_ref());
            tracing::info!(target: TARGET, "{}{below}", swapped(component, from, to, streams));
        }
        Event::PluginRefused { path, reason, columns } => {
            let below = below(columns.as_ref());
            tracing::warn!(target: TARGET, path, "a component is refused, what served goes on: {reason}{below}");
        }
        _ => {}
    }
}

/// Other columns beside the old ones, on lines of their own.
fn below(columns: Option<&ColumnChanges>) -> String {
    columns.map_or_else(String::new, |columns| format!("\n{columns}"))
}

fn swapped(component: &str, from: &[Build], to: &[Build], streams: &[String]) -> String {
    let list = |builds: &[Build]| {
        let one = |build: &Build| format!("{} ({})", build.version, build.digest.get(..12).unwrap_or(&build.digest));
        let builds: Vec<String> = builds.iter().map(one).collect();
        if builds.is_empty() { "nothing".to_string() } else { builds.join(", ") }
    };
    let streams = streams.join(", ");
    format!("component `{component}`: {} in place of {} from the next batch of {streams}", list(to), list(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_names_builds_and_streams() {
        let build = |version: &str, digest: &str| Build { version: version.into(), digest: digest.repeat(64) };
        let streams = ["silver.orders".to_string()];
        assert_eq!(
            swapped("orders", &[build("1.0.0", "a")], &[build("3.0.0", "c"), build("1.0.0", "a")], &streams),
            "component `orders`: 3.0.0 (cccccccccccc), 1.0.0 (aaaaaaaaaaaa) in place of 1.0.0 (aaaaaaaaaaaa) from the \
             next batch of silver.orders"
        );
    }
}
