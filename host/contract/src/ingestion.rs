//! Ingestion contracts: a source and the bronze table it fills.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::{ColumnSpec, Paths, client};

/// One file under `ingestion/`: a source, and the table contract that it fills.
#[derive(Debug, Clone, PartialEq)]
pub struct IngestionContract {
    /// Names the stream, and its checkpoint folder together with `checkpoint_suffix`.
    pub name: String,
    /// The file it was read from, for messages.
    pub file: PathBuf,
    /// When batches are made.
    pub trigger: Trigger,
    /// Appended to the name of the checkpoint folder; empty by default.
    pub checkpoint_suffix: String,
    /// Where rows come from.
    pub source: SourceSpec,
    /// Name of the table contract that the rows land in.
    pub destination: String,
}

impl IngestionContract {
    /// Folder of the stream's checkpoint: `{path.checkpoint}/streaming/<name><suffix>`.
    pub fn checkpoint_dir(&self, paths: &Paths) -> PathBuf {
        paths.checkpoint.join("streaming").join(format!("{}{}", self.name, self.checkpoint_suffix))
    }
}

/// When a stream makes batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// All that is pending at the start, then stop (K-100).
    AvailableNow,
    /// Until stopped; a batch as soon as rows wait.
    Continuous,
    /// Until stopped; batches begin at most once in this time.
    Every(Duration),
}

/// Where rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceSpec {
    /// Kafka topics.
    Kafka(KafkaSpec),
    /// A folder (or file) of JSON lines or text.
    Files(FilesSpec),
}

/// A Kafka source, after merging the contract with `[kafka]` of the project.
#[derive(Clone, PartialEq)]
pub struct KafkaSpec {
    /// Which partitions are read (K-001).
    pub subscription: Subscription,
    /// Where a new checkpoint begins (K-020 … K-029).
    pub starting: KafkaBound,
    /// True when the contract says where to begin: a first run that reads nothing names the options otherwise.
    pub starting_given: bool,
    /// What a timestamp means where no record is as young (K-029).
    pub no_record: NoRecord,
    /// Where reading ends for good; `None`: never. No contract can say it, a backfill does (K-024 … K-026).
    pub ending: Option<KafkaBound>,
    /// Cap of a batch in offsets, spread over partitions by size (K-041).
    pub max_offsets_per_trigger: Option<u64>,
    /// What a batch waits for (K-044).
    pub batch_minimum: Option<BatchMinimum>,
    /// Whether lost offsets stop the stream (K-065, K-066).
    pub fail_on_data_loss: bool,
    /// Whether `kafka_timestamp`, `timestamp_type` and `headers` are columns of bronze.
    pub add_kafka_metadata: bool,
    /// Options of librdkafka, `bootstrap.servers` included. May hold secrets: never print it.
    pub client: BTreeMap<String, String>,
    /// Beginning of the group's name that the client bears where `group.id` is not set (K-094).
    pub group_id_prefix: Option<String>,
    /// Consumer group to which positions are reported after each batch, for lag monitors. They are never read back.
    pub report_group_id: Option<String>,
    /// How often a failing look-up of offsets is tried (K-098: 3).
    pub fetch_offset_num_retries: u32,
    /// Pause between two tries (K-098: 1000 ms).
    pub fetch_offset_retry_interval: Duration,
    /// How long a read may make no progress before the batch fails (K-069: 120 s).
    pub poll_timeout: Duration,
}

impl KafkaSpec {
    /// [`KafkaSpec::client`] for people: whatever may be a secret is left out (K-096).
    pub fn client_redacted(&self) -> BTreeMap<String, String> {
        let shown = |(name, value): (&String, &String)| {
            let value = if client::is_secret(name) { "[redacted]" } else { value };
            (name.clone(), value.to_owned())
        };
        self.client.iter().map(shown).collect()
    }
}

impl std::fmt::Debug for KafkaSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KafkaSpec")
            .field("subscription", &self.subscription)
            .field("starting", &self.starting)
            .field("max_offsets_per_trigger", &self.max_offsets_per_trigger)
            .field("fail_on_data_loss", &self.fail_on_data_loss)
            .field("client", &self.client.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// Which topics and partitions a Kafka source reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subscription {
    /// These topics, all partitions.
    Topics(Vec<String>),
    /// Topics whose name matches this regular expression (K-006).
    Pattern {
        /// The expression.
        pattern: String,
        /// Whether it must match the whole name, or any part of it.
        whole: bool,
    },
    /// Exactly these partitions.
    Assign(BTreeMap<String, Vec<i32>>),
}

/// True for topics that Kafka keeps for itself (K-007).
pub fn is_internal(topic: &str) -> bool {
    ["__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata"].contains(&topic)
}

/// A position in each partition, as a person says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KafkaBound {
    /// The oldest record kept.
    Earliest,
    /// What comes from now on.
    Latest,
    /// Per topic and partition the next offset; -1 is latest, -2 earliest (K-022).
    Offsets(BTreeMap<String, BTreeMap<i32, i64>>),
    /// In each partition the first record that is as young as this, milliseconds since 1970 (K-028).
    Timestamp(i64),
    /// The same with a time for each partition.
    Timestamps(BTreeMap<String, BTreeMap<i32, i64>>),
}

impl std::fmt::Display for KafkaBound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Earliest => f.write_str("earliest"),
            Self::Latest => f.write_str("latest"),
            Self::Offsets(offsets) => write!(f, "{}", serde_json::json!(offsets)),
            Self::Timestamp(ms) => write!(f, "timestamp {ms}"),
            Self::Timestamps(times) => write!(f, "timestamps {}", serde_json::json!(times)),
        }
    }
}

/// What a starting timestamp means in a partition without a record as young (K-029).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NoRecord {
    /// The start is refused.
    #[default]
    Error,
    /// The partition begins at its end.
    Latest,
}

/// What a batch waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchMinimum {
    /// Least offsets of a batch.
    pub offsets: u64,
    /// After this time it takes what there is.
    pub delay_max: Duration,
}

/// A source of files.
#[derive(Debug, Clone, PartialEq)]
pub struct FilesSpec {
    /// How a file is cut into rows.
    pub format: FileFormat,
    /// Folder or file, placeholders resolved, absolute.
    pub path: String,
    /// Columns that a JSON line is decoded to; `None`: taken once from the files present (F-001 as decided).
    pub schema: Option<Vec<ColumnSpec>>,
    /// At most this many files in a batch (F-005).
    pub max_files_per_trigger: Option<u64>,
    /// Files are added while their sum is at most this, always one (F-006).
    pub max_bytes_per_trigger: Option<u64>,
    /// Newest files first (F-004).
    pub latest_first: bool,
}

/// How a file is cut into rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// One JSON object a line, decoded to columns.
    Json,
    /// One row a line, kept whole in `payload`.
    Text,
}
