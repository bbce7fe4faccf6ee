//! Kafka as a source: manual assignment, positions of our own, ranges that end by what was seen (K-071, K-064).
//!
//! Two clients: one asks for topics and offsets, the other reads. A broker answers a connection's requests in order, so
//! on one connection each question would wait for the fetch before it.

mod ahead;
mod check;
mod client;
mod limit;
mod native;
mod reader;
mod rows;
mod starting;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use crisol_checkpoint::{KafkaPosition, Position, Range};
use crisol_contract::{KafkaSpec, Subscription};
use rdkafka::types::RDKafkaRespErr;

use self::ahead::{Loss, distance, offset};
use self::client::{Broker, Role, pattern_matches};
use self::limit::entries;
use self::reader::{Job, Reader, ranges};
use crate::chunks::{off_thread, spawn};
use crate::log::{OTHER_SOURCE, get, put_once};
use crate::{Chunks, Estimate, Planned, Source, SourceError, SourceLog};

pub(crate) use self::ahead::{Ahead, Held, look_ahead};
pub use self::ahead::{Lag, lag};
pub use self::check::{RefusedOption, check_client};
pub use self::rows::kafka_schema;
pub(crate) use self::rows::{ChunkBuilder, Headers, RecordView};

/// A Kafka source.
pub struct KafkaSource {
    spec: Arc<KafkaSpec>,
    log: Arc<dyn SourceLog>,
    planner: Option<Arc<Broker>>,
    /// End of this run, where it is fixed (K-100).
    fixed_end: Option<Held>,
    kept: Arc<Mutex<Option<Reader>>>,
    lost: Arc<AtomicU64>,
    /// Losses that were told already, so that a source that goes on in spite of them says so once.
    told: BTreeSet<String>,
}

impl fmt::Debug for KafkaSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KafkaSource").field("spec", &self.spec).finish_non_exhaustive()
    }
}

