//! Reads ranges of partitions on a blocking thread: in turn, each in order, straight into chunks.
//!
//! Partitions take turns of a fixed number of records, whatever arrives first, so a range always gives the same rows
//! in the same order. What was fetched beyond a range waits in its partition's queue for the range that follows.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crisol_checkpoint::KafkaPosition;
use crisol_contract::KafkaSpec;
use rdkafka::consumer::Consumer;
use rdkafka::types::RDKafkaRespErr;
use rdkafka::{Offset, TopicPartitionList};

use super::ahead::{Held, Loss, offset};
use super::client::Broker;
use super::config::Role;
use super::gaps::{Found, may_go_on};
use super::lag::{Records, Seen};
use super::limit::entries;
use super::moved;
use super::native::{Event, PartitionQueue};
use super::rows::ChunkBuilder;
use super::topics::Places;
use crate::chunks::{ChunkSender, Interrupted};
use crate::{CHUNK_ROWS_MAX, SourceError};

/// How long the thread waits at a queue before it looks whether anybody still wants the rows.
const WAIT: Duration = Duration::from_millis(100);

/// How often a range is taken up again after the broker moved its offsets under the reader.
const RESTARTS_MAX: u32 = 3;

/// What is to be read of one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartitionRange {
    pub(super) topic: Arc<str>,
    pub(super) partition: i32,
    pub(super) from: i64,
    pub(super) until: i64,
}

/// Everything that lies between two positions. A partition that `start` does not name begins at 0 (K-010).
pub(super) fn ranges(start: &KafkaPosition, end: &KafkaPosition) -> Vec<PartitionRange> {
    entries(end)
        .map(|(topic, partition, until)| {
            let from = offset(start, topic, partition).unwrap_or(0);
            PartitionRange { topic: topic.into(), partition, from, until: until.max(from) }
        })
        .collect()
}

/// A consumer with its partitions assigned, kept from one range to the next that continues it.
pub(super) struct Reader {
    lanes: Vec<Lane>,
    broker: Arc<Broker>,
}

struct Lane {
    topic: Arc<str>,
    partition: i32,
    /// Next offset to read.
    next: i64,
    /// Where the log ended when last heard; there is no record below it that was not delivered.
    log_end: i64,
    /// What came in this turn.
    read: Records,
    queue: PartitionQueue,
}

/// One range to read.
pub(super) struct Job {
    pub(super) spec: Arc<KafkaSpec>,
    /// Asks what the broker holds. Not the reading client: there a question waits behind the fetch under way.
    pub(super) planner: Arc<Broker>,
    pub(super) ranges: Vec<PartitionRange>,
    /// The reader left by the range before.
    pub(super) kept: Arc<Mutex<Option<Reader>>>,
    pub(super) gaps: Found,
    pub(super) seen: Arc<Mutex<Seen>>,
}

/// Where a record lies.
#[derive(Debug, PartialEq, Eq)]
enum Fit {
    /// It was delivered before: never twice (T-004).
    Before,
    Inside,
    Past,
}

fn fit(offset: i64, next: i64, until: i64) -> Fit {
    if offset >= until {
        Fit::Past
    } else if offset < next {
        Fit::Before
    } else {
        Fit::Inside
    }
}

/// Why a pass over the partitions ends before their ranges do.
enum Stop {
    Interrupted(Interrupted),
    /// The broker has not what was asked for: look again at what it holds.
    Moved(String),
}

impl<E: Into<Interrupted>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Interrupted(error.into())
    }
}

/// Reads a job to its end. After an error or a dropped stream the reader goes, with all it fetched (K-070).
pub(super) fn run(mut job: Job, out: &ChunkSender) -> Result<(), Interrupted> {
    let kept = job.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut builder = ChunkBuilder::new(job.spec.add_kafka_metadata);
    let mut reader = open(&mut job, kept)?;
    let mut restarts = 0;
    loop {
        match reader.pass(&mut job.ranges, &job.spec, &job.seen, &mut builder, out) {
            Ok(()) => break,
            Err(Stop::Interrupted(why)) => return Err(why),
            Err(Stop::Moved(why)) if restarts == RESTARTS_MAX => return Err(SourceError::external(why).into()),
            Err(Stop::Moved(_)) => restarts += 1,
        }
        drop(reader);
        reader = open(&mut job, None)?;
    }
    if let Some(chunk) = finish(&mut builder)? {
        out.send(chunk)?;
    }
    *job.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader);
    Ok(())
}

/// Compares the ranges with what the broker holds, then takes the kept reader if it stands right, or a new one.
fn open(job: &mut Job, kept: Option<Reader>) -> Result<Reader, SourceError> {
    let topics: BTreeSet<&str> = job.ranges.iter().map(|range| &*range.topic).collect();
    let mut places = job.planner.existing(&topics)?;
    keep_named(&mut places, &job.ranges);
    let held = job.planner.held(&places)?;
    for loss in clamp(&mut job.ranges, &held) {
        may_go_on(&loss, job.spec.fail_on_data_loss)?;
        job.gaps.lock().unwrap_or_else(PoisonError::into_inner).push(loss.gap());
    }
    match kept.filter(|reader| reader.stands_at(&job.ranges)) {
        Some(reader) => Ok(reader),
        None => Reader::assign(&job.spec, &job.ranges),
    }
}

