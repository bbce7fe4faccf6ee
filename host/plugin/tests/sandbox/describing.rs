//! What a component says of itself. Wrong things are told in `tests/hostile`.

use crisol_plugin::{Kind, SchemaVersions};
use serde_json::json;

use crate::harness::*;

#[test]
fn a_description_is_read() {
    let component = guest(Kind::Decoder, json!({ "name": "orders", "version": "2.1.0", "schema_versions": "1..3" }));
    assert_eq!(component.name(), "orders");
    assert_eq!(component.version().to_string(), "2.1.0");
    assert_eq!(component.kind(), Kind::Decoder);
    assert_eq!(component.schema_versions(), SchemaVersions::Range { first: 1, last: 3 });
    assert_eq!(component.digest().len(), 64);
}
