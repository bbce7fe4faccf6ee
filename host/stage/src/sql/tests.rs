use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::DataType;

use super::plan::SqlProblem;
use super::*;
use crate::{BatchContext, PoisonSearch};

/// 2024-05-06T07:08:09.000001Z
const NOW: i64 = 1_714_979_289_000_001;

fn rows() -> RecordBatch {
    let decimal = Decimal128Array::from(vec![Some(1050), Some(-1), None]).with_precision_and_scale(18, 2).unwrap();
    let time = TimestampMicrosecondArray::from(vec![Some(0), Some(NOW), None]).with_timezone("UTC");
    RecordBatch::try_from_iter_with_nullable([
        ("amount", Arc::new(decimal) as ArrayRef, true),
        ("n", Arc::new(Int32Array::from(vec![Some(4), Some(0), None])), true),
        ("big", Arc::new(Int64Array::from(vec![Some(i64::MAX), Some(1), Some(2)])), true),
        ("x", Arc::new(Float64Array::from(vec![Some(2.0), Some(0.0), Some(-1.0)])), true),
        ("text", Arc::new(StringArray::from(vec![Some("12"), Some("a"), None])), true),
        ("Order Id", Arc::new(StringArray::from(vec!["A", "b", "C"])), true),
        ("event_ts", Arc::new(time), true),
    ])
    .unwrap()
}

fn plan(text: &str) -> Result<Expression, SqlProblem> {
    Planner::new().unwrap().plan(text, &rows().schema())
}

fn evaluate(text: &str) -> Result<ArrayRef, EvaluationError> {
    plan(text)
        .unwrap()
        .evaluate(&rows(), &BatchContext { batch: 7, timestamp_us: NOW, poison: PoisonSearch::new(None) })
}

fn truth(text: &str) -> Vec<Option<bool>> {
    evaluate(text).unwrap().as_boolean().iter().collect()
}

fn refused(text: &str) -> String {
    let problem = plan(text).unwrap_err();
    format!("{} / {}", problem.what, problem.hint)
}

#[test]
fn e001_conditions_over_one_row_give_a_boolean_with_nulls() {
    assert_eq!(*plan("amount > 0").unwrap().data_type(), DataType::Boolean);
    assert_eq!(truth("amount > 0"), [Some(true), Some(false), None]);
    assert_eq!(truth("amount >= 10.50"), [Some(true), Some(false), None]);
    assert_eq!(truth("amount IS NOT NULL"), [Some(true), Some(true), Some(false)]);
    assert_eq!(truth("n IN (4, 5) OR text = 'a'"), [Some(true), Some(true), None]);
    assert_eq!(truth("length(text) = 2 AND `Order Id` = 'A'"), [Some(true), Some(false), Some(false)]);
    assert_eq!(truth("UPPER(`Order Id`) = 'B'"), [Some(false), Some(true), Some(false)]);
}

#[test]
fn e001_names_are_exact_and_the_nearest_is_named() {
    assert_eq!(refused("amuont > 0"), "no column `amuont` / did you mean `amount`?");
    assert_eq!(refused("Amount > 0"), "no column `Amount` / did you mean `amount`?");
    assert!(refused("zebra > 0").starts_with("no column `zebra` / columns are `amount`, `n`"));
}

#[test]
fn e001_columns_read_are_known() {
    let mut columns = plan("`Order Id` = text OR n > 0").unwrap().columns().to_vec();
    columns.sort();
    assert_eq!(columns, ["Order Id", "n", "text"]);
}

#[test]
fn e001_what_looks_beyond_the_row_is_refused_by_name() {
    for (text, what) in [
        ("n > (SELECT max(n) FROM t)", "subqueries are refused"),
        ("n IN (SELECT 1)", "subqueries are refused"),
        ("EXISTS (SELECT 1)", "subqueries are refused"),
        ("sum(n) > 3", "`sum` is an aggregate function"),
        ("count(*) > 3", "`count` is an aggregate function"),
        ("row_number() OVER (ORDER BY n) = 1", "`row_number` is a window function"),
        ("lag(n) > 1", "`lag` is a window function"),
        ("random() < 0.5", "`random` is refused"),
        ("RAND() < 0.5", "`rand` is refused"),
        ("uuid() = text", "`uuid` is refused"),
        ("current_time() IS NOT NULL", "`current_time` is refused"),
        ("lenght(text) > 1", "no function `lenght` / did you mean `length`?"),
    ] {
        let found = refused(text);
        assert!(found.contains(what), "{text}: {found}");
    }
}

