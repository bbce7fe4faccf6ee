//! From a start and what the broker holds to the end of the next batch, and what was lost on the way. Pure.

use std::fmt;

use crisol_checkpoint::KafkaPosition;
use crisol_observe::{Gap, GapReason};

use super::limit::{entries, rate_limit};

/// Offsets that should be there and are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The partition stands in the checkpoint and no longer at the broker (K-012).
    Gone { topic: String, partition: i32, position: i64 },
    /// The partition ends before what was read, or is to be read: the topic was made anew (K-067). Records from `from` on
    /// are not read.
    Behind { topic: String, partition: i32, from: i64, position: i64, latest: i64 },
    /// Records between what should be read and the first that is kept (K-011, K-065).
    Expired { topic: String, partition: i32, from: i64, until: i64, earliest: i64 },
}

impl Loss {
    /// Offsets lost, where they can be counted.
    pub(super) fn offsets(&self) -> Option<u64> {
        match self {
            Self::Gone { .. } | Self::Behind { .. } => None,
            Self::Expired { from, until, earliest, .. } => {
                Some(until.min(earliest).saturating_sub(*from).unsigned_abs())
            }
        }
    }

    /// The gap that it leaves where the stream goes on.
    pub(super) fn gap(&self) -> Gap {
        let (topic, partition, reason, from, until) = match self {
            Self::Gone { topic, partition, position } => (topic, partition, GapReason::Deleted, *position, None),
            Self::Behind { topic, partition, from, position, .. } => {
                (topic, partition, GapReason::Truncated, *from, Some(*position))
            }
            Self::Expired { topic, partition, from, until, earliest } => {
                (topic, partition, GapReason::Expired, *from, Some(*until.min(earliest)))
            }
        };
        Gap { topic: topic.clone(), partition: *partition, reason, from, until, offsets: self.offsets() }
    }

    /// What to do where this stops the stream.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::Gone { .. } => {
                "if this is the right broker, the partition or its topic was deleted: set `fail_on_data_loss: false` to go \
                 on with the others; once the topic was made again, begin a new checkpoint with another \
                 `checkpoint_suffix`, and run once with `--reread`"
            }
            Self::Behind { .. } => {
                "to read what the topic holds now, begin a new checkpoint with another `checkpoint_suffix`, and run once \
                 with `--reread` to add to what the table holds; `fail_on_data_loss: false` reads none of it"
            }
            Self::Expired { .. } => {
                "rows were removed at the broker before they were read. To go on without them, run once with \
                 `fail_on_data_loss: false`, or a backfill with `--accept-data-loss`"
            }
        }
    }

    /// What it means to go on in spite of this.
    pub(super) fn consequence(&self) -> String {
        match self {
            Self::Gone { position, .. } => format!(
                "whether it held records from offset {position} on that were not read is not known; should it come back, \
                 it is read from its beginning"
            ),
            Self::Behind { from, position, .. } => format!(
                "records from offset {from} to {position} are not read, how many is not known, nor whether other partitions \
                 that hold more than was read were made anew, too; to read them, begin a new checkpoint with another \
                 `checkpoint_suffix`, and run once with `--reread`"
            ),
            Self::Expired { .. } => {
                format!("{} offsets are passed over", self.offsets().unwrap_or_default())
            }
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone { topic, partition, position } => {
                write!(
                    f,
                    "topic `{topic}` partition {partition}, read up to offset {position}, is gone from the broker"
                )
            }
            Self::Behind { topic, partition, position, latest, .. } => write!(
                f,
                "topic `{topic}` partition {partition}: offset was changed from {position} to {latest} (the topic was \
                 deleted and made anew, or truncated)"
            ),
            Self::Expired { topic, partition, from, until, earliest } => write!(
                f,
                "topic `{topic}` partition {partition}: offsets {from} to {until} should be read, the earliest that \
                 the broker still has is {earliest}"
            ),
        }
    }
}