fn keep_named(places: &mut Places, ranges: &[PartitionRange]) {
    let named: BTreeSet<(&str, i32)> = ranges.iter().map(|r| (&*r.topic, r.partition)).collect();
    for (topic, partitions) in places.iter_mut() {
        partitions.retain(|partition| named.contains(&(topic.as_str(), *partition)));
    }
}

/// Takes from the ranges what the broker does not hold, and says what that was (K-065…K-067). A partition that is gone
/// leaves the ranges.
fn clamp(ranges: &mut Vec<PartitionRange>, held: &Held) -> Vec<Loss> {
    let mut losses = Vec::new();
    ranges.retain_mut(|range| {
        let (topic, partition) = (range.topic.to_string(), range.partition);
        let place = offset(&held.earliest, &topic, partition).zip(offset(&held.latest, &topic, partition));
        let Some((earliest, latest)) = place else {
            if range.from < range.until {
                losses.push(Loss::Gone { topic, partition, position: range.from });
            }
            return false;
        };
        if range.from < range.until && latest < range.until {
            let from = latest.max(range.from);
            losses.push(Loss::Behind { topic: topic.clone(), partition, from, position: range.until, latest });
            range.until = from;
        }
        if range.from < range.until && range.from < earliest {
            losses.push(Loss::Expired { topic, partition, from: range.from, until: range.until, earliest });
            range.from = earliest.min(range.until);
        }
        true
    });
    losses
}

impl Reader {
    fn assign(spec: &KafkaSpec, ranges: &[PartitionRange]) -> Result<Self, SourceError> {
        let broker = Arc::new(Broker::connect(spec, Role::Reader { partitions: ranges.len() })?);
        let mut list = TopicPartitionList::new();
        let mut lanes = Vec::with_capacity(ranges.len());
        for PartitionRange { topic, partition, from, .. } in ranges {
            let queue = PartitionQueue::detach(&broker, topic, *partition).ok_or_else(|| {
                SourceError::external(format!("topic `{topic}` partition {partition}: librdkafka gives no queue"))
            })?;
            list.add_partition_offset(topic, *partition, Offset::Offset(*from))
                .map_err(|e| SourceError::caused(format!("topic `{topic}` partition {partition}, offset {from}"), e))?;
            lanes.push(Lane {
                topic: Arc::clone(topic),
                partition: *partition,
                next: *from,
                log_end: 0,
                read: Records::default(),
                queue,
            });
        }
        broker
            .consumer()
            .assign(&list)
            .map_err(|e| SourceError::caused(format!("{}: partitions cannot be assigned", broker.name()), e))?;
        Ok(Self { lanes, broker })
    }

    fn stands_at(&self, ranges: &[PartitionRange]) -> bool {
        self.lanes.len() == ranges.len()
            && self.lanes.iter().zip(ranges).all(|(lane, range)| {
                lane.topic == range.topic && lane.partition == range.partition && lane.next == range.from
            })
    }

    /// Reads all ranges to their ends, partitions in turn. `from` of each range follows what was read.
    fn pass(
        &mut self,
        ranges: &mut [PartitionRange],
        spec: &KafkaSpec,
        seen: &Mutex<Seen>,
        builder: &mut ChunkBuilder,
        out: &ChunkSender,
    ) -> Result<(), Stop> {
        let mut open = true;
        while open {
            open = false;
            for (lane, range) in self.lanes.iter_mut().zip(ranges.iter_mut()) {
                let result = lane.turn(range.until, spec.poll_timeout, builder, out);
                range.from = lane.next;
                let read = std::mem::take(&mut lane.read);
                seen.lock().unwrap_or_else(PoisonError::into_inner).add(&lane.topic, lane.partition, read);
                result?;
                open |= lane.next < range.until;
            }
            self.broker.listen(Duration::ZERO)?;
        }
        Ok(())
    }
}

impl Lane {
    /// Takes records below `until`, at most one turn of them. The range is at its end when a record or the end of the
    /// log at or past `until` was seen, never by counting (K-063, K-064).
    fn turn(
        &mut self,
        until: i64,
        poll_timeout: Duration,
        builder: &mut ChunkBuilder,
        out: &ChunkSender,
    ) -> Result<(), Stop> {
        let mut taken = 0;
        let mut quiet_since = None;
        while self.next < until && taken < CHUNK_ROWS_MAX {
            if self.log_end >= until {
                self.next = until;
                break;
            }
            let Some(event) = self.queue.peek(WAIT) else {
                let quiet = *quiet_since.get_or_insert_with(Instant::now);
                self.wait(quiet, until, poll_timeout, out)?;
                continue;
            };
            quiet_since = None;
            match event {
                Event::Record(record) => match fit(record.offset, self.next, until) {
                    Fit::Before => {}
                    Fit::Inside => {
                        builder.push(&self.topic, self.partition, &record);
                        self.read.add(&record);
                        self.next = record.offset.saturating_add(1);
                        taken += 1;
                    }
                    Fit::Past => {
                        // It stays for the range that follows.
                        self.next = until;
                        break;
                    }
                },
                Event::End(at) => self.log_end = self.log_end.max(at),
                Event::Failed(code, reason) => return Err(self.failed(code, &reason)),
            }
            self.queue.advance();
            if builder.is_full()
                && let Some(chunk) = finish(builder)?
            {
                out.send(chunk)?;
            }
        }
        Ok(())
    }

