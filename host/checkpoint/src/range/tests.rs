//! Tests of the algebra of ranges.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Where one thing stands that a source gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place<'a> {
    Kafka { topic: &'a str, partition: i32, offset: i64 },
    Files { log_offset: i64 },
    Table { version: i64, index: i64 },
}

impl Range {
    /// What a range means, place by place: the measure for everything else that is said of it.
    fn contains(&self, place: Place<'_>) -> bool {
        match (&self.start, &self.end, place) {
            (Position::Kafka(start), Position::Kafka(end), Place::Kafka { topic, partition, offset }) => {
                let from = start.get(topic, partition).unwrap_or(0);
                end.get(topic, partition).is_some_and(|until| from <= offset && offset < until)
            }
            (Position::Files(start), Position::Files(end), Place::Files { log_offset }) => {
                start.log_offset < log_offset && log_offset <= end.log_offset
            }
            (Position::Table(start), Position::Table(end), Place::Table { version, index }) => {
                let place = (version, index);
                start.place() <= place && place < end.place()
            }
            _ => false,
        }
    }
}

fn kafka(partitions: &[(&str, i32, i64)]) -> Position {
    Position::Kafka(partitions.iter().map(|(t, p, o)| ((*t).to_owned(), *p, *o)).collect())
}

fn files(log_offset: i64) -> Position {
    Position::Files(FilesPosition { log_offset })
}

fn table(version: i64, index: i64) -> Position {
    table_of("a", version, index)
}

fn table_of(id: &str, version: i64, index: i64) -> Position {
    Position::Table(TablePosition { reservoir_id: id.to_owned(), reservoir_version: version, index, snapshot: false })
}

fn snapshot(version: i64, index: i64) -> Position {
    let id = "a".to_owned();
    Position::Table(TablePosition { reservoir_id: id, reservoir_version: version, index, snapshot: true })
}

#[test]
fn d120_the_versions_after_a_snapshot_follow_it() {
    for (start, end, distance) in
        [(snapshot(3, 0), snapshot(3, 4), 4), (snapshot(3, 4), table(4, 0), 1), (snapshot(3, 0), table(9, 2), 6)]
    {
        assert_eq!(Range::new(start, end).unwrap().distance(), distance);
    }
}

#[test]
fn a_range_never_goes_back() {
    let back = [
        (kafka(&[("t", 0, 5), ("t", 1, 5)]), kafka(&[("t", 0, 9), ("t", 1, 4)]), "partition 1 is before 5"),
        (files(3), files(2), "never go back"),
        (table(3, 0), table(2, 9), "never go back"),
        (table(3, 4), table(3, 3), "never go back"),
        (snapshot(3, 4), snapshot(3, 3), "never go back"),
        (snapshot(3, 4), snapshot(4, 4), "never go back"),
        (snapshot(3, 4), table(3, 9), "never go back"),
        (table(3, 0), snapshot(3, 1), "never go back"),
        (table(3, 0), snapshot(4, 0), "never go back"),
    ];
    for (start, end, expected) in back {
        let error = Range::new(start.clone(), end.clone()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains(&start.to_string()) && error.contains(&end.to_string()), "{error}");
        assert_eq!(Range::new(start.clone(), start).unwrap().distance(), 0);
    }
}

#[test]
fn a_partition_is_never_forgotten() {
    let error = Range::new(kafka(&[("t", 0, 5), ("u", 3, 0)]), kafka(&[("t", 0, 5)])).unwrap_err();
    assert!(error.to_string().contains("topic `u`, partition 3 is missing"), "{error}");
}

#[test]
fn positions_of_different_sources_make_no_range() {
    assert_eq!(
        Range::new(files(1), table(1, 1)).unwrap_err(),
        PositionError::Kinds { start: crate::Kind::Files, end: crate::Kind::Table }
    );
    assert_eq!(
        Range::after_loss(table_of("a", 1, 1), table_of("b", 2, 1)).unwrap_err(),
        PositionError::Tables { start: "a".to_owned(), end: "b".to_owned() }
    );
}

#[test]
fn a_new_partition_starts_at_its_beginning() {
    let range = Range::new(kafka(&[("t", 0, 5)]), kafka(&[("t", 0, 7), ("t", 1, 3)])).unwrap();
    assert_eq!(range.distance(), 2 + 3);
    assert!(range.contains(Place::Kafka { topic: "t", partition: 1, offset: 0 }));
    assert!(!range.contains(Place::Kafka { topic: "t", partition: 1, offset: 3 }));
    assert!(!range.contains(Place::Kafka { topic: "t", partition: 0, offset: 4 }));
    assert!(!range.contains(Place::Kafka { topic: "u", partition: 0, offset: 5 }));
}

#[test]
fn a_partition_that_began_anew_has_no_rows_in_a_range_after_loss() {
    let range = Range::after_loss(kafka(&[("t", 0, 500)]), kafka(&[("t", 0, 10)])).unwrap();
    assert_eq!(range.distance(), 0);
    assert!(!(0..600).any(|offset| range.contains(Place::Kafka { topic: "t", partition: 0, offset })));
}

#[test]
fn distances_saturate() {
    let far = Range::new(kafka(&[]), kafka(&[("t", 0, i64::MAX), ("t", 1, i64::MAX), ("t", 2, i64::MAX)])).unwrap();
    assert_eq!(far.distance(), u64::MAX);
    assert_eq!(Range::new(files(-1), files(i64::MAX)).unwrap().distance(), i64::MAX as u64);
}