#[test]
fn e001_text_that_is_no_expression_is_refused() {
    for text in
        ["", "amount >", "amount > 0 garbage here", "amount > 0; DROP TABLE x", "amount AS b", "n + 'x' + event_ts"]
    {
        assert!(plan(text).is_err(), "{text}");
    }
}

#[test]
fn c022_time_functions_give_the_batchs_timestamp() {
    for text in ["now()", "current_timestamp", "current_timestamp()", "NOW()"] {
        let value = evaluate(text).unwrap();
        assert_eq!(value.as_primitive::<TimestampMicrosecondType>().values(), &[NOW; 3], "{text}");
        assert_eq!(crisol_ipc::types::name(value.data_type()).as_deref(), Some("timestamp"));
    }
    assert_eq!(evaluate("localtimestamp").unwrap().as_primitive::<TimestampMicrosecondType>().value(0), NOW);
    for text in ["current_date", "current_date()"] {
        assert_eq!(evaluate(text).unwrap().as_ref(), &Date32Array::from(vec![19_849; 3]), "{text}");
    }
    assert_eq!(truth("event_ts = now()"), [Some(false), Some(true), None]);
    assert_eq!(truth("event_ts > current_timestamp() - INTERVAL 1 DAY"), [Some(false), Some(true), None]);
    assert_eq!(truth("CAST(event_ts AS DATE) = current_date"), [Some(false), Some(true), None]);
}

#[test]
fn c022_each_batch_has_its_own_time() {
    let expression = plan("now()").unwrap();
    for timestamp_us in [0, 5, NOW] {
        let value = expression
            .evaluate(&rows(), &BatchContext { batch: 0, timestamp_us, poison: PoisonSearch::new(None) })
            .unwrap();
        assert_eq!(value.as_primitive::<TimestampMicrosecondType>().value(2), timestamp_us);
    }
}

#[test]
fn casts_take_the_type_names_of_contracts() {
    for (text, name) in [
        ("CAST(n AS STRING)", "string"),
        ("CAST(n AS BIGINT)", "bigint"),
        ("CAST(n AS LONG)", "bigint"),
        ("CAST(n AS INT)", "int"),
        ("CAST(n AS SMALLINT)", "smallint"),
        ("CAST(n AS TINYINT)", "tinyint"),
        ("CAST(n AS DOUBLE)", "double"),
        ("CAST(n AS FLOAT)", "float"),
        ("CAST(n AS BOOLEAN)", "boolean"),
        ("CAST(n AS DECIMAL(18,2))", "decimal(18,2)"),
        ("CAST(event_ts AS DATE)", "date"),
        ("CAST(text AS TIMESTAMP)", "timestamp"),
        ("TIMESTAMP '2024-01-02 03:04:05'", "timestamp"),
        ("CAST(text AS BINARY)", "binary"),
        ("try_cast(text AS INT)", "int"),
    ] {
        let planned = plan(text).unwrap_or_else(|problem| panic!("{text}: {problem:?}"));
        assert_eq!(crisol_ipc::types::name(planned.data_type()).as_deref(), Some(name), "{text}");
    }
}

#[test]
fn p050_a_failing_cast_is_an_error_at_its_row() {
    let error = evaluate("CAST(text AS INT) > 1").unwrap_err();
    assert_eq!(error.row, 1);
    assert!(error.text.contains("Cannot cast string 'a'"), "{}", error.text);
    assert_eq!(evaluate("try_cast(text AS INT)").unwrap().as_ref(), &Int32Array::from(vec![Some(12), None, None]));
}

