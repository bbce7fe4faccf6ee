//! A message with all that it can have.

use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::BaseRecord;

/// A message for one partition.
#[derive(Debug, Clone, Default)]
pub struct Record {
    partition: i32,
    key: Option<Vec<u8>>,
    payload: Option<Vec<u8>>,
    headers: Vec<(String, Option<Vec<u8>>)>,
    timestamp_ms: Option<i64>,
}

impl Record {
    /// One without key, payload and headers, whose timestamp is that of its sending.
    pub fn to(partition: i32) -> Self {
        Self { partition, ..Self::default() }
    }

    /// With this payload.
    #[must_use]
    pub fn payload(mut self, payload: impl Into<Vec<u8>>) -> Self {
        self.payload = Some(payload.into());
        self
    }

    /// With this key.
    #[must_use]
    pub fn key(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: Option<&[u8]>) -> Self {
        self.headers.push((name.into(), value.map(<[u8]>::to_vec)));
        self
    }

    /// With this timestamp; -1 means none.
    #[must_use]
    pub fn at(mut self, timestamp_ms: i64) -> Self {
        self.timestamp_ms = Some(timestamp_ms);
        self
    }

    /// What a producer takes.
    pub(super) fn message<'a>(&'a self, topic: &'a str) -> BaseRecord<'a, Vec<u8>, Vec<u8>> {
        let mut message = BaseRecord::to(topic).partition(self.partition);
        message.key = self.key.as_ref();
        message.payload = self.payload.as_ref();
        message.timestamp = self.timestamp_ms;
        if !self.headers.is_empty() {
            let insert = |headers: OwnedHeaders, (name, value): &(String, Option<Vec<u8>>)| {
                headers.insert(Header { key: name, value: value.as_ref() })
            };
            message.headers = Some(self.headers.iter().fold(OwnedHeaders::new(), insert));
        }
        message
    }
}