/// The end of the next batch and what was found missing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ahead {
    pub(crate) end: KafkaPosition,
    pub(crate) losses: Vec<Loss>,
    /// Offsets that wait, whatever the limit; those of a new partition count from its earliest (K-046).
    pub(crate) waiting: u64,
}

/// What partitions hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Held {
    pub(crate) earliest: KafkaPosition,
    pub(crate) latest: KafkaPosition,
}

/// The end of the batch that begins at `start`, at most `limit` offsets further on.
///
/// Partitions that `start` does not name are new and begin at offset 0 (K-010), so that a range says all by itself;
/// for the limit they count from what they still hold.
pub(crate) fn look_ahead(start: &KafkaPosition, held: &Held, limit: Option<u64>) -> Ahead {
    let mut losses = Vec::new();
    let mut from = KafkaPosition::default();
    let mut until = KafkaPosition::default();
    for (topic, partition, latest) in entries(&held.latest) {
        let earliest = offset(&held.earliest, topic, partition).unwrap_or(0);
        let (begin, end) = match offset(start, topic, partition) {
            Some(position) if position > latest => {
                losses.push(Loss::Behind { topic: topic.to_owned(), partition, from: 0, position, latest });
                (position, position)
            }
            // What is gone counts for no limit: one batch leaves it behind.
            Some(position) => (position.max(earliest.min(latest)), latest),
            None => {
                if earliest > 0 {
                    losses.push(Loss::Expired { topic: topic.to_owned(), partition, from: 0, until: latest, earliest });
                }
                (earliest, latest)
            }
        };
        from.0.entry(topic.to_owned()).or_default().insert(partition, begin);
        until.0.entry(topic.to_owned()).or_default().insert(partition, end);
    }
    for (topic, partition, position) in entries(start) {
        if offset(&held.latest, topic, partition).is_none() {
            losses.push(Loss::Gone { topic: topic.to_owned(), partition, position });
        }
    }
    let waiting = distance(&from, &until);
    let end = limit.map_or_else(|| until.clone(), |limit| rate_limit(limit, &from, &until));
    Ahead { end, losses, waiting }
}

/// Offsets between two positions; a partition that `from` does not name counts from 0.
pub(super) fn distance(from: &KafkaPosition, to: &KafkaPosition) -> u64 {
    entries(to)
        .map(|(topic, partition, end)| end.saturating_sub(offset(from, topic, partition).unwrap_or(0)).max(0))
        .fold(0, |sum, size| sum.saturating_add(size.unsigned_abs()))
}

