//! What a topic holds, as a plain consumer sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{Message, Offset, TopicPartitionList};

use super::{DEADLINE, Topic};

impl Topic {
    /// First and next offset of a partition.
    pub fn ends(&self, partition: i32) -> (i64, i64) {
        let consumer: BaseConsumer = self.client().create().expect("a consumer");
        consumer.fetch_watermarks(&self.name, partition, DEADLINE).expect("the broker tells the offsets")
    }

    /// Partition and offset of each record that a consumer gets; aborted ones count, too.
    pub fn log(&self) -> BTreeSet<(i32, i64)> {
        let consumer = self.reader();
        let mut open: BTreeSet<i32> = self.all_ends().map(|(partition, _)| partition).collect();
        let mut list = TopicPartitionList::new();
        for partition in &open {
            list.add_partition_offset(&self.name, *partition, Offset::Beginning).expect("a partition");
        }
        consumer.assign(&list).expect("partitions are assigned");
        let mut log = BTreeSet::new();
        let end = Instant::now() + DEADLINE * 2;
        while !open.is_empty() {
            assert!(Instant::now() < end, "{}: the log was not read to its end", self.name);
            match consumer.poll(Duration::from_millis(200)) {
                Some(Ok(message)) => drop(log.insert((message.partition(), message.offset()))),
                Some(Err(KafkaError::PartitionEOF(partition))) => drop(open.remove(&partition)),
                Some(Err(error)) => panic!("{}: {error}", self.name),
                None => {}
            }
        }
        log
    }

    /// The next offset of each partition.
    pub(super) fn all_ends(&self) -> impl Iterator<Item = (i32, i64)> + use<> {
        self.latest("read_uncommitted").into_iter()
    }

    /// The last stable offset of each partition.
    pub(super) fn stable_ends(&self) -> BTreeMap<i32, i64> {
        self.latest("read_committed")
    }

    fn latest(&self, isolation: &str) -> BTreeMap<i32, i64> {
        let consumer: BaseConsumer = self.client().set("isolation.level", isolation).create().expect("a consumer");
        let metadata = consumer.fetch_metadata(Some(&self.name), DEADLINE).expect("the broker answers");
        let mut list = TopicPartitionList::new();
        for partition in metadata.topics().iter().flat_map(|topic| topic.partitions()) {
            list.add_partition_offset(&self.name, partition.id(), Offset::End).expect("a partition");
        }
        let found = consumer.offsets_for_times(list, DEADLINE).expect("the broker tells the offsets");
        let offset = |offset| match offset {
            Offset::Offset(offset) => offset,
            other => panic!("{}: {other:?} is no offset", self.name),
        };
        found.elements().iter().map(|element| (element.partition(), offset(element.offset()))).collect()
    }

    fn reader(&self) -> BaseConsumer {
        self.client()
            .set("group.id", "crisol-tests")
            .set("enable.auto.commit", "false")
            .set("enable.partition.eof", "true")
            .set("isolation.level", "read_uncommitted")
            .set("auto.offset.reset", "error")
            .create()
            .expect("a consumer")
    }
}
