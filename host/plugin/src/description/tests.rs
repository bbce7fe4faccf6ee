use super::*;

fn parse(json: serde_json::Value) -> Result<Description, String> {
    Description::parse(&json.to_string())
}

fn with(key: &str, value: serde_json::Value) -> String {
    let mut json = serde_json::json!({ "name": "orders", "version": "1.2.0", "kind": "decoder" });
    json[key] = value;
    parse(json).expect_err("must be refused")
}

#[test]
fn the_least_description_is_enough() {
    let description =
        parse(serde_json::json!({ "name": "orders", "version": "1.2.0", "kind": "decoder", "new": 1 })).unwrap();
    assert_eq!(description.name, "orders");
    assert_eq!(description.version, Version::new(1, 2, 0));
    assert_eq!(description.kind, Kind::Decoder);
    assert_eq!(description.schema_versions, SchemaVersions::All);
    assert!(!description.reuse);
}

#[test]
fn schema_versions_are_read() {
    let parse = SchemaVersions::parse;
    assert_eq!(parse("all").unwrap(), SchemaVersions::All);
    assert_eq!(parse("2").unwrap(), SchemaVersions::Range { first: 2, last: 2 });
    assert_eq!(parse("1..3").unwrap(), SchemaVersions::Range { first: 1, last: 3 });
    for wrong in ["", "3..1", "1..", "a", "1..2..3", "-1", "99999999999"] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
    assert_eq!(parse("1..3").unwrap().to_string(), "1..3");
    assert_eq!(parse("2..2").unwrap().to_string(), "2");
}

#[test]
fn schema_versions_overlap_at_their_ends() {
    let range = |first, last| SchemaVersions::Range { first, last };
    assert!(range(1, 3).overlaps(range(3, 5)));
    assert!(!range(1, 2).overlaps(range(3, 5)));
    assert!(SchemaVersions::All.overlaps(range(9, 9)));
    assert!(range(1, 3).contains(3) && !range(1, 3).contains(4));
}

#[test]
fn names_are_words_for_contracts_and_paths() {
    for wrong in ["", "Orders", "-a", "a-", "a b", "../a", "a\u{1b}[31m", "9a", &"a".repeat(65)] {
        let error = with("name", wrong.into());
        assert!(error.starts_with("`name` is"), "{error}");
        assert!(!error.contains('\u{1b}'), "{error}");
    }
    assert!(check_name("top-n").is_ok() && check_name("a").is_ok() && check_name("v2_x9").is_ok());
}

#[test]
fn each_wrong_key_is_named() {
    assert!(with("version", "1.2".into()).contains("`version` is `1.2`"));
    assert!(with("kind", "filter".into()).contains("kinds are decoder, transformer"));
    assert!(with("schema_versions", "one".into()).contains("`schema_versions` is `one`"));
    assert!(with("options", serde_json::json!({ "type": 7 })).contains("`options` is not a JSON Schema"));
    assert!(with("reuse", "yes".into()).contains("not the JSON expected"));
    assert!(Description::parse("{").unwrap_err().contains("not the JSON expected"));
    assert!(Description::parse("{}").unwrap_err().contains("name"));
}

#[test]
fn a_description_without_end_is_refused_by_its_length() {
    assert!(Description::parse(&" ".repeat(DESCRIPTION_BYTES_MAX + 1)).unwrap_err().contains("are allowed"));
    let schema = serde_json::json!({ "description": "x".repeat(OPTIONS_SCHEMA_BYTES_MAX) });
    assert!(with("options", schema).contains("`options` is 262"));
}