impl KafkaSource {
    /// A source that keeps its initial positions in `log`. Nothing is asked of the broker yet.
    pub fn new(spec: KafkaSpec, log: Arc<dyn SourceLog>) -> Self {
        Self {
            spec: Arc::new(spec),
            log,
            planner: None,
            fixed_end: None,
            kept: Arc::new(Mutex::new(None)),
            lost: Arc::new(AtomicU64::new(0)),
            told: BTreeSet::new(),
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

    /// What the subscribed partitions hold now. A latest offset below `known` is asked for again before it is
    /// believed: metadata can be stale (K-068).
    async fn held(&mut self, known: Option<KafkaPosition>) -> Result<Held, SourceError> {
        let planner = self.planner()?;
        let spec = Arc::clone(&self.spec);
        off_thread(move || {
            let places = planner.partitions(&spec.subscription)?;
            let mut held = planner.held(&places)?;
            for _ in 0..spec.fetch_offset_num_retries {
                if known.as_ref().is_none_or(|known| !went_back(known, &held.latest)) {
                    break;
                }
                std::thread::sleep(planner.retry_interval());
                held.latest = planner.latest(&places)?;
            }
            Ok(held)
        })
        .await
    }

    /// Refuses positions of topics that the contract no longer names (K-013).
    fn check_topics(&self, start: &KafkaPosition) -> Result<(), SourceError> {
        let named = |topic: &str| match &self.spec.subscription {
            Subscription::Topics(topics) => topics.iter().any(|t| t == topic),
            Subscription::Pattern(pattern) => pattern_matches(pattern, topic),
            Subscription::Assign(assigned) => assigned.contains_key(topic),
        };
        let removed: Vec<&str> = start.0.keys().map(String::as_str).filter(|topic| !named(topic)).collect();
        if removed.is_empty() {
            return Ok(());
        }
        Err(SourceError::config(
            format!("the checkpoint stands in topics that the contract no longer reads: {}", removed.join(", ")),
            OTHER_SOURCE,
        ))
    }

    fn tell(&mut self, losses: &[Loss]) -> Result<(), SourceError> {
        for loss in losses {
            if self.spec.fail_on_data_loss || self.told.insert(loss.to_string()) {
                may_go_on(loss, self.spec.fail_on_data_loss)?;
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Source for KafkaSource {
    fn description(&self) -> String {
        let inner = match &self.spec.subscription {
            Subscription::Topics(topics) => format!("Subscribe[{}]", topics.join(", ")),
            Subscription::Pattern(pattern) => format!("SubscribePattern[{pattern}]"),
            Subscription::Assign(assigned) => {
                let places = assigned.iter().flat_map(|(t, ps)| ps.iter().map(move |p| format!("{t}-{p}")));
                format!("Assign[{}]", places.collect::<Vec<_>>().join(", "))
            }
        };
        format!("KafkaV2[{inner}]")
    }

    fn schema(&self) -> SchemaRef {
        kafka_schema(self.spec.add_kafka_metadata)
    }

    fn provenance(&self) -> Vec<String> {
        ["topic", "partition", "offset"].map(str::to_owned).to_vec()
    }

    async fn initial(&mut self) -> Result<Position, SourceError> {
        if let Some(text) = get(&*self.log, 0).await? {
            return starting::from_text(&text).map(Position::Kafka);
        }
        let held = self.held(None).await?;
        let position = starting::resolve(&self.spec.starting_offsets, &held)?;
        put_once(&*self.log, 0, &starting::to_text(&position)).await?;
        Ok(Position::Kafka(position))
    }

    async fn prepare_for_available_now(&mut self) -> Result<(), SourceError> {
        self.fixed_end = Some(self.held(None).await?);
        Ok(())
    }

    async fn plan(&mut self, start: &Position) -> Result<Option<Planned>, SourceError> {
        let start = kafka(start)?;
        self.check_topics(start)?;
        let held = match self.fixed_end.clone() {
            Some(fixed) if !went_back(start, &fixed.latest) => fixed,
            fixed => {
                let held = self.held(Some(start.clone())).await?;
                // What was fixed from stale metadata is believed no more than any other (K-068).
                self.fixed_end = fixed.map(|_| held.clone());
                held
            }
        };
        let Ahead { end, losses } = look_ahead(start, &held, self.spec.max_offsets_per_trigger);
        self.tell(&losses)?;
        let waits = ranges(start, &end).iter().any(|range| range.from < range.until);
        let estimate =
            Estimate { batch_rows: Some(distance(start, &end)), backlog_rows: Some(distance(start, &held.latest)) };
        Ok(waits.then_some(Planned { end: Position::Kafka(end), latest: Some(Position::Kafka(held.latest)), estimate }))
    }

    async fn read(&mut self, range: &Range) -> Result<Chunks, SourceError> {
        let job = Job {
            spec: Arc::clone(&self.spec),
            planner: self.planner()?,
            ranges: ranges(kafka(&range.start)?, kafka(&range.end)?),
            kept: Arc::clone(&self.kept),
            lost: Arc::clone(&self.lost),
        };
        Ok(spawn(self.description(), move |out| reader::run(job, out)))
    }

    async fn committed(&mut self, _end: &Position) -> Result<(), SourceError> {
        Ok(())
    }

    fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
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

fn went_back(known: &KafkaPosition, latest: &KafkaPosition) -> bool {
    entries(known).any(|(topic, partition, at)| offset(latest, topic, partition).is_some_and(|latest| latest < at))
}

/// An error where lost offsets stop the stream, else a warning.
fn may_go_on(loss: &Loss, fail_on_data_loss: bool) -> Result<(), SourceError> {
    if fail_on_data_loss {
        return Err(SourceError::data_loss(loss.to_string(), loss.hint()));
    }
    tracing::warn!(lost_offsets = loss.offsets(), "going on in spite of data loss: {loss}; {}", loss.consequence());
    Ok(())
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