#[test]
fn a_range_of_a_table_is_ordered_by_version_then_index() {
    let range = Range::new(table(2, 3), table(4, 1)).unwrap();
    let inside = |version, index| range.contains(Place::Table { version, index });
    assert!(inside(2, 3) && inside(2, 99) && inside(3, 0) && inside(4, 0));
    assert!(!inside(2, 2) && !inside(4, 1) && !inside(1, 50) && !inside(5, 0));
    assert_eq!(range.distance(), 2);
}

#[test]
fn a_range_in_json_names_start_and_end() {
    let range = Range::new(files(-1), files(3)).unwrap();
    assert_eq!(range.to_json().to_string(), r#"{"start":{"logOffset":-1},"end":{"logOffset":3}}"#);
}

const TOPICS: [&str; 2] = ["a", "b"];
const OFFSETS: i64 = 24;

/// Steps of a source of Kafka: which partition moves, and by how much.
fn moves() -> impl Strategy<Value = Vec<Vec<(usize, i32, i64)>>> {
    vec(vec((0..TOPICS.len(), 0..3i32, 0..8i64), 0..5), 1..8)
}

/// Positions that follow each other: each names all partitions of the one before.
fn positions_of(moves: &[Vec<(usize, i32, i64)>]) -> Vec<Position> {
    let mut now = KafkaPosition::default();
    let mut all = vec![Position::Kafka(now.clone())];
    for batch in moves {
        for (topic, partition, by) in batch {
            let next = now.get(TOPICS[*topic], *partition).unwrap_or(0) + by;
            now.0.entry(TOPICS[*topic].to_owned()).or_default().insert(*partition, next.min(OFFSETS));
        }
        all.push(Position::Kafka(now.clone()));
    }
    all
}

fn covered(ranges: &[Range], place: Place<'_>) -> usize {
    ranges.iter().filter(|range| range.contains(place)).count()
}

fn chained(positions: &[Position]) -> Vec<Range> {
    positions.windows(2).map(|w| Range::new(w[0].clone(), w[1].clone()).unwrap()).collect()
}

proptest! {
    #[test]
    fn chained_ranges_of_kafka_cover_each_record_once(moves in moves()) {
        let positions = positions_of(&moves);
        let ranges = chained(&positions);
        let whole = Range::new(positions[0].clone(), positions[positions.len() - 1].clone()).unwrap();
        for topic in TOPICS {
            for partition in 0..3 {
                for offset in 0..OFFSETS + 2 {
                    let place = Place::Kafka { topic, partition, offset };
                    prop_assert_eq!(covered(&ranges, place), usize::from(whole.contains(place)));
                }
            }
        }
        let sum: u64 = ranges.iter().map(Range::distance).sum();
        prop_assert_eq!(sum, whole.distance());
    }

    #[test]
    fn a_distance_counts_the_records_of_a_range(moves in moves()) {
        for range in chained(&positions_of(&moves)) {
            let records = TOPICS.iter().flat_map(|topic| (0..3).flat_map(move |partition| {
                (0..OFFSETS + 2).map(move |offset| Place::Kafka { topic, partition, offset })
            }));
            prop_assert_eq!(records.filter(|place| range.contains(*place)).count() as u64, range.distance());
        }
    }

    #[test]
    fn chained_ranges_of_a_table_cover_each_file_once(mut places in vec((0..5i64, 0..4i64), 2..8)) {
        places.sort_unstable();
        let positions: Vec<_> = places.iter().map(|(v, i)| table(*v, *i)).collect();
        let ranges = chained(&positions);
        let (first, last) = (places[0], places[places.len() - 1]);
        for version in 0..6 {
            for index in 0..5 {
                let inside = first <= (version, index) && (version, index) < last;
                prop_assert_eq!(covered(&ranges, Place::Table { version, index }), usize::from(inside));
            }
        }
    }

    #[test]
    fn chained_ranges_of_files_cover_each_entry_once(mut ends in vec(-1..20i64, 2..8)) {
        ends.sort_unstable();
        let ranges = chained(&ends.iter().map(|n| files(*n)).collect::<Vec<_>>());
        let (first, last) = (ends[0], ends[ends.len() - 1]);
        for log_offset in -1..22 {
            let inside = first < log_offset && log_offset <= last;
            prop_assert_eq!(covered(&ranges, Place::Files { log_offset }), usize::from(inside));
        }
        let sum: u64 = ranges.iter().map(Range::distance).sum();
        prop_assert_eq!(sum, (last - first) as u64);
    }

    #[test]
    fn of_two_positions_at_most_one_order_makes_a_range_that_holds_something(a in moves(), b in moves()) {
        let (a, b) = (positions_of(&a).pop().unwrap(), positions_of(&b).pop().unwrap());
        let forth = Range::new(a.clone(), b.clone());
        let back = Range::new(b.clone(), a.clone());
        prop_assert_eq!(forth.is_ok(), b.reaches(&a));
        prop_assert_eq!(back.is_ok(), a.reaches(&b));
        if forth.is_ok() && back.is_ok() {
            prop_assert_eq!(a, b);
        }
    }

    #[test]
    fn the_text_of_a_position_reads_back(moves in moves(), version in 0..i64::MAX, index in 0..i64::MAX) {
        let kafka = positions_of(&moves).pop().unwrap();
        for position in [kafka, table(version, index), files(version)] {
            prop_assert_eq!(Position::parse(&position.to_string()).unwrap(), position);
        }
    }

    #[test]
    fn no_text_makes_parsing_panic(text in "\\PC{0,60}", cut in 0..90usize) {
        let _ = Position::parse(&text);
        let whole = table(7, 1).to_string();
        let _ = Position::parse(whole.get(..cut.min(whole.len())).unwrap_or(""));
    }
}
