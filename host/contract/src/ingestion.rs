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
    /// Where a new checkpoint begins (K-020, K-022).
    pub starting_offsets: StartingOffsets,
    /// True when the contract names `starting_offsets`: a first run that reads nothing says so otherwise.
    pub starting_offsets_given: bool,
    /// Cap of a batch in offsets, spread over partitions by size (K-041).
    pub max_offsets_per_trigger: Option<u64>,
    /// Whether lost offsets stop the stream (K-065, K-066).
    pub fail_on_data_loss: bool,
    /// Whether `kafka_timestamp`, `timestamp_type` and `headers` are columns of bronze.
    pub add_kafka_metadata: bool,
    /// Options of librdkafka, `bootstrap.servers` included. May hold secrets: never print it.
    pub client: BTreeMap<String, String>,
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
            .field("starting_offsets", &self.starting_offsets)
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
    /// Topics whose whole name matches this regular expression (K-006).
    Pattern(String),
    /// Exactly these partitions.
    Assign(BTreeMap<String, Vec<i32>>),
}

/// Where a new checkpoint begins to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartingOffsets {
    /// The oldest record kept.
    Earliest,
    /// Only what comes from now on.
    Latest,
    /// Per topic and partition the next offset to read; -1 is latest, -2 earliest (K-022).
    Exact(BTreeMap<String, BTreeMap<i32, i64>>),
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
