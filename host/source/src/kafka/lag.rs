//! How far behind a stream is (K-110 … K-113): in records exactly as far as offsets tell, in time and bytes by what was read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crisol_checkpoint::KafkaPosition;
use crisol_observe::PartitionLag;

use super::ahead::{Held, offset};
use super::limit::entries;
use super::rows::RecordView;

/// What was read of each partition since the source was made.
#[derive(Debug, Default)]
pub(super) struct Seen(BTreeMap<(Arc<str>, i32), Records>);

/// Records of a partition.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Records {
    pub(super) count: u64,
    /// Keys and values.
    pub(super) bytes: u64,
    /// Of the last record; `None` when it has none.
    pub(super) timestamp_ms: Option<i64>,
}

impl Records {
    pub(super) fn add(&mut self, record: &RecordView<'_>) {
        self.count += 1;
        self.bytes += (record.key.map_or(0, <[u8]>::len) + record.payload.map_or(0, <[u8]>::len)) as u64;
        self.timestamp_ms = Some(record.timestamp_ms).filter(|ms| *ms >= 0).or(self.timestamp_ms);
    }
}

impl Seen {
    pub(super) fn add(&mut self, topic: &Arc<str>, partition: i32, read: Records) {
        let seen = self.0.entry((Arc::clone(topic), partition)).or_default();
        seen.count += read.count;
        seen.bytes += read.bytes;
        seen.timestamp_ms = read.timestamp_ms.or(seen.timestamp_ms);
    }

    /// Lag of `consumed` behind what partitions hold. A partition that `consumed` does not name counts from its earliest
    /// offset (K-112).
    pub(super) fn lag(&self, consumed: &KafkaPosition, held: &Held, now_ms: i64) -> Vec<PartitionLag> {
        let lag = |(topic, partition, latest): (&str, i32, i64)| {
            let begin = offset(consumed, topic, partition).or_else(|| offset(&held.earliest, topic, partition));
            let records = latest.saturating_sub(begin.unwrap_or(0)).max(0).unsigned_abs();
            let seen = self.0.get(&(Arc::from(topic), partition)).filter(|seen| seen.count > 0);
            let age = |seen: &Records| Some(now_ms.saturating_sub(seen.timestamp_ms?).max(0) as f64 / 1000.0);
            PartitionLag {
                topic: topic.to_owned(),
                partition,
                records,
                seconds: if records == 0 { Some(0.0) } else { seen.and_then(age) },
                bytes: match (records, seen) {
                    (0, _) => Some(0),
                    (_, Some(seen)) => Some(records.saturating_mul(seen.bytes / seen.count)),
                    (_, None) => None,
                },
            }
        };
        entries(&held.latest).map(lag).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(offsets: &[(i32, i64)]) -> KafkaPosition {
        KafkaPosition([("t".to_owned(), offsets.iter().copied().collect())].into())
    }

    #[test]
    fn k110_k112_k113_t015_lag_is_per_partition_and_new_ones_count_from_their_earliest() {
        let mut seen = Seen::default();
        let topic: Arc<str> = "t".into();
        seen.add(&topic, 1, Records { count: 2, bytes: 200, timestamp_ms: Some(4_000) });
        seen.add(&topic, 1, Records { count: 2, bytes: 0, timestamp_ms: Some(5_000) });
        seen.add(&topic, 1, Records::default());
        let held =
            Held { earliest: position(&[(0, 0), (1, 0), (2, 90)]), latest: position(&[(0, 10), (1, 20), (2, 100)]) };
        let lag = seen.lag(&position(&[(0, 10), (1, 5)]), &held, 7_500);
        let of =
            |partition, records, seconds, bytes| PartitionLag { topic: "t".into(), partition, records, seconds, bytes };
        assert_eq!(lag, [of(0, 0, Some(0.0), Some(0)), of(1, 15, Some(2.5), Some(750)), of(2, 10, None, None)]);
    }

    #[test]
    fn a_clock_that_is_behind_gives_no_negative_lag_and_no_timestamp_no_age() {
        let mut seen = Seen::default();
        let topic: Arc<str> = "t".into();
        seen.add(&topic, 0, Records { count: 1, bytes: 3, timestamp_ms: None });
        let held = Held { earliest: position(&[(0, 0)]), latest: position(&[(0, 4)]) };
        assert_eq!(seen.lag(&position(&[(0, 1)]), &held, 0)[0].seconds, None);
        seen.add(&topic, 0, Records { count: 1, bytes: 3, timestamp_ms: Some(9) });
        assert_eq!(seen.lag(&position(&[(0, 1)]), &held, 0)[0].seconds, Some(0.0));
        assert_eq!(seen.lag(&position(&[(0, 7)]), &held, 0)[0].records, 0, "never below zero");
    }
}
