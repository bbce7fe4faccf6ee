//! What a bare consumer reads: `BaseConsumer::poll` over all partitions of a topic to where they end now.
//!
//! `bare-poll HOST:PORT TOPIC` prints messages, bytes and seconds as JSON. The measure that the host's reading is held
//! against: no columns, no checkpoint, no table.
#![allow(clippy::print_stdout, reason = "the figures are the program's output")]

use std::error::Error;
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{ClientConfig, Offset, TopicPartitionList};

const DEADLINE: Duration = Duration::from_secs(30);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [servers, topic] = arguments.as_slice() else { return Err("usage: bare-poll HOST:PORT TOPIC".into()) };
    let begun = Instant::now();
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", servers)
        .set("group.id", "bare-poll")
        .set("enable.auto.commit", "false")
        .set("enable.partition.eof", "true")
        .create()?;
    let metadata = consumer.fetch_metadata(Some(topic), DEADLINE)?;
    let mut list = TopicPartitionList::new();
    let partitions = metadata.topics().first().map(|topic| topic.partitions().len()).unwrap_or_default();
    for partition in 0..i32::try_from(partitions)? {
        list.add_partition_offset(topic, partition, Offset::Beginning)?;
    }
    consumer.assign(&list)?;
    let (mut messages, mut bytes, mut open) = (0_u64, 0_u64, partitions);
    while open > 0 {
        match consumer.poll(DEADLINE) {
            Some(Ok(message)) => {
                messages += 1;
                bytes += (message.key_len() + message.payload_len()) as u64;
            }
            Some(Err(KafkaError::PartitionEOF(_))) => open -= 1,
            Some(Err(error)) => return Err(error.into()),
            None => return Err("the broker gave nothing for 30 s".into()),
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("{{\"messages\": {messages}, \"bytes\": {bytes}, \"seconds\": {seconds:.3}}}");
    Ok(())
}