#[test]
fn p050_overflow_is_an_error() {
    let error = evaluate("big + 1").unwrap_err();
    assert_eq!(error.row, 0);
    assert!(error.text.to_lowercase().contains("overflow"), "{}", error.text);
    assert!(evaluate("big * 2").is_err());
    assert!(evaluate("CAST(big AS INT)").is_err());
}

#[test]
fn p054_casts_to_decimal_round_half_up() {
    let value = evaluate("CAST(CAST('2.345' AS DOUBLE) * 2 AS DECIMAL(10,1))").unwrap();
    assert_eq!(value.as_primitive::<Decimal128Type>().value(0), 47);
    let value = evaluate("CAST(10.505 AS DECIMAL(10,2))").unwrap();
    assert_eq!(value.as_primitive::<Decimal128Type>().value(0), 1051);
    let value = evaluate("CAST(-10.505 AS DECIMAL(10,2))").unwrap();
    assert_eq!(value.as_primitive::<Decimal128Type>().value(0), -1051);
}

#[test]
fn e008_division_by_zero_is_an_error_for_every_type() {
    for text in ["1 / n > 0", "n % n = 0", "1.5 / x > 0", "x / x > 0", "amount / n > 0", "x % x > 1", "(n DIV n) > 0"] {
        let error = evaluate(text).unwrap_err();
        assert_eq!(error.row, 1, "{text}");
        assert!(error.text.to_lowercase().contains("divide by zero"), "{text}: {}", error.text);
    }
    let nulls = evaluate("try_cast(text AS DOUBLE) / x").unwrap();
    assert_eq!(nulls.as_primitive::<Float64Type>().iter().collect::<Vec<_>>(), [Some(6.0), None, None]);
}

#[test]
fn integers_divide_as_in_spark() {
    let quotient = evaluate("5 / CAST(2 AS INT)").unwrap();
    assert_eq!(quotient.as_primitive::<Float64Type>().value(0), 2.5);
    let whole = evaluate("big DIV 2").unwrap();
    assert_eq!(whole.as_primitive::<Int64Type>().value(0), i64::MAX / 2);
    assert!(refused("big DIV 2 + 1").starts_with("`DIV 2 + 1` needs parentheses"));
    assert_eq!(evaluate("(big DIV 2) + 1").unwrap().as_primitive::<Int64Type>().value(0), i64::MAX / 2 + 1);
}

#[test]
fn e008_a_guard_protects_its_row_whatever_the_other_rows_are() {
    assert_eq!(truth("n <> 0 AND 8 / n = 2"), [Some(true), Some(false), None]);
    assert_eq!(truth("n = 0 OR 8 / n = 2"), [Some(true), Some(true), None]);
    assert_eq!(truth("CASE WHEN x = 0 THEN false ELSE 1 / x > 0 END"), [Some(true), Some(false), Some(false)]);
}

#[test]
fn floats_in_the_text_are_exact_decimals() {
    assert_eq!(truth("amount = 10.5"), [Some(true), Some(false), None]);
    assert_eq!(truth("0.1 + 0.2 = 0.3"), [Some(true); 3]);
}

#[test]
fn nulls_in_texts_that_are_put_together() {
    assert_eq!(truth("(text || 'z') IS NULL"), [Some(false), Some(false), Some(true)]);
    assert_eq!(truth("concat(text, 'z') = 'z'"), [Some(false), Some(false), Some(true)]);
}

