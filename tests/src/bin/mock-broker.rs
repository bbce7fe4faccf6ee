//! librdkafka's in-process mock broker as a program: holds one topic, filled from a file, until standard input closes.
//!
//! `mock-broker TOPIC PARTITIONS FILE`: each line is `key TAB value`. Prints `HOST:PORT` when all messages are there.
//! The mock keeps at most 5 MiB a partition and drops the oldest beyond that, so more than 4 MiB is refused.
#![allow(clippy::print_stdout, reason = "the address is the program's output")]

use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Read, Write};
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::mocking::MockCluster;
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};

const PARTITION_BYTES_MAX: usize = 4 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [topic, partitions, file] = arguments.as_slice() else {
        return Err("usage: mock-broker TOPIC PARTITIONS FILE".into());
    };
    let partitions: i32 = partitions.parse()?;
    let cluster = MockCluster::new(1)?;
    cluster.create_topic(topic, partitions, 1)?;
    fill(&cluster.bootstrap_servers(), topic, partitions, file)?;
    println!("{}", cluster.bootstrap_servers());
    std::io::stdout().flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn fill(brokers: &str, topic: &str, partitions: i32, file: &str) -> Result<(), Box<dyn Error>> {
    let producer: ThreadedProducer<DefaultProducerContext> =
        ClientConfig::new().set("bootstrap.servers", brokers).set("linger.ms", "20").create()?;
    let mut bytes = vec![0; usize::try_from(partitions)?];
    for line in BufReader::new(std::fs::File::open(file)?).lines() {
        let line = line?;
        let (key, value) = line.split_once('\t').ok_or("each line is `key TAB value`")?;
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let partition = usize::try_from(hasher.finish() % u64::try_from(partitions)?)?;
        bytes[partition] += key.len() + value.len() + 32;
        if bytes[partition] > PARTITION_BYTES_MAX {
            return Err("more than 4 MiB a partition: the mock broker would drop the oldest".into());
        }
        send(&producer, topic, i32::try_from(partition)?, key, value)?;
    }
    producer.flush(Duration::from_secs(30))?;
    Ok(())
}

fn send(
    producer: &ThreadedProducer<DefaultProducerContext>,
    topic: &str,
    partition: i32,
    key: &str,
    value: &str,
) -> Result<(), Box<dyn Error>> {
    use rdkafka::error::{KafkaError, RDKafkaErrorCode::QueueFull};
    let mut record = BaseRecord::to(topic).partition(partition).key(key).payload(value);
    loop {
        match producer.send(record) {
            Ok(()) => return Ok(()),
            Err((KafkaError::MessageProduction(QueueFull), unsent)) => {
                producer.flush(Duration::from_secs(30))?;
                record = unsent;
            }
            Err((error, _)) => return Err(error.into()),
        }
    }
}
