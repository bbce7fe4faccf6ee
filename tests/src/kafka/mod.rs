//! Topics of the Apache Kafka that `make test` has started.

use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};

/// A topic of its own for a test.
#[derive(Debug)]
pub struct Topic {
    name: String,
    brokers: String,
}

const DEADLINE: Duration = Duration::from_secs(30);

impl Topic {
    /// Makes a topic; the name must be the test's own.
    pub fn create(name: &str, partitions: i32) -> Self {
        let brokers = crate::given("CRISOL_TEST_KAFKA");
        let admin: AdminClient<DefaultClientContext> =
            ClientConfig::new().set("bootstrap.servers", &brokers).create().expect("an admin client");
        let options = AdminOptions::new().operation_timeout(Some(DEADLINE));
        let topic = NewTopic::new(name, partitions, TopicReplication::Fixed(1));
        let made = block_on(admin.create_topics([&topic], &options)).expect("the broker answers");
        made.into_iter().for_each(|result| {
            result.unwrap_or_else(|(name, error)| panic!("topic `{name}`: {error}"));
        });
        Self { name: name.into(), brokers }
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
        let producer: ThreadedProducer<DefaultProducerContext> = ClientConfig::new()
            .set("bootstrap.servers", &self.brokers)
            .set("linger.ms", "20")
            .set("queue.buffering.max.messages", "1000000")
            .create()
            .expect("a producer");
        for (key, value) in messages {
            producer
                .send(BaseRecord::to(&self.name).key(key).payload(value))
                .unwrap_or_else(|(error, _)| panic!("produce: {error}"));
        }
        producer.flush(DEADLINE * 4).expect("the broker takes the messages");
    }

    /// Produces the lines `key TAB value` of a text.
    pub fn produce_lines(&self, lines: &str) {
        self.produce(lines.lines().map(|line| line.split_once('\t').expect("key TAB value")));
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}
