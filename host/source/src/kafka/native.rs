//! One Kafka partition's own queue in librdkafka, read many messages at a time: the only unsafe code of this room.
//!
//! rdkafka's safe `PartitionQueue` does not do: its end-of-partition event carries no offset, without which a range
//! that ends in invisible records cannot be closed (K-064), and it costs an allocation per message.
//!
//! Why this is sound:
//! - librdkafka's handles may be used from any thread; a `PartitionQueue` is used by one at a time (`&mut self`).
//! - A message that `rd_kafka_consume_batch_queue` returned belongs to us until `rd_kafka_message_destroy`. `held`
//!   keeps exactly those that are not destroyed yet; each leaves it once, in `advance` or in `drop`.
//! - Slices of a message live as long as the borrow of the queue, and `advance`, which destroys it, needs `&mut self`.
//! - librdkafka wants messages and queues gone before the client. `drop` destroys both, and only after it the field
//!   `broker` gives up its share of the client.

use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::Arc;
use std::time::Duration;

use rdkafka::bindings as rd;
use rdkafka::consumer::Consumer;
use rdkafka::types::RDKafkaRespErr;

use super::client::Broker;
use super::rows::{Headers, RecordView};

/// Messages taken from librdkafka in one call.
const TAKE: usize = 2048;

/// The queue of one assigned partition.
pub(super) struct PartitionQueue {
    queue: NonNull<rd::rd_kafka_queue_t>,
    held: VecDeque<NonNull<rd::rd_kafka_message_t>>,
    /// Last field: dropped after `drop` has destroyed messages and queue.
    broker: Arc<Broker>,
}

// SAFETY: librdkafka is thread-safe, the pointers are owned by this value alone, and nothing in them is tied to the
// thread that made them.
unsafe impl Send for PartitionQueue {}

/// What stands next in a partition's queue.
pub(super) enum Event<'a> {
    Record(RecordView<'a>),
    /// The log ended here when the broker answered.
    End(i64),
    /// The broker or librdkafka refused to go on.
    Failed(RDKafkaRespErr, String),
}

impl PartitionQueue {
    /// Takes the partition's queue out of the consumer's. Must be called before the partition is assigned: librdkafka
    /// then leaves the queue alone, and no message goes elsewhere.
    pub(super) fn detach(broker: &Arc<Broker>, topic: &str, partition: i32) -> Option<Self> {
        let topic = CString::new(topic).ok()?;
        let client = broker.consumer().client().native_ptr();
        // SAFETY: `client` is alive as long as `broker`; `topic` is a C string that outlives the call.
        let queue = NonNull::new(unsafe { rd::rd_kafka_queue_get_partition(client, topic.as_ptr(), partition) })?;
        // SAFETY: `queue` was just made; a null target ends forwarding.
        unsafe { rd::rd_kafka_queue_forward(queue.as_ptr(), null_mut()) };
        Some(Self { queue, held: VecDeque::with_capacity(TAKE), broker: Arc::clone(broker) })
    }

    /// The client that the queue belongs to.
    pub(super) fn broker(&self) -> &Broker {
        &self.broker
    }

    /// What stands next, without taking it; waits at most `wait` when nothing is at hand.
    pub(super) fn peek(&mut self, wait: Duration) -> Option<Event<'_>> {
        if self.held.is_empty() && self.take(Duration::ZERO, TAKE) == 0 {
            // With room for more than one message the call would wait for all of them.
            self.take(wait, 1);
        }
        let message = self.held.front()?;
        // SAFETY: messages in `held` are not destroyed, and cannot be while the event borrows `self`.
        let message = unsafe { message.as_ref() };
        Some(event(message))
    }

    /// Drops what `peek` showed.
    pub(super) fn advance(&mut self) {
        if let Some(message) = self.held.pop_front() {
            // SAFETY: the message came from librdkafka, left `held` just now, and nothing borrows it.
            unsafe { rd::rd_kafka_message_destroy(message.as_ptr()) };
        }
    }

    fn take(&mut self, wait: Duration, count: usize) -> usize {
        let mut buffer: [*mut rd::rd_kafka_message_t; TAKE] = [null_mut(); TAKE];
        let wait = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: `buffer` has room for `count` pointers, `queue` is alive.
        let got = unsafe {
            rd::rd_kafka_consume_batch_queue(self.queue.as_ptr(), wait, buffer.as_mut_ptr(), count.min(TAKE))
        };
        let got = usize::try_from(got).unwrap_or(0);
        self.held.extend(buffer.iter().take(got).filter_map(|m| NonNull::new(*m)));
        got
    }
}

