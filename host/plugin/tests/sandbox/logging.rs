//! Log lines of components.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::harness::*;

/// Keeps each event as one line.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0 += &format!("{}={value:?} ", field.name());
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} ", event.metadata().level()));
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn lines_are_marked_escaped_and_counted() {
    let stage = stage(&DECODER, "push-flood").unwrap();
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), || stage.call(&ids(&[1]), NOW_US).unwrap_err());
    let lines = lines.0.lock().unwrap();
    let guest: Vec<&String> = lines.iter().filter(|line| line.contains("guest=true")).collect();
    assert_eq!(guest.len(), 100);
    assert!(guest[0].starts_with("INFO ") && guest[0].contains("plugin=\"guest\""), "{}", guest[0]);
    assert!(guest[0].contains("line 0 \\u{1b}[2J") && !guest[0].contains('\u{1b}'), "{}", guest[0]);
    let dropped = lines.iter().find(|line| line.contains("dropped=")).expect("what is dropped is told");
    assert!(dropped.starts_with("WARN ") && dropped.contains("dropped=4900"), "{dropped}");
}
