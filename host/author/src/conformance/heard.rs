//! Log lines of components, as they come out of the sandbox.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// A line of a component: its level and its text.
pub(super) type Line = (Level, String);

/// Runs something and gives the lines that components said meanwhile, on this thread.
pub(super) fn heard<T>(run: impl FnOnce() -> T) -> (T, Vec<Line>) {
    let ear = Ear::default();
    let result = tracing::subscriber::with_default(ear.clone(), run);
    let lines = std::mem::take(&mut *ear.0.lock().unwrap_or_else(PoisonError::into_inner));
    (result, lines)
}

#[derive(Clone, Default)]
struct Ear(Arc<Mutex<Vec<Line>>>);

#[derive(Default)]
struct Fields {
    guest: bool,
    message: String,
}

impl Visit for Fields {
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.guest |= field.name() == "guest" && value;
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
}

impl Subscriber for Ear {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        if fields.guest {
            let line = (*event.metadata().level(), fields.message);
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
