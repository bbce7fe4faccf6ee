//! Kafka as a source: manual assignment, positions of our own, ranges that end by what was seen (K-071, K-064).
//!
//! Two clients: one asks for topics and offsets, the other reads. A broker answers a connection's requests in order, so
//! on one connection each question would wait for the fetch before it.

mod ahead;
mod bounds;
mod check;
mod client;
mod config;
mod gaps;
mod initial;
mod lag;
mod limit;
mod native;
mod offsets;
mod reader;
mod report;
mod rows;
mod topics;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use crisol_checkpoint::{KafkaPosition, Position, Range};
use crisol_contract::{KafkaBound, KafkaSpec};
use crisol_observe::{Gap, PartitionLag};
use rdkafka::types::RDKafkaRespErr;

use self::ahead::{distance, offset};
use self::bounds::Edge;
use self::client::Broker;
use self::config::Role;
use self::gaps::{Gaps, deleted};
use self::lag::Seen;
use self::limit::entries;
use self::reader::{Job, Reader, ranges};
use self::report::Reporter;
use crate::chunks::{off_thread, spawn};
use crate::log::{DAMAGED, OTHER_SOURCE, get, put_once};
use crate::{Chunks, Estimate, Planned, Source, SourceError, SourceLog};

pub(crate) use self::ahead::{Ahead, Held, look_ahead};
pub use self::check::{RefusedOption, check_client};
pub use self::rows::kafka_schema;
pub(crate) use self::rows::{ChunkBuilder, Headers, RecordView};

/// Number of the entry that keeps the end of an explicit range.
const END_ENTRY: u64 = 1;

/// A Kafka source.
pub struct KafkaSource {
    spec: Arc<KafkaSpec>,
    log: Arc<dyn SourceLog>,
    planner: Option<Arc<Broker>>,
    /// End of this run, where it is fixed (K-100).
    fixed_end: Option<Held>,
    /// What partitions held when they were last asked.
    newest: Option<Held>,
    /// When a batch was last planned that had to reach a minimum.
    last_planned: Option<Instant>,
    kept: Arc<Mutex<Option<Reader>>>,
    gaps: Gaps,
    seen: Arc<Mutex<Seen>>,
    reporter: Option<Arc<Reporter>>,
}

impl fmt::Debug for KafkaSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KafkaSource").field("spec", &self.spec).finish_non_exhaustive()
    }
}

impl KafkaSource {
    /// A source that keeps its initial positions in `log`. Nothing is asked of the broker yet.
    pub fn new(spec: KafkaSpec, log: Arc<dyn SourceLog>) -> Self {
        let reporter = spec.report_group_id.clone().map(|group| Arc::new(Reporter::new(group)));
        Self {
            gaps: Gaps::new(spec.fail_on_data_loss),
            spec: Arc::new(spec),
            log,
            planner: None,
            fixed_end: None,
            newest: None,
            last_planned: None,
            kept: Arc::new(Mutex::new(None)),
            seen: Arc::default(),
            reporter,
        }
    }

    fn planner(&mut self) -> Result<Arc<Broker>, SourceError> {
        if let Some(planner) = &self.planner {
            return Ok(Arc::clone(planner));
        }
        let planner = Arc::new(Broker::connect(&self.spec, Role::Planner)?);
        self.planner = Some(Arc::clone(&planner));
        Ok(planner)
    }

    /// What the subscribed partitions hold now. A partition that is gone, or ends below `known`, is asked for again
    /// before that is believed: metadata can be stale (K-068).
    async fn held(&mut self, known: Option<KafkaPosition>) -> Result<Held, SourceError> {
        let planner = self.planner()?;
        let spec = Arc::clone(&self.spec);
        let doubted = known.as_ref().map(|known| self.gaps.not_told(known));
        let known = known.as_ref().map(|known| self.gaps.with_deleted(known));
        off_thread(move || {
            let look = || planner.held(&planner.partitions(&spec.subscription, known.as_ref())?);
            let mut held = look()?;
            if held.latest.0.is_empty() && known.is_none() {
                tracing::warn!(
                    "no topic matches {}, so nothing is read; a pattern must match the whole name, unless \
                     `topic_pattern_match` is `search`",
                    topics::described(&spec.subscription)
                );
            }
            for _ in 0..spec.fetch_offset_num_retries {
                if doubted.as_ref().is_none_or(|known| !went_back(known, &held)) {
                    break;
                }
                std::thread::sleep(planner.retry_interval());
                held = look()?;
            }
            Ok(held)
        })
        .await
    }

