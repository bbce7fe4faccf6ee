//! Topics of an Apache Kafka: made, filled, changed and read by plain clients of librdkafka.

mod admin;
mod group;
mod log;
mod record;
mod transaction;

use std::time::{Duration, Instant};

use rdkafka::ClientConfig;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{BaseProducer, BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};

pub use record::Record;
pub use transaction::Transaction;

/// A topic of its own for a test.
#[derive(Debug)]
pub struct Topic {
    name: String,
    brokers: String,
}

/// Longest that a broker may take for what it promised.
const DEADLINE: Duration = Duration::from_secs(60);

impl Topic {
    /// Makes a topic at the broker of the whole run; the name must be the test's own.
    pub fn create(name: &str, partitions: i32) -> Self {
        Self::create_with(name, partitions, &[])
    }

    /// Makes a topic with options of its own, `("cleanup.policy", "compact")`.
    pub fn create_with(name: &str, partitions: i32, options: &[(&str, &str)]) -> Self {
        Self::create_at(&crate::given("CRISOL_TEST_KAFKA"), name, partitions, options)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its broker is.
    pub fn brokers(&self) -> &str {
        &self.brokers
    }

    /// Produces messages, spread over the partitions by key as Kafka does.
    pub fn produce<'a>(&self, messages: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let producer: ThreadedProducer<DefaultProducerContext> = self
            .client()
            .set("linger.ms", "20")
            .set("queue.buffering.max.messages", "1000000")
            .create()
            .expect("a producer");
        for (key, value) in messages {
            producer
                .send(BaseRecord::to(&self.name).key(key).payload(value))
                .unwrap_or_else(|(error, _)| panic!("produce: {error}"));
        }
        producer.flush(DEADLINE * 2).expect("the broker takes the messages");
    }

    /// Produces the lines `key TAB value` of a text.
    pub fn produce_lines(&self, lines: &str) {
        self.produce(lines.lines().map(|line| line.split_once('\t').expect("key TAB value")));
    }

    /// Produces records and waits until the broker has them.
    pub fn send(&self, records: impl IntoIterator<Item = Record>) {
        self.send_with(&[], records);
    }

    /// Produces records by a client with options of its own, `("compression.type", "zstd")`.
    pub fn send_with(&self, options: &[(&str, &str)], records: impl IntoIterator<Item = Record>) {
        let mut client = self.client();
        client.set("linger.ms", "5");
        for (name, value) in options {
            client.set(*name, *value);
        }
        let producer: BaseProducer = client.create().expect("a producer");
        records.into_iter().for_each(|record| send(&producer, &self.name, &record));
        producer.flush(DEADLINE * 2).expect("the broker takes the records");
    }

    fn client(&self) -> ClientConfig {
        let mut client = ClientConfig::new();
        client.set("bootstrap.servers", &self.brokers);
        client
    }
}

/// Hands a record to a producer, once it has room and has heard of the partition.
fn send(producer: &BaseProducer, topic: &str, record: &Record) {
    use RDKafkaErrorCode::{QueueFull, UnknownPartition};
    let mut message = record.message(topic);
    let end = Instant::now() + DEADLINE * 2;
    while let Err((error, unsent)) = producer.send(message) {
        let may_come = matches!(error, KafkaError::MessageProduction(QueueFull | UnknownPartition));
        assert!(may_come && Instant::now() < end, "produce: {error}");
        producer.poll(Duration::from_millis(20));
        message = unsent;
    }
}

/// Waits for the answer of an asynchronous call.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}
