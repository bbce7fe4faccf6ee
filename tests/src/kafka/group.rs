//! What a consumer group has committed.

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::{Offset, TopicPartitionList};

use super::{DEADLINE, Topic};

impl Topic {
    /// Commits an offset of a partition to a group without members.
    pub fn commit(&self, group: &str, partition: i32, offset: i64) {
        let list = self.place(partition, Offset::Offset(offset));
        self.member(group).commit(&list, CommitMode::Sync).expect("the group takes the offset");
    }

    /// The offset that a group has committed for a partition.
    pub fn committed(&self, group: &str, partition: i32) -> Option<i64> {
        let list = self.place(partition, Offset::Invalid);
        let found = self.member(group).committed_offsets(list, DEADLINE).expect("the group tells its offsets");
        found.elements().first().and_then(|element| element.offset().to_raw()).filter(|offset| *offset >= 0)
    }

    fn member(&self, group: &str) -> BaseConsumer {
        self.client().set("group.id", group).set("enable.auto.commit", "false").create().expect("a consumer")
    }

    fn place(&self, partition: i32, offset: Offset) -> TopicPartitionList {
        let mut list = TopicPartitionList::new();
        list.add_partition_offset(&self.name, partition, offset).expect("a partition");
        list
    }
}