    /// What partitions hold for a batch that begins at `start`: in a run with a fixed end, as far as that.
    async fn held_from(&mut self, start: &KafkaPosition) -> Result<Held, SourceError> {
        if let Some(fixed) = &self.fixed_end
            && !went_back(&self.gaps.not_told(start), fixed)
        {
            return Ok(fixed.clone());
        }
        let held = self.held(Some(start.clone())).await?;
        // What was fixed from stale metadata is believed no more than any other (K-068).
        if self.fixed_end.is_some() {
            self.fixed_end = Some(held.clone());
        }
        Ok(held)
    }

    /// Refuses positions of topics that the contract no longer names (K-013).
    fn check_topics(&self, start: &KafkaPosition) -> Result<(), SourceError> {
        let named = |topic: &&str| topics::names(&self.spec.subscription, topic);
        let removed: Vec<&str> = start.0.keys().map(String::as_str).filter(|topic| !named(topic)).collect();
        if removed.is_empty() {
            return Ok(());
        }
        Err(SourceError::config(
            format!("the checkpoint stands in topics that the contract no longer reads: {}", removed.join(", ")),
            OTHER_SOURCE,
        ))
    }

    /// Whether what waits is enough for a batch (K-044, K-045). Where the end is fixed nothing more will come.
    fn enough(&mut self, waiting: u64) -> bool {
        let Some(minimum) = self.spec.batch_minimum.filter(|_| self.fixed_end.is_none()) else { return true };
        let in_time = self.last_planned.is_some_and(|last| last.elapsed() < minimum.delay_max);
        if in_time && waiting < minimum.offsets {
            return false;
        }
        self.last_planned = Some(Instant::now());
        true
    }

    /// Settles the end of an explicit range, once, before its beginning is kept.
    async fn keep_end(&mut self, ending: KafkaBound, start: &KafkaPosition, held: &Held) -> Result<(), SourceError> {
        let kept = get(&*self.log, END_ENTRY).await?;
        let end = match &kept {
            Some(text) => initial::from_text(text)?,
            None => self.resolved(ending, Edge::End, held.clone()).await?,
        };
        bounds::check_range(start, &end, held)?;
        put_once(&*self.log, END_ENTRY, &initial::to_text(&end)).await
    }

    async fn resolved(&mut self, bound: KafkaBound, edge: Edge, held: Held) -> Result<KafkaPosition, SourceError> {
        let planner = self.planner()?;
        off_thread(move || bounds::resolve(&bound, edge, &held, |times| planner.at_times(times))).await
    }
}

#[async_trait]
impl Source for KafkaSource {
    fn description(&self) -> String {
        format!("KafkaV2[{}]", topics::described(&self.spec.subscription))
    }

    fn schema(&self) -> SchemaRef {
        kafka_schema(self.spec.add_kafka_metadata)
    }

    fn provenance(&self) -> Vec<String> {
        ["topic", "partition", "offset"].map(str::to_owned).to_vec()
    }

    async fn initial(&mut self) -> Result<Position, SourceError> {
        if let Some(text) = get(&*self.log, 0).await? {
            return initial::from_text(&text).map(Position::Kafka);
        }
        let held = self.held(None).await?;
        let edge = Edge::Start(self.spec.no_record);
        let position = self.resolved(self.spec.starting.clone(), edge, held.clone()).await?;
        bounds::check_start(&self.spec.starting, &position, &held)?;
        if let Some(ending) = self.spec.ending.clone() {
            self.keep_end(ending, &position, &held).await?;
        }
        put_once(&*self.log, 0, &initial::to_text(&position)).await?;
        Ok(Position::Kafka(position))
    }

