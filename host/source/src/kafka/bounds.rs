//! From where a person says that reading begins or ends to offsets (K-020 … K-030).

use std::collections::BTreeMap;

use crisol_checkpoint::KafkaPosition;
use crisol_contract::{KafkaBound, NoRecord};

use super::ahead::{Held, offset};
use super::limit::entries;
use super::offsets::NO_RECORD;
use crate::SourceError;

const LATEST: i64 = -1;
const EARLIEST: i64 = -2;

/// Which end of a range a bound is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    Start(NoRecord),
    End,
}

/// The offsets that a bound means now. `at_times` tells for milliseconds the first offset with a record as young.
pub(super) fn resolve(
    bound: &KafkaBound,
    edge: Edge,
    held: &Held,
    at_times: impl FnOnce(&KafkaPosition) -> Result<KafkaPosition, SourceError>,
) -> Result<KafkaPosition, SourceError> {
    match bound {
        KafkaBound::Earliest => Ok(held.earliest.clone()),
        KafkaBound::Latest => Ok(held.latest.clone()),
        KafkaBound::Offsets(asked) => exact(asked, held),
        KafkaBound::Timestamp(ms) => {
            let mut times = held.latest.clone();
            times.0.values_mut().flat_map(BTreeMap::values_mut).for_each(|offset| *offset = *ms);
            timed(&times, edge, held, at_times)
        }
        KafkaBound::Timestamps(times) => {
            let times = KafkaPosition(times.clone());
            check_places(&times, held)?;
            timed(&times, edge, held, at_times)
        }
    }
}

fn exact(asked: &BTreeMap<String, BTreeMap<i32, i64>>, held: &Held) -> Result<KafkaPosition, SourceError> {
    let asked = KafkaPosition(asked.clone());
    check_places(&asked, held)?;
    let mut resolved = KafkaPosition::default();
    for (topic, partition, asked) in entries(&asked) {
        let at = match asked {
            LATEST => offset(&held.latest, topic, partition),
            EARLIEST => offset(&held.earliest, topic, partition),
            exact => Some(exact),
        };
        let at = at.filter(|at| *at >= 0).ok_or_else(|| {
            SourceError::config(
                format!("{asked} is no offset (topic `{topic}` partition {partition})"),
                "use -1 for the latest, -2 for the earliest, or the next offset to read",
            )
        })?;
        resolved.0.entry(topic.to_owned()).or_default().insert(partition, at);
    }
    Ok(resolved)
}

fn timed(
    times: &KafkaPosition,
    edge: Edge,
    held: &Held,
    at_times: impl FnOnce(&KafkaPosition) -> Result<KafkaPosition, SourceError>,
) -> Result<KafkaPosition, SourceError> {
    let mut found = at_times(times)?;
    for (topic, partitions) in &mut found.0 {
        for (partition, at) in partitions.iter_mut().filter(|(_, at)| **at == NO_RECORD) {
            if edge == Edge::Start(NoRecord::Error) {
                return Err(no_record(topic, *partition, offset(times, topic, *partition)));
            }
            *at = offset(&held.latest, topic, *partition).unwrap_or_default();
        }
    }
    Ok(found)
}

fn no_record(topic: &str, partition: i32, ms: Option<i64>) -> SourceError {
    let ms = ms.unwrap_or_default();
    SourceError::config(
        format!("topic `{topic}` partition {partition} has no record with a timestamp of {ms} ms or later"),
        "choose an earlier time; or set `starting_offsets_by_timestamp_strategy` to `latest`: the partition then begins \
         at its end",
    )
}

/// K-023: whoever names partitions names them all.
fn check_places(asked: &KafkaPosition, held: &Held) -> Result<(), SourceError> {
    let (specified, assigned) = (places(asked), places(&held.latest));
    if specified == assigned {
        return Ok(());
    }
    Err(SourceError::config(
        format!(
            "a position must name every partition: specified are [{}], assigned are [{}]",
            specified.join(", "),
            assigned.join(", ")
        ),
        "give each partition one; among offsets -1 is the latest and -2 the earliest",
    ))
}

/// Refuses offsets beyond the end of their partition: nothing was read there, so nothing can be lost.
pub(super) fn check_start(bound: &KafkaBound, start: &KafkaPosition, held: &Held) -> Result<(), SourceError> {
    let KafkaBound::Offsets(_) = bound else { return Ok(()) };
    for (topic, partition, at) in entries(start) {
        let latest = offset(&held.latest, topic, partition).unwrap_or_default();
        if at > latest {
            return Err(SourceError::config(
                format!("topic `{topic}` partition {partition}: offset {at} lies beyond the end, which is {latest}"),
                "give an offset up to the end, or -1, which is the end itself",
            ));
        }
    }
    Ok(())
}