pub(super) fn offset(position: &KafkaPosition, topic: &str, partition: i32) -> Option<i64> {
    position.0.get(topic)?.get(&partition).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(offsets: &[(&str, i32, i64)]) -> KafkaPosition {
        let mut position = KafkaPosition::default();
        for (topic, partition, offset) in offsets {
            position.0.entry((*topic).to_owned()).or_default().insert(*partition, *offset);
        }
        position
    }

    fn held(earliest: &[(&str, i32, i64)], latest: &[(&str, i32, i64)]) -> Held {
        Held { earliest: position(earliest), latest: position(latest) }
    }

    #[test]
    fn k040_without_a_limit_a_batch_takes_all() {
        let held = held(&[("t", 0, 0), ("t", 1, 0)], &[("t", 0, 9), ("t", 1, 5)]);
        let ahead = look_ahead(&position(&[("t", 0, 4), ("t", 1, 5)]), &held, None);
        assert_eq!(ahead, Ahead { end: held.latest, losses: vec![], waiting: 5 });
    }

    #[test]
    fn k010_a_new_partition_joins_the_next_batch_from_the_earliest() {
        let held = held(&[("t", 0, 0), ("t", 1, 0)], &[("t", 0, 10), ("t", 1, 10)]);
        let ahead = look_ahead(&position(&[("t", 0, 10)]), &held, Some(4));
        assert_eq!(ahead, Ahead { end: position(&[("t", 0, 10), ("t", 1, 4)]), losses: vec![], waiting: 10 });
    }

    #[test]
    fn k011_k046_t013_a_new_partition_that_lost_records_is_data_loss_and_counts_from_what_it_holds() {
        let held = held(&[("t", 0, 100)], &[("t", 0, 110)]);
        let ahead = look_ahead(&KafkaPosition::default(), &held, Some(5));
        assert_eq!(ahead.end, position(&[("t", 0, 105)]));
        assert_eq!(ahead.losses.len(), 1);
        assert_eq!(ahead.losses[0].offsets(), Some(100));
        assert_eq!(ahead.waiting, 10, "K-046: counted from what it still holds");
        assert_eq!(ahead.losses[0].consequence(), "100 offsets are passed over");
        assert!(ahead.losses[0].hint().contains("run once with `fail_on_data_loss: false`"));
    }

    #[test]
    fn k041_offsets_that_are_gone_count_for_no_limit_and_one_batch_leaves_them_behind() {
        let held = held(&[("t", 0, 20_000), ("t", 1, 0)], &[("t", 0, 20_100), ("t", 1, 100)]);
        let ahead = look_ahead(&position(&[("t", 0, 0), ("t", 1, 0)]), &held, Some(20));
        assert_eq!(ahead.end, position(&[("t", 0, 20_010), ("t", 1, 10)]));
        let all_gone = self::held(&[("t", 0, 50)], &[("t", 0, 50)]);
        assert_eq!(look_ahead(&position(&[("t", 0, 3)]), &all_gone, Some(20)).end, position(&[("t", 0, 50)]));
    }

    #[test]
    fn k012_a_deleted_partition_is_reported_and_leaves_the_end() {
        let held = held(&[("t", 0, 0)], &[("t", 0, 5)]);
        let ahead = look_ahead(&position(&[("t", 0, 5), ("t", 1, 7), ("u", 0, 1)]), &held, None);
        assert_eq!(ahead.end, position(&[("t", 0, 5)]));
        assert_eq!(ahead.losses[0].to_string(), "topic `t` partition 1, read up to offset 7, is gone from the broker");
        assert_eq!(ahead.losses.len(), 2);
    }

    #[test]
    fn k067_a_partition_made_anew_is_reported_and_never_read_again_from_a_lower_offset() {
        let held = held(&[("t", 0, 0)], &[("t", 0, 5)]);
        let ahead = look_ahead(&position(&[("t", 0, 50)]), &held, None);
        assert_eq!(ahead.end, position(&[("t", 0, 50)]));
        assert!(ahead.losses[0].to_string().contains("offset was changed from 50 to 5"));
    }

    #[test]
    fn a_loss_leaves_a_gap_that_says_from_where_to_where() {
        let gap = |reason, from, until, offsets| Gap { topic: "t".into(), partition: 0, reason, from, until, offsets };
        let (topic, partition) = ("t".to_owned(), 0);
        let expired = Loss::Expired { topic: topic.clone(), partition, from: 5, until: 9, earliest: 7 };
        assert_eq!(expired.gap(), gap(GapReason::Expired, 5, Some(7), Some(2)));
        let behind = Loss::Behind { topic: topic.clone(), partition, from: 0, position: 50, latest: 5 };
        assert_eq!(behind.gap(), gap(GapReason::Truncated, 0, Some(50), None));
        assert_eq!(Loss::Gone { topic, partition, position: 8 }.gap(), gap(GapReason::Deleted, 8, None, None));
    }

    #[test]
    fn k012_k067_what_cannot_be_counted_is_not_counted_and_the_hint_is_what_helps() {
        let behind = Loss::Behind { topic: "t".into(), partition: 0, from: 0, position: 50, latest: 5 };
        let gone = Loss::Gone { topic: "t".into(), partition: 0, position: 50 };
        for loss in [&behind, &gone] {
            assert_eq!(loss.offsets(), None);
            assert!(loss.consequence().contains("not known"), "{}", loss.consequence());
            assert!(loss.hint().contains("`checkpoint_suffix`"), "{}", loss.hint());
        }
        assert!(!behind.hint().contains("run once with `fail_on"), "the position stays: {}", behind.hint());
    }
}
