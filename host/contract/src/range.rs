//! An explicit range of a topic, as it is typed: from where to where (K-022, K-024, K-025).

use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

use crate::ingestion::KafkaBound;

const FORMS: &str = "give `earliest`, `latest`, a time (`2026-03-01T10:00:00Z`), offsets \
                     (`{\"orders.v1\": {\"0\": 23}}`) or times (`{\"orders.v1\": {\"0\": \"2026-03-01T10:00:00Z\"}}`) for \
                     each partition";

/// Reads a bound: `earliest`, `latest`, a time in UTC (RFC 3339, a day, or milliseconds since 1970), or JSON that gives an
/// offset or a time for each partition.
///
/// # Errors
/// What the text is not, for people.
pub fn parse_bound(text: &str) -> Result<KafkaBound, String> {
    match text.trim() {
        word if word.eq_ignore_ascii_case("earliest") => Ok(KafkaBound::Earliest),
        word if word.eq_ignore_ascii_case("latest") => Ok(KafkaBound::Latest),
        json if json.starts_with('{') => partitions(json),
        time => milliseconds(time).map(KafkaBound::Timestamp).ok_or_else(|| FORMS.to_owned()),
    }
}

/// Refuses a range that begins at the end, ends at the beginning, or cannot be one whatever the topic holds.
///
/// # Errors
/// What is wrong, for people.
pub fn check_range(from: &KafkaBound, to: &KafkaBound) -> Result<(), String> {
    let names = |bound: &KafkaBound, word: i64| match bound {
        KafkaBound::Offsets(offsets) => offsets.values().flat_map(BTreeMap::values).any(|offset| *offset == word),
        _ => false,
    };
    if *from == KafkaBound::Latest || names(from, -1) {
        return Err("a range cannot begin at the latest offset (`latest`, -1)".to_owned());
    }
    if *to == KafkaBound::Earliest || names(to, -2) {
        return Err("a range cannot end at the earliest offset (`earliest`, -2)".to_owned());
    }
    match (from, to) {
        (KafkaBound::Timestamp(from), KafkaBound::Timestamp(to)) if from > to => {
            Err("the range ends before it begins".to_owned())
        }
        (KafkaBound::Offsets(from), KafkaBound::Offsets(to))
        | (KafkaBound::Timestamps(from), KafkaBound::Timestamps(to)) => check_maps(from, to),
        _ => Ok(()),
    }
}

type Numbers = BTreeMap<String, BTreeMap<i32, i64>>;

fn check_maps(from: &Numbers, to: &Numbers) -> Result<(), String> {
    let names = |numbers: &Numbers| -> Vec<String> {
        numbers.iter().flat_map(|(topic, of)| of.keys().map(move |partition| format!("{topic}-{partition}"))).collect()
    };
    if names(from) != names(to) {
        let (from, to) = (names(from).join(", "), names(to).join(", "));
        return Err(format!(
            "both ends must name the same partitions: the range begins in [{from}] and ends in [{to}]"
        ));
    }
    for (topic, of) in from {
        for (partition, from) in of {
            let to = to.get(topic).and_then(|of| of.get(partition)).copied().unwrap_or(-1);
            if *from >= 0 && to >= 0 && *from > to {
                return Err(format!(
                    "topic `{topic}` partition {partition}: the range begins at {from} and ends at {to}"
                ));
            }
        }
    }
    Ok(())
}

/// All offsets, or all times.
fn partitions(json: &str) -> Result<KafkaBound, String> {
    let topics: BTreeMap<String, BTreeMap<i32, serde_json::Value>> =
        serde_json::from_str(json).map_err(|error| format!("{error}; {FORMS}"))?;
    let (mut offsets, mut times) = (Numbers::new(), Numbers::new());
    for (topic, of) in topics {
        for (partition, value) in of {
            let (numbers, number) = match &value {
                serde_json::Value::Number(number) => (&mut offsets, number.as_i64().filter(|offset| *offset >= -2)),
                serde_json::Value::String(time) => (&mut times, milliseconds(time)),
                _ => (&mut offsets, None),
            };
            let number = number.filter(|_| partition >= 0);
            let number =
                number.ok_or_else(|| format!("topic `{topic}` partition {partition}: {value} is neither; {FORMS}"))?;
            numbers.entry(topic.clone()).or_default().insert(partition, number);
        }
    }
    match (offsets.is_empty(), times.is_empty()) {
        (false, true) => Ok(KafkaBound::Offsets(offsets)),
        (true, false) => Ok(KafkaBound::Timestamps(times)),
        (true, true) => Err(format!("it names no partition; {FORMS}")),
        (false, false) => Err(format!("it gives offsets and times; {FORMS}")),
    }
}

