//! A transaction of a producer.

use std::collections::BTreeMap;

use rdkafka::producer::{BaseProducer, Producer};

use super::{DEADLINE, Record, Topic, send};
use crate::wait_until;

/// A transaction under way. It stays open as long as it is neither committed nor aborted.
#[derive(Debug)]
pub struct Transaction<'a> {
    topic: &'a Topic,
    producer: Producing,
}

/// A producer; librdkafka's has nothing to show.
struct Producing(BaseProducer);

impl std::fmt::Debug for Producing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BaseProducer")
    }
}

impl Topic {
    /// Begins a transaction and sends these records in it.
    pub fn begin(&self, records: impl IntoIterator<Item = Record>) -> Transaction<'_> {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let producer: BaseProducer = self
            .client()
            .set("transactional.id", format!("{}-{}-{number}", self.name, std::process::id()))
            .set("transaction.timeout.ms", "600000")
            .create()
            .expect("a producer of transactions");
        producer.init_transactions(DEADLINE).expect("the broker knows the producer");
        producer.begin_transaction().expect("a transaction begins");
        let transaction = Transaction { topic: self, producer: Producing(producer) };
        transaction.send(records);
        transaction
    }
}

impl Transaction<'_> {
    /// Sends records and waits until the broker has them.
    pub fn send(&self, records: impl IntoIterator<Item = Record>) {
        records.into_iter().for_each(|record| send(&self.producer.0, &self.topic.name, &record));
        self.producer.0.flush(DEADLINE).expect("the broker takes the records");
    }

    /// Commits it.
    pub fn commit(self) {
        self.end(|producer| producer.commit_transaction(DEADLINE).expect("the transaction is committed"));
    }

    /// Aborts it.
    pub fn abort(self) {
        self.end(|producer| producer.abort_transaction(DEADLINE).expect("the transaction is aborted"));
    }

    /// Returns when the last stable offset of each partition is its end again.
    fn end(self, end: impl FnOnce(&BaseProducer)) {
        let ends = || -> BTreeMap<i32, i64> { self.topic.all_ends().collect() };
        let before = ends();
        end(&self.producer.0);
        wait_until("the broker has written the end of the transaction", DEADLINE, || {
            let now = ends();
            now != before && self.topic.stable_ends() == now
        });
    }
}