/// Refuses an explicit range that ends before it begins, or after the last record (K-025).
pub(super) fn check_range(start: &KafkaPosition, end: &KafkaPosition, held: &Held) -> Result<(), SourceError> {
    for (topic, partition, until) in entries(end) {
        let from = offset(start, topic, partition).unwrap_or_default();
        let latest = offset(&held.latest, topic, partition).unwrap_or_default();
        let what = if from > until {
            format!("the range begins at offset {from} and ends at {until}")
        } else if until > latest {
            format!("the range ends at offset {until}, and the partition at {latest}")
        } else {
            continue;
        };
        let what = format!("topic `{topic}` partition {partition}: {what}");
        return Err(SourceError::config(what, "choose other bounds; `latest` is where partitions end now"));
    }
    Ok(())
}

fn places(position: &KafkaPosition) -> Vec<String> {
    entries(position).map(|(topic, partition, _)| format!("{topic}-{partition}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(a: i64, b: i64) -> KafkaPosition {
        KafkaPosition([("t".to_owned(), [(0, a), (1, b)].into())].into())
    }

    fn held() -> Held {
        Held { earliest: position(3, 0), latest: position(10, 20) }
    }

    fn offsets(offsets: &[(i32, i64)]) -> KafkaBound {
        KafkaBound::Offsets([("t".to_owned(), offsets.iter().copied().collect())].into())
    }

    fn at(bound: &KafkaBound, edge: Edge) -> Result<KafkaPosition, SourceError> {
        // Records of partition 0 are as old as their offset times ten; partition 1 has none from 50 on.
        resolve(bound, edge, &held(), |times| {
            let first = |partition: i32, ms: i64| match partition {
                0 if ms <= 90 => ms.div_euclid(10),
                1 if ms < 50 => 7,
                _ => NO_RECORD,
            };
            let of = |t: &BTreeMap<i32, i64>| t.iter().map(|(p, ms)| (*p, first(*p, *ms))).collect();
            Ok(KafkaPosition(times.0.iter().map(|(topic, t)| (topic.clone(), of(t))).collect()))
        })
    }

    const START: Edge = Edge::Start(NoRecord::Error);

    #[test]
    fn k022_minus_one_is_latest_and_minus_two_earliest() {
        assert_eq!(at(&offsets(&[(0, -2), (1, -1)]), START).unwrap(), position(3, 20));
        assert_eq!(at(&offsets(&[(0, 7), (1, 0)]), START).unwrap(), position(7, 0));
        assert!(at(&offsets(&[(0, -3), (1, 0)]), START).is_err());
    }

    #[test]
    fn k023_every_partition_must_be_named() {
        let error = at(&offsets(&[(0, 7), (4, 0)]), START).unwrap_err().to_string();
        assert!(error.contains("specified are [t-0, t-4], assigned are [t-0, t-1]"), "{error}");
        let times = KafkaBound::Timestamps([("t".to_owned(), [(0, 5)].into())].into());
        assert!(at(&times, START).unwrap_err().to_string().contains("specified are [t-0], assigned"));
    }

    #[test]
    fn k028_a_time_is_the_first_record_as_young() {
        assert_eq!(at(&KafkaBound::Timestamp(40), START).unwrap(), position(4, 7));
        let times = KafkaBound::Timestamps([("t".to_owned(), [(0, 90), (1, 0)].into())].into());
        assert_eq!(at(&times, START).unwrap(), position(9, 7));
    }

    #[test]
    fn an_offset_beyond_the_end_is_a_mistake_and_no_loss() {
        let beyond = offsets(&[(0, 11), (1, 20)]);
        let error = check_start(&beyond, &position(11, 20), &held()).unwrap_err();
        assert!(error.to_string().contains("partition 0: offset 11 lies beyond the end, which is 10"), "{error}");
        assert!(check_start(&offsets(&[(0, 10), (1, 20)]), &position(10, 20), &held()).is_ok());
    }

    #[test]
    fn k025_a_range_ends_after_it_begins_and_where_records_are() {
        assert!(check_range(&position(3, 0), &position(10, 0), &held()).is_ok());
        let text = |start, end| check_range(&start, &end, &held()).unwrap_err().to_string();
        assert!(
            text(position(5, 3), position(5, 2)).contains("partition 1: the range begins at offset 3 and ends at 2")
        );
        assert!(
            text(position(5, 3), position(11, 3))
                .contains("partition 0: the range ends at offset 11, and the partition at 10")
        );
    }

    #[test]
    fn k029_k030_without_such_a_record_a_start_is_refused_or_latest_and_an_end_is_latest() {
        let bound = KafkaBound::Timestamp(60);
        let error = at(&bound, START).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("partition 1") && text.contains("60 ms"), "{text}");
        assert!(error.hint().unwrap().contains("`starting_offsets_by_timestamp_strategy`"));
        assert_eq!(at(&bound, Edge::Start(NoRecord::Latest)).unwrap(), position(6, 20));
        assert_eq!(at(&bound, Edge::End).unwrap(), position(6, 20));
    }
}