impl Drop for PartitionQueue {
    fn drop(&mut self) {
        while !self.held.is_empty() {
            self.advance();
        }
        // SAFETY: the queue is ours and used by nobody after this.
        unsafe { rd::rd_kafka_queue_destroy(self.queue.as_ptr()) };
    }
}

fn event(message: &rd::rd_kafka_message_t) -> Event<'_> {
    match message.err {
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR => {}
        RDKafkaRespErr::RD_KAFKA_RESP_ERR__PARTITION_EOF => return Event::End(message.offset),
        err => return Event::Failed(err, error_text(message)),
    }
    let mut kind = rd::rd_kafka_timestamp_type_t::RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
    // SAFETY: `message` is alive, `kind` is a place to write to.
    let timestamp_ms = unsafe { rd::rd_kafka_message_timestamp(message, &mut kind) };
    Event::Record(RecordView {
        offset: message.offset,
        timestamp_ms,
        timestamp_type: match kind {
            rd::rd_kafka_timestamp_type_t::RD_KAFKA_TIMESTAMP_NOT_AVAILABLE => -1,
            rd::rd_kafka_timestamp_type_t::RD_KAFKA_TIMESTAMP_CREATE_TIME => 0,
            rd::rd_kafka_timestamp_type_t::RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME => 1,
        },
        // SAFETY: librdkafka gives either null or `len` readable bytes that live as long as the message.
        key: unsafe { bytes(message.key, message.key_len) },
        // SAFETY: as for the key.
        payload: unsafe { bytes(message.payload, message.len) },
        headers: Headers::Native(MessageHeaders(message)),
    })
}

fn error_text(message: &rd::rd_kafka_message_t) -> String {
    // SAFETY: `message` is alive; the text is a C string that lives as long as the message, or null.
    unsafe {
        let text = rd::rd_kafka_message_errstr(message);
        if text.is_null() { "no reason given".into() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

/// # Safety
/// `start` is null, or `len` bytes are readable from it for as long as `'a`.
unsafe fn bytes<'a>(start: *const c_void, len: usize) -> Option<&'a [u8]> {
    if start.is_null() {
        return None;
    }
    // SAFETY: promised by the caller.
    Some(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) })
}

/// Headers of a message that is alive; parsed by librdkafka when first asked for.
#[derive(Clone, Copy)]
pub(crate) struct MessageHeaders<'a>(&'a rd::rd_kafka_message_t);

impl<'a> MessageHeaders<'a> {
    /// Calls `each` with name and value of every header, in order.
    pub(super) fn for_each(self, mut each: impl FnMut(&'a [u8], Option<&'a [u8]>)) {
        let mut headers = null_mut();
        // SAFETY: the message is alive, `headers` is a place to write to. The list stays the message's own.
        let found = unsafe { rd::rd_kafka_message_headers(self.0, &mut headers) };
        if found != RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR {
            return;
        }
        for index in 0.. {
            let (mut name, mut value, mut len): (*const c_char, *const c_void, usize) = (null(), null(), 0);
            // SAFETY: `headers` is the message's list; the three places are written only when there is such a header.
            let got = unsafe { rd::rd_kafka_header_get_all(headers, index, &mut name, &mut value, &mut len) };
            if got != RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR || name.is_null() {
                return;
            }
            // SAFETY: name is a C string, value null or `len` bytes, both as long-lived as the message.
            each(unsafe { CStr::from_ptr(name) }.to_bytes(), unsafe { bytes(value, len) });
        }
    }
}