    fn wait(&self, since: Instant, until: i64, poll_timeout: Duration, out: &ChunkSender) -> Result<(), Stop> {
        out.check()?;
        self.queue.broker().listen(Duration::ZERO)?;
        self.queue.broker().refusal()?;
        if since.elapsed() < poll_timeout {
            return Ok(());
        }
        Err(SourceError::external(format!(
            "{}: topic `{}` partition {}: nothing came for {:.1} s at offset {} (to be read to {until})",
            self.queue.broker().name(),
            self.topic,
            self.partition,
            poll_timeout.as_secs_f64(),
            self.next
        ))
        .into())
    }

    fn failed(&self, code: RDKafkaRespErr, reason: &str) -> Stop {
        let place = format!("topic `{}` partition {} at offset {}", self.topic, self.partition, self.next);
        if moved(code) {
            return Stop::Moved(format!("{place}: {reason}"));
        }
        match code {
            RDKafkaRespErr::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED => SourceError::config(
                format!("{place}: the broker does not let this user read"),
                "the user needs READ on the topic",
            ),
            _ => SourceError::external(format!("{}: {place}: {reason}", self.queue.broker().name())),
        }
        .into()
    }
}

fn finish(builder: &mut ChunkBuilder) -> Result<Option<arrow_array::RecordBatch>, SourceError> {
    builder.finish().map_err(|e| SourceError::data(format!("records do not fit a chunk: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(offsets: &[(i32, i64)]) -> KafkaPosition {
        KafkaPosition([("t".to_owned(), offsets.iter().copied().collect())].into())
    }

    fn clamped(from: i64, until: i64, earliest: i64, latest: i64) -> (Vec<PartitionRange>, Vec<Loss>) {
        let mut ranges = ranges(&position(&[(0, from)]), &position(&[(0, until)]));
        let held = Held { earliest: position(&[(0, earliest)]), latest: position(&[(0, latest)]) };
        let losses = clamp(&mut ranges, &held);
        (ranges, losses)
    }

    #[test]
    fn k010_a_partition_without_a_start_is_read_from_zero() {
        let ranges = ranges(&position(&[(0, 5)]), &position(&[(0, 9), (1, 4)]));
        assert_eq!(ranges.iter().map(|r| (r.from, r.until)).collect::<Vec<_>>(), [(5, 9), (0, 4)]);
    }

    #[test]
    fn t004_records_outside_what_is_left_of_a_range_are_never_taken() {
        let fits: Vec<Fit> = (3..7).map(|offset| fit(offset, 4, 6)).collect();
        assert_eq!(fits, [Fit::Before, Fit::Inside, Fit::Inside, Fit::Past]);
        assert_eq!(fit(9, 9, 9), Fit::Past);
    }

    #[test]
    fn k065_the_message_names_from_until_and_earliest() {
        let (_, losses) = clamped(5, 9, 7, 20);
        let text = losses[0].to_string();
        assert!(text.contains("offsets 5 to 9") && text.contains("still has is 7"), "{text}");
    }

    #[test]
    fn k066_reading_jumps_to_the_earliest_inside_the_range_or_gives_nothing() {
        let (ranges, losses) = clamped(5, 9, 7, 20);
        assert_eq!((ranges[0].from, losses[0].offsets()), (7, Some(2)));
        let (ranges, losses) = clamped(5, 9, 15, 20);
        assert_eq!((ranges[0].from, ranges[0].until, losses[0].offsets()), (9, 9, Some(4)));
        assert_eq!(clamped(5, 9, 5, 9).1, []);
    }

    #[test]
    fn k067_a_log_that_ends_before_the_range_is_a_loss_and_the_range_shrinks() {
        let (ranges, losses) = clamped(5, 9, 0, 7);
        assert_eq!((ranges[0].from, ranges[0].until), (5, 7));
        assert!(matches!(losses[0], Loss::Behind { from: 7, position: 9, latest: 7, .. }));
        let (ranges, _) = clamped(50, 60, 0, 7);
        assert_eq!((ranges[0].from, ranges[0].until), (50, 50));
    }

    #[test]
    fn k012_a_partition_that_is_gone_leaves_the_ranges_and_an_empty_range_loses_nothing() {
        let mut both = ranges(&position(&[(0, 5), (1, 6)]), &position(&[(0, 9), (1, 6)]));
        let losses = clamp(&mut both, &Held::default());
        assert!(both.is_empty());
        assert_eq!(losses, [Loss::Gone { topic: "t".into(), partition: 0, position: 5 }]);
    }
}