/// Milliseconds since 1970 of a time in UTC.
fn milliseconds(text: &str) -> Option<i64> {
    if let Ok(ms) = text.parse::<i64>() {
        return (ms >= 0).then_some(ms);
    }
    let whole = if text.len() == "2026-03-01".len() { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let time = humantime::parse_rfc3339_weak(&whole).ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(of: &[(i32, i64)]) -> KafkaBound {
        KafkaBound::Offsets([("t".to_owned(), of.iter().copied().collect())].into())
    }

    #[test]
    fn k022_bounds_are_words_times_or_maps() {
        assert_eq!(parse_bound(" Earliest "), Ok(KafkaBound::Earliest));
        assert_eq!(parse_bound("latest"), Ok(KafkaBound::Latest));
        assert_eq!(parse_bound("2026-03-01"), Ok(KafkaBound::Timestamp(1_772_323_200_000)));
        assert_eq!(parse_bound("2026-03-01T00:00:00.5Z"), Ok(KafkaBound::Timestamp(1_772_323_200_500)));
        assert_eq!(parse_bound("1772323200000"), Ok(KafkaBound::Timestamp(1_772_323_200_000)));
        assert_eq!(parse_bound(r#"{"t": {"0": 5, "1": -1}}"#), Ok(offsets(&[(0, 5), (1, -1)])));
        let times = KafkaBound::Timestamps([("t".to_owned(), [(0, 1_772_323_200_000)].into())].into());
        assert_eq!(parse_bound(r#"{"t": {"0": "2026-03-01"}}"#), Ok(times));
    }

    #[test]
    fn what_is_no_bound_is_told_with_the_forms() {
        for text in [
            "",
            "tomorrow",
            "-5",
            "{}",
            r#"{"t": {}}"#,
            r#"{"t": {"0": -3}}"#,
            r#"{"t": {"0": 1, "1": "2026-03-01"}}"#,
            r#"{"t": {"-1": 3}}"#,
            r#"{"t": {"0": null}}"#,
            r#"{"t": 5}"#,
        ] {
            let error = parse_bound(text).unwrap_err();
            assert!(error.contains("give `earliest`"), "{text}: {error}");
        }
    }

    #[test]
    fn k024_a_range_begins_before_the_latest_and_ends_after_the_earliest() {
        for from in [KafkaBound::Latest, offsets(&[(0, -1)])] {
            assert!(check_range(&from, &KafkaBound::Latest).unwrap_err().contains("cannot begin"));
        }
        for to in [KafkaBound::Earliest, offsets(&[(0, -2)])] {
            assert!(check_range(&KafkaBound::Earliest, &to).unwrap_err().contains("cannot end"));
        }
        assert_eq!(check_range(&KafkaBound::Earliest, &KafkaBound::Latest), Ok(()));
    }

    #[test]
    fn k025_both_ends_name_the_same_partitions_and_none_ends_before_it_begins() {
        let error = check_range(&offsets(&[(0, 1)]), &offsets(&[(0, 2), (1, 2)])).unwrap_err();
        assert!(error.contains("[t-0]") && error.contains("[t-0, t-1]"), "{error}");
        let error = check_range(&offsets(&[(0, 3), (1, 9)]), &offsets(&[(0, 3), (1, 8)])).unwrap_err();
        assert!(error.contains("partition 1: the range begins at 9 and ends at 8"), "{error}");
        assert_eq!(check_range(&offsets(&[(0, -2), (1, 9)]), &offsets(&[(0, 3), (1, -1)])), Ok(()));
        assert!(check_range(&KafkaBound::Timestamp(2), &KafkaBound::Timestamp(1)).is_err());
    }
}