#[test]
fn a_float_beside_a_decimal_makes_both_doubles_as_in_spark() {
    let decimal = Decimal128Array::from(vec![0, 10, 0, 0]).with_precision_and_scale(18, 2).unwrap();
    let rows = RecordBatch::try_from_iter_with_nullable([
        ("x", Arc::new(Float64Array::from(vec![1e-18, 0.100_000_000_000_000_02, f64::NAN, 1e300])) as ArrayRef, true),
        ("f", Arc::new(Float32Array::from(vec![1e-18, 0.5, f32::NAN, 1e10])), true),
        ("d", Arc::new(decimal), true),
        ("n", Arc::new(Int32Array::from(vec![1, 0, 1, 1])), true),
    ])
    .unwrap();
    let evaluate = |text: &str| {
        let planned = Planner::new().unwrap().plan(text, &rows.schema()).unwrap();
        planned.evaluate(&rows, &BatchContext { batch: 0, timestamp_us: 0, poison: PoisonSearch::new(None) }).unwrap()
    };
    for (text, truth) in [
        ("x > 0.0", [true; 4]),
        ("x = 0.1", [false; 4]),
        ("0.0 < x AND NOT x = 0.1", [true; 4]),
        ("x > d", [true; 4]),
        ("x IN (0.1, 0.2)", [false; 4]),
        ("x BETWEEN 0.0 AND 0.1", [true, false, false, false]),
        ("f >= 0.5", [false, true, true, true]),
        ("CASE x WHEN 0.1 THEN true ELSE false END", [false; 4]),
        ("x IS DISTINCT FROM 0.1", [true; 4]),
    ] {
        let found: Vec<bool> = evaluate(text).as_boolean().iter().flatten().collect();
        assert_eq!(found, truth, "{text}");
    }
    for text in [
        "coalesce(x, 0.0)",
        "greatest(x, 0.0)",
        "CASE WHEN n > 0 THEN x ELSE x + 0.0 END",
        "nullif(x, 0.1)",
        "x - d + d",
    ] {
        let values = evaluate(text);
        let values = values.as_primitive::<Float64Type>();
        assert_eq!((values.value(0), values.value(3)), (1e-18, 1e300), "{text}");
        assert!((values.value(1) - 0.100_000_000_000_000_02).abs() <= 1e-17, "{text}");
        assert!(values.value(2).is_nan(), "{text}");
    }
    assert_eq!(evaluate("x + 0.5").as_primitive::<Float64Type>().value(1), 0.100_000_000_000_000_02 + 0.5);
    assert_eq!(*evaluate("d + 0.5").data_type(), DataType::Decimal128(19, 2), "decimals among themselves stay exact");
    assert_eq!(*evaluate("struct(x, 0.5)").data_type(), *evaluate("struct(x, CAST(0.5 AS decimal(1,1)))").data_type());
}

#[test]
fn a_cast_to_the_declared_type_is_part_of_the_expression() {
    let expression = plan("n + 1").unwrap().cast_to(&DataType::Int32);
    let value = expression
        .evaluate(&rows(), &BatchContext { batch: 0, timestamp_us: 0, poison: PoisonSearch::new(None) })
        .unwrap();
    assert_eq!(value.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [Some(5), Some(1), None]);
    let narrow = plan("big").unwrap().cast_to(&DataType::Int32);
    assert_eq!(
        narrow
            .evaluate(&rows(), &BatchContext { batch: 0, timestamp_us: 0, poison: PoisonSearch::new(None) })
            .unwrap_err()
            .row,
        0
    );
}

#[test]
fn an_expression_over_no_row_gives_no_value() {
    let none = plan("amount > 0")
        .unwrap()
        .evaluate(&rows().slice(0, 0), &BatchContext { batch: 0, timestamp_us: 0, poison: PoisonSearch::new(None) });
    assert_eq!(none.unwrap().as_ref(), &BooleanArray::from(Vec::<bool>::new()));
}

#[test]
fn sparks_parts_of_dates_and_times_are_in_utc() {
    // NOW is 2024-05-06T07:08:09.000001Z, the first row 1970-01-01T00:00:00Z.
    for (function, parts) in [
        ("year", [1970, 2024]),
        ("month", [1, 5]),
        ("day", [1, 6]),
        ("dayofmonth", [1, 6]),
        ("hour", [0, 7]),
        ("minute", [0, 8]),
        ("second", [0, 9]),
    ] {
        let expected = Int32Array::from(vec![Some(parts[0]), Some(parts[1]), None]);
        assert_eq!(evaluate(&format!("{function}(event_ts)")).unwrap().as_ref(), &expected, "{function}");
    }
    assert_eq!(truth("YEAR(CAST(event_ts AS DATE)) = 2024 AND hour(CAST(event_ts AS DATE)) = 0")[1], Some(true));
    assert_eq!(truth("month('2024-12-31') = 12 AND second(TIMESTAMP '1969-12-31 23:59:58.7') = 58"), [Some(true); 3]);
    assert_eq!(truth("month(now()) = 5 AND year(current_date) = 2024"), [Some(true); 3]);
    assert!(
        refused("year(n) > 1").starts_with("`year` takes a date or a timestamp, not `int`"),
        "{}",
        refused("year(n) > 1")
    );
    assert!(refused("year() > 1").contains("`year` takes one argument"));
}

