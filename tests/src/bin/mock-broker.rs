//! librdkafka's in-process mock broker as a program: holds one topic, filled from a file, until standard input closes.
//!
//! `mock-broker TOPIC PARTITIONS FILE`: each line is `key TAB value`. Prints `HOST:PORT` when all messages are there; lines
//! on standard input become messages as they come. The mock keeps at most 5 MiB a partition and drops the oldest beyond
//! that, so more than 4 MiB is refused.
#![allow(clippy::print_stdout, reason = "the address is the program's output")]

use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::error::{KafkaError, RDKafkaErrorCode::QueueFull};
use rdkafka::mocking::MockCluster;
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};

const PARTITION_BYTES_MAX: usize = 4 << 20;
const FLUSH_MAX: Duration = Duration::from_secs(30);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [topic, partitions, file] = arguments.as_slice() else {
        return Err("usage: mock-broker TOPIC PARTITIONS FILE".into());
    };
    let partitions: i32 = partitions.parse()?;
    let cluster = MockCluster::new(1)?;
    cluster.create_topic(topic, partitions, 1)?;
    let mut filler = Filler::new(&cluster.bootstrap_servers(), topic, partitions)?;
    for line in BufReader::new(std::fs::File::open(file)?).lines() {
        filler.send(&line?)?;
    }
    filler.producer.flush(FLUSH_MAX)?;
    println!("{}", cluster.bootstrap_servers());
    std::io::stdout().flush()?;
    for line in std::io::stdin().lock().lines() {
        filler.send(&line?)?;
    }
    Ok(())
}

/// What brings lines into the topic, and how many bytes each partition holds.
struct Filler<'a> {
    producer: ThreadedProducer<DefaultProducerContext>,
    topic: &'a str,
    bytes: Vec<usize>,
}

impl<'a> Filler<'a> {
    fn new(brokers: &str, topic: &'a str, partitions: i32) -> Result<Self, Box<dyn Error>> {
        let producer = ClientConfig::new().set("bootstrap.servers", brokers).set("linger.ms", "20").create()?;
        Ok(Self { producer, topic, bytes: vec![0; usize::try_from(partitions)?] })
    }

    fn send(&mut self, line: &str) -> Result<(), Box<dyn Error>> {
        let (key, value) = line.split_once('\t').ok_or("each line is `key TAB value`")?;
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let partition = usize::try_from(hasher.finish() % u64::try_from(self.bytes.len())?)?;
        self.bytes[partition] += key.len() + value.len() + 32;
        if self.bytes[partition] > PARTITION_BYTES_MAX {
            return Err("more than 4 MiB a partition: the mock broker would drop the oldest".into());
        }
        let mut record = BaseRecord::to(self.topic).partition(i32::try_from(partition)?).key(key).payload(value);
        loop {
            match self.producer.send(record) {
                Ok(()) => return Ok(()),
                Err((KafkaError::MessageProduction(QueueFull), unsent)) => {
                    self.producer.flush(FLUSH_MAX)?;
                    record = unsent;
                }
                Err((error, _)) => return Err(error.into()),
            }
        }
    }
}
