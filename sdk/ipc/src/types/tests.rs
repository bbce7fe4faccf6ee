use proptest::prelude::*;

use super::*;

#[test]
fn simple_names_and_their_synonyms() {
    for (text, data_type) in [
        ("string", DataType::Utf8),
        ("binary", DataType::Binary),
        ("boolean", DataType::Boolean),
        ("byte", DataType::Int8),
        ("tinyint", DataType::Int8),
        ("short", DataType::Int16),
        ("smallint", DataType::Int16),
        ("int", DataType::Int32),
        (" Integer ", DataType::Int32),
        ("LONG", DataType::Int64),
        ("bigint", DataType::Int64),
        ("float", DataType::Float32),
        ("double", DataType::Float64),
        ("decimal", DataType::Decimal128(10, 0)),
        ("decimal(5)", DataType::Decimal128(5, 0)),
        ("decimal( 18 , 2 )", DataType::Decimal128(18, 2)),
        ("date", DataType::Date32),
        ("timestamp", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))),
    ] {
        assert_eq!(parse(text), Ok(data_type), "{text}");
    }
}

#[test]
fn nested_names_give_nullable_children_with_delta_s_names() {
    let items = parse("array<struct<sku:string,qty int>>").unwrap();
    let DataType::List(element) = &items else { panic!("{items}") };
    assert_eq!((element.name().as_str(), element.is_nullable()), ("element", true));
    assert_eq!(name(&items).unwrap(), "array<struct<sku:string,qty:int>>");
    let map = parse("map<string,array<double>>").unwrap();
    let DataType::Map(entries, false) = &map else { panic!("{map}") };
    assert_eq!((entries.name().as_str(), entries.is_nullable()), ("key_value", false));
    assert_eq!(name(&map).unwrap(), "map<string,array<double>>");
}

#[test]
fn odd_field_names_stand_in_backticks() {
    let text = "struct<`a b`:int,`tick``ed`:string,ñandú:date>";
    assert_eq!(name(&parse(text).unwrap()).unwrap(), text);
}

#[test]
fn mistakes_are_told_with_the_nearest_name() {
    for (text, part) in [
        ("strng", "did you mean `string`?"),
        ("timestap", "did you mean `timestamp`?"),
        ("varchar", "use `string`"),
        ("zzz", "types are string, binary"),
        ("", "expected a type at character 1, found the end"),
        ("array<int", "expected `>` at character 10, found the end"),
        ("decimal(39,2)", "the precision must be 1 to 38"),
        ("decimal(5,6)", "the scale must be 0 to 5"),
        ("decimal(x)", "expected a number from 0 to 38 at character 9"),
        ("decimal(300)", "expected a number from 0 to 38"),
        ("int int", "`int` is left over"),
        ("struct<a:int,a:int>", "`a` is there twice"),
        ("struct<>", "expected a field name"),
        ("struct<`a:int>", "a backtick is not closed"),
        ("map<map<int,int>,int>", "cannot be the key"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }
    assert!(parse(&"array<".repeat(1000)).unwrap_err().contains("16 levels"));
    assert!(parse(&"x".repeat(100_000)).unwrap_err().contains("too long"));
}

#[test]
fn types_that_contracts_do_not_have_have_no_name() {
    for data_type in [
        DataType::UInt32,
        DataType::LargeUtf8,
        DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        DataType::Timestamp(TimeUnit::Microsecond, None),
        DataType::List(Arc::new(Field::new("element", DataType::Int32, false))),
    ] {
        assert_eq!(name(&data_type), None, "{data_type}");
    }
}

pub(crate) fn any_type() -> impl Strategy<Value = DataType> {
    let leaf = prop_oneof![
        Just(DataType::Utf8),
        Just(DataType::Binary),
        Just(DataType::Boolean),
        Just(DataType::Int8),
        Just(DataType::Int16),
        Just(DataType::Int32),
        Just(DataType::Int64),
        Just(DataType::Float32),
        Just(DataType::Float64),
        Just(DataType::Date32),
        Just(timestamp()),
        (1u8..=38).prop_flat_map(|p| (Just(p), 0..=p as i8)).prop_map(|(p, s)| DataType::Decimal128(p, s)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = inner.clone().prop_filter("a map is no key", |k| !matches!(k, DataType::Map(..)));
        prop_oneof![
            inner.clone().prop_map(list_of),
            (key, inner.clone()).prop_map(|(k, v)| map_of(k, v)),
            proptest::collection::btree_map("[a-z`: ñ<>,]{0,5}", inner, 1..4).prop_map(|fields| {
                DataType::Struct(fields.into_iter().map(|(n, t)| Field::new(n, t, true)).collect::<Vec<_>>().into())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn name_and_parse_are_inverse(data_type in any_type()) {
        let text = name(&data_type).unwrap();
        prop_assert_eq!(parse(&text).unwrap(), data_type);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[a-z<>(),:`0-9 ñ]{0,60}") {
        if let Ok(data_type) = parse(&text) {
            prop_assert_eq!(parse(&name(&data_type).unwrap()), Ok(data_type));
        }
    }
}
