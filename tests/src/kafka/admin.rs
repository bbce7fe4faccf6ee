//! What an administrator does to topics. Each call returns when clients can see what it did.

use rdkafka::TopicPartitionList;
use rdkafka::admin::{AdminClient, AdminOptions, NewPartitions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;

use super::{DEADLINE, Topic, block_on};
use crate::wait_until;

impl Topic {
    /// Makes a topic at a broker.
    pub fn create_at(brokers: &str, name: &str, partitions: i32, options: &[(&str, &str)]) -> Self {
        let topic = Self { name: name.into(), brokers: brokers.into() };
        let new = NewTopic::new(name, partitions, TopicReplication::Fixed(1));
        let new = options.iter().fold(new, |new, (name, value)| new.set(name, value));
        let made = block_on(topic.admin().create_topics([&new], &options_of_calls())).expect("the broker answers");
        made.into_iter().for_each(|result| {
            result.unwrap_or_else(|(name, error)| panic!("topic `{name}`: {error}"));
        });
        topic.wait_for_partitions(partitions);
        topic
    }

    /// Gives it more partitions, so many in all.
    pub fn grow(&self, partitions: i32) {
        let new = NewPartitions::new(&self.name, usize::try_from(partitions).expect("a number of partitions"));
        let made = block_on(self.admin().create_partitions([&new], &options_of_calls())).expect("the broker answers");
        made.into_iter().for_each(|result| {
            result.unwrap_or_else(|(name, error)| panic!("topic `{name}`: {error}"));
        });
        self.wait_for_partitions(partitions);
    }

    /// Deletes it.
    pub fn delete(&self) {
        let gone =
            block_on(self.admin().delete_topics(&[&self.name], &options_of_calls())).expect("the broker answers");
        gone.into_iter().for_each(|result| {
            result.unwrap_or_else(|(name, error)| panic!("topic `{name}`: {error}"));
        });
        self.wait_for_partitions(0);
    }

    /// Deletes the records of a partition below an offset, as retention would.
    pub fn delete_records(&self, partition: i32, before: i64) {
        let mut offsets = TopicPartitionList::new();
        offsets.add_partition_offset(&self.name, partition, rdkafka::Offset::Offset(before)).expect("an offset");
        block_on(self.admin().delete_records(&offsets, &options_of_calls())).expect("the broker deletes records");
        wait_until("the records are gone", DEADLINE, || self.ends(partition).0 == before);
    }

    fn wait_for_partitions(&self, partitions: i32) {
        let what = format!("topic `{}` has {partitions} partitions that can be read", self.name);
        wait_until(&what, DEADLINE, || self.partitions() == partitions);
    }

    /// Number of partitions that have a leader; 0 without the topic.
    fn partitions(&self) -> i32 {
        let admin = self.admin();
        let metadata = admin.inner().fetch_metadata(Some(&self.name), DEADLINE).expect("the broker answers");
        let topics = metadata.topics().iter().filter(|topic| topic.error().is_none());
        let led = topics.flat_map(|topic| topic.partitions()).filter(|partition| partition.leader() >= 0);
        i32::try_from(led.count()).expect("a number of partitions")
    }

    fn admin(&self) -> AdminClient<DefaultClientContext> {
        self.client().set("allow.auto.create.topics", "false").create().expect("an admin client")
    }
}

fn options_of_calls() -> AdminOptions {
    AdminOptions::new().request_timeout(Some(DEADLINE)).operation_timeout(Some(DEADLINE))
}