#[test]
fn to_date_of_a_timestamp_is_its_date() {
    let days = evaluate("to_date(event_ts)").unwrap();
    assert_eq!(days.as_ref(), &Date32Array::from(vec![Some(0), Some(19_849), None]));
    assert_eq!(truth("to_date('2024-05-06') = CAST(event_ts AS DATE)"), [Some(false), Some(true), None]);
}

#[test]
fn timestamps_and_numbers_become_each_other_in_seconds() {
    let seconds = evaluate("CAST(event_ts AS BIGINT)").unwrap();
    assert_eq!(seconds.as_ref(), &Int64Array::from(vec![Some(0), Some(1_714_979_289), None]));
    assert_eq!(truth("CAST(event_ts AS INT) = 1714979289"), [Some(false), Some(true), None]);
    assert_eq!(truth("try_cast(event_ts AS SMALLINT) IS NULL"), [Some(false), Some(true), Some(true)]);
    assert!(evaluate("CAST(event_ts AS SMALLINT)").is_err(), "it does not fit");
    assert_eq!(truth("CAST(TIMESTAMP '1969-12-31 23:59:58.7' AS BIGINT) = -2"), [Some(true); 3]);
    assert_eq!(truth("CAST(1714979289 AS TIMESTAMP) < event_ts"), [Some(false), Some(true), None]);
    assert_eq!(truth("CAST(n AS TIMESTAMP) = TIMESTAMP '1970-01-01 00:00:04'"), [Some(true), Some(false), None]);
    assert!(evaluate("CAST(big AS TIMESTAMP)").unwrap_err().text.to_lowercase().contains("overflow"));
    for text in [
        "CAST(event_ts AS DOUBLE)",
        "CAST(event_ts AS DECIMAL(20,6))",
        "CAST(x AS TIMESTAMP)",
        "try_cast(n AS TIMESTAMP)",
    ] {
        assert!(
            refused(text).contains("is refused: use CAST with whole seconds since 1970"),
            "{text}: {}",
            refused(text)
        );
    }
}

#[test]
fn rlike_searches_and_a_wrong_pattern_is_explained() {
    assert_eq!(truth("text RLIKE '^[0-9]+$'"), [Some(true), Some(false), None]);
    assert_eq!(truth("text NOT RLIKE '[0-9]' AND `Order Id` REGEXP 'b'"), [Some(false), Some(true), Some(false)]);
    for text in ["text RLIKE 'a('", "text ~ 'a('", "regexp_like(text, 'a(')", "n = 1 OR NOT (text RLIKE 'a(')"] {
        assert_eq!(
            refused(text),
            "`a(` is no regular expression: unclosed group / look-around and back-references of Java are not there",
            "{text}"
        );
    }
    let error = evaluate("regexp_like(text, text || '(')").unwrap_err();
    assert_eq!((error.row, error.text.as_str()), (0, "no regular expression: unclosed group"));
}

#[test]
fn what_cannot_be_planned_is_said_without_the_parsers_innards() {
    let found = refused("text IS NORMALIZED");
    assert!(!found.contains("Span") && !found.contains("sqltorel"), "{found}");
}

/// `docs/contracts.md` names every function that there is, and no other.
#[test]
fn the_reference_lists_every_function_and_no_other() {
    let page = include_str!("../../../../docs/contracts.md");
    let listed = page.split("**Functions.**").nth(1).and_then(|rest| rest.split("\n\n").nth(1)).expect("the list");
    let listed: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
    let known = Planner::new().unwrap().functions();
    let expected = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    assert_eq!(listed, known, "the list should be:\n\n{expected}\n");
}

/// A thread of the runtime has 2 MiB. Half of it must do: something runs below an expression, and a build that is less
/// optimised than that of the tests takes more.
fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(1024 * 1024).spawn(work).unwrap().join().unwrap()
}