    async fn prepare_for_available_now(&mut self, start: &Position) -> Result<(), SourceError> {
        let mut held = self.held(Some(kafka(start)?.clone())).await?;
        if self.spec.ending.is_some() {
            let text = get(&*self.log, END_ENTRY).await?;
            let text = text.ok_or_else(|| SourceError::config("the end of the range is not kept", DAMAGED))?;
            held.latest = initial::from_text(&text)?;
        }
        self.fixed_end = Some(held);
        Ok(())
    }

    async fn plan(&mut self, start: &Position) -> Result<Option<Planned>, SourceError> {
        let start = kafka(start)?;
        self.check_topics(start)?;
        let held = self.held_from(start).await?;
        let Ahead { end, losses, waiting } = look_ahead(start, &held, self.spec.max_offsets_per_trigger);
        let found = self.gaps.accept(&losses, &held)?;
        let latest = held.latest.clone();
        self.newest = Some(held);
        let waits = ranges(start, &end).iter().any(|range| range.from < range.until);
        if !(found || waits && self.enough(waiting)) {
            return Ok(None);
        }
        let estimate =
            Estimate { batch_rows: Some(distance(start, &end)), backlog_rows: Some(distance(start, &latest)) };
        Ok(Some(Planned { end: Position::Kafka(end), latest: Some(Position::Kafka(latest)), estimate }))
    }

    async fn read(&mut self, range: &Range) -> Result<Chunks, SourceError> {
        let (start, end) = (kafka(&range.start)?, kafka(&range.end)?);
        let job = Job {
            spec: Arc::clone(&self.spec),
            planner: self.planner()?,
            ranges: ranges(start, end),
            kept: Arc::clone(&self.kept),
            gaps: self.gaps.of_read(deleted(start, end)),
            seen: Arc::clone(&self.seen),
        };
        Ok(spawn(self.description(), move |out| reader::run(job, out)))
    }

    async fn committed(&mut self, end: &Position) -> Result<(), SourceError> {
        let Some(reporter) = &self.reporter else { return Ok(()) };
        let (reporter, spec, end) = (Arc::clone(reporter), Arc::clone(&self.spec), kafka(end)?.clone());
        off_thread(move || {
            reporter.report(&spec, &end);
            Ok(())
        })
        .await
    }

    fn lag(&self, consumed: &Position) -> Vec<PartitionLag> {
        let (Position::Kafka(consumed), Some(newest)) = (consumed, &self.newest) else { return Vec::new() };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_ms = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).lag(consumed, newest, now_ms)
    }

    fn know_gaps(&mut self, gaps: Vec<Gap>) {
        self.gaps.know(gaps);
    }

    fn take_planned_gaps(&mut self) -> Vec<Gap> {
        self.gaps.planned()
    }

    fn take_gaps(&mut self) -> Vec<Gap> {
        self.gaps.take()
    }
}

fn kafka(position: &Position) -> Result<&KafkaPosition, SourceError> {
    match position {
        Position::Kafka(position) => Ok(position),
        other => Err(SourceError::config(
            format!("the checkpoint stands at {other:?}, which is no Kafka position"),
            OTHER_SOURCE,
        )),
    }
}

/// Whether a partition ends below what was read of it, or is gone.
fn went_back(known: &KafkaPosition, held: &Held) -> bool {
    entries(known).any(|(topic, partition, at)| offset(&held.latest, topic, partition).is_none_or(|end| end < at))
}

/// True for the codes that mean "what you ask for is not here (any more)".
fn moved(code: RDKafkaRespErr) -> bool {
    matches!(
        code,
        RDKafkaRespErr::RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET
            | RDKafkaRespErr::RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE
            | RDKafkaRespErr::RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
            | RDKafkaRespErr::RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC
            | RDKafkaRespErr::RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION
    )
}
