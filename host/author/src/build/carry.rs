//! Samples into a component: a custom section at its end.

use std::borrow::Cow;

use crisol_plugin::SAMPLES_SECTION;
use wasm_encoder::{ComponentSection, CustomSection};

/// Appends a section with these samples, as text.
pub(super) fn append(component: &mut Vec<u8>, samples: &[u8]) {
    CustomSection { name: SAMPLES_SECTION.into(), data: Cow::Borrowed(samples) }.append_to_component(component);
}