#[test]
fn e001_chains_and_nests_up_to_the_limit_are_planned_and_evaluated_on_a_small_stack() {
    let limit = super::depth::DEPTH_MAX;
    let chains = [
        (0..limit - 1).map(|n| format!("n + {n} = big")).collect::<Vec<_>>().join(" OR "),
        format!("n = 0{}", " AND n = big".repeat(limit - 1)),
        format!("x > 0{}", " + x".repeat(limit / 2)),
        format!("{}n = 1", "NOT ".repeat(30)),
        format!("n = 1{}", " IS NULL".repeat(limit / 4)),
        format!("{}n > 0{}", "(".repeat(40), ")".repeat(40)),
        format!("text || 'a'{} = ''", " || text".repeat(limit / 2)),
    ];
    for text in chains {
        on_a_small_stack(move || {
            let expression = plan(&text).unwrap_or_else(|problem| panic!("{problem:?} {:.60}", text));
            let expression = expression.over(&rows().schema()).unwrap();
            expression
                .evaluate(&rows(), &BatchContext { batch: 7, timestamp_us: NOW, poison: PoisonSearch::new(None) })
                .ok();
        });
    }
}

#[test]
fn e001_texts_that_are_too_deep_or_too_long_are_refused_on_a_small_stack() {
    let many = 100_000;
    let deep = |text: String| (text, "the expression is too deep");
    let texts = [
        deep((0..6_000).map(|n| format!("n={n}")).collect::<Vec<_>>().join(" OR ")),
        deep(format!("n = 0{}", " AND n = 0".repeat(many))),
        deep(format!("n{}", "+n".repeat(many))),
        deep(format!("n{} > 0", "::int".repeat(many))),
        deep(format!("n{} > 0", "[1]".repeat(many))),
        deep(format!("n{}", " IS NULL".repeat(many))),
        deep(format!("n{}", ".n".repeat(many))),
        deep(format!("{}n", "NOT ".repeat(many))),
        deep(format!("{}n", "- ".repeat(many))),
        deep(format!("{}n{}", "(".repeat(many), ")".repeat(many))),
        deep(format!("{}n", "(".repeat(many))),
        deep(format!("{}n{}", "(".repeat(100), ")".repeat(100))),
        deep(format!("{}n{}", "CASE WHEN n THEN ".repeat(many / 4), " END".repeat(many / 4))),
        deep(format!("CAST(n AS {}int{})", "array<".repeat(many), ">".repeat(many))),
        deep(format!("n LIKE text{}", " LIKE text".repeat(many / 2))),
        (format!("text = '{}'", "a".repeat(super::depth::TEXT_BYTES_MAX)), "bytes, 1048576 are allowed"),
    ];
    for (text, what) in texts {
        let problem = on_a_small_stack(move || plan(&text).unwrap_err());
        assert!(problem.what.contains(what), "{problem:?}");
        assert!(problem.hint.contains("`IN (…)`"), "{problem:?}");
    }
}

#[test]
fn e001_a_long_list_of_values_is_no_deep_expression() {
    let values = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let text = format!("n IN ({})", values(30_000));
    assert_eq!(on_a_small_stack(move || truth(&text)), [Some(true), Some(true), None]);
}

#[test]
fn p050_a_cast_that_fails_names_the_types_of_contracts() {
    for (text, what) in [
        ("CAST(text AS BIGINT)", "bigint"),
        ("CAST(big AS DECIMAL(5,2))", "decimal of precision 5"),
        ("CAST(big AS TINYINT)", "tinyint"),
        ("CAST(text AS DATE)", "date"),
    ] {
        let error = evaluate(text).unwrap_err();
        assert!(error.text.contains(what), "{error:?}");
        for arrow in ["Int64", "Int8", "Decimal128", "Date32", "Utf8"] {
            assert!(!error.text.contains(arrow), "{error:?}");
        }
    }
    let refused = refused("n > CAST(text AS array<int>)");
    assert!(!refused.contains("Utf8") && !refused.contains("Int32"), "{refused}");
}
