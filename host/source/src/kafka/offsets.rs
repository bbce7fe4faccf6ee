//! What partitions hold, and where a time lies in them.

use std::time::Duration;

use crisol_checkpoint::KafkaPosition;
use rdkafka::consumer::Consumer;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::{Offset, TopicPartitionList};

use super::ahead::Held;
use super::client::{Broker, Trouble};
use super::limit::entries;
use super::topics::Places;
use crate::SourceError;

/// In answers to times: no record is as young.
pub(super) const NO_RECORD: i64 = -1;

impl Broker {
    /// Earliest and latest offsets of partitions. With `isolation.level=read_committed` latest is the last stable
    /// offset, since librdkafka sends the level along (K-061).
    pub(super) fn held(&self, places: &Places) -> Result<Held, SourceError> {
        let earliest = self.retried("asking for the earliest offsets", |left| {
            self.resolved(&all(places, Offset::Beginning)?, left).and_then(known)
        })?;
        let latest = self.retried("asking for the latest offsets", |left| {
            self.resolved(&all(places, Offset::End)?, left).and_then(known)
        })?;
        Ok(Held { earliest, latest })
    }

    /// For milliseconds since 1970 in each partition, the first offset with a record as young (K-028), or [`NO_RECORD`].
    pub(super) fn at_times(&self, times: &KafkaPosition) -> Result<KafkaPosition, SourceError> {
        self.retried("asking for the offsets of a time", |left| {
            let mut list = TopicPartitionList::new();
            for (topic, partition, ms) in entries(times) {
                list.add_partition_offset(topic, partition, Offset::Offset(ms))?;
            }
            self.resolved(&list, left)
        })
    }

    /// One request per leader for all partitions: the times -2 and -1 stand for earliest and latest.
    fn resolved(&self, list: &TopicPartitionList, deadline: Duration) -> Result<KafkaPosition, Trouble> {
        let mut found = KafkaPosition::default();
        if list.count() == 0 {
            return Ok(found);
        }
        for element in self.consumer().offsets_for_times(list.clone(), deadline)?.elements() {
            element.error()?;
            let offset = if let Offset::Offset(offset) = element.offset() { offset } else { NO_RECORD };
            found.0.entry(element.topic().to_owned()).or_default().insert(element.partition(), offset);
        }
        Ok(found)
    }
}

/// An end that a broker does not know is no answer.
fn known(ends: KafkaPosition) -> Result<KafkaPosition, Trouble> {
    if entries(&ends).any(|(_, _, offset)| offset == NO_RECORD) {
        return Err(Trouble::Broker(KafkaError::OffsetFetch(RDKafkaErrorCode::NoOffset)));
    }
    Ok(ends)
}

fn all(places: &Places, which: Offset) -> Result<TopicPartitionList, Trouble> {
    let mut list = TopicPartitionList::new();
    for (topic, partitions) in places {
        for partition in partitions {
            list.add_partition_offset(topic, *partition, which)?;
        }
    }
    Ok(list)
}
