//! `source.kafka` and a Kafka source's `options`.

mod bounds;
mod merge;
mod subscription;

use std::time::Duration;

use super::options::{Allowed, Options, Refused, Why};
use crate::ingestion::{BatchMinimum, KafkaSpec};
use crate::keys::KeyFile;
use crate::problem::Code;
use crate::read::{Spelling, Value};
use crate::settings::KafkaSettings;

const NO_END: Why =
    Why::Never("a stream has no end; `available_now` reads what is there and stops, `host backfill` reads ranges");
const COLUMNS: Why = Why::Never("leave it out: `headers` are there unless `metadata.add_kafka_metadata` is false");
const NO_TASKS: Why = Why::Never(
    "there are no read tasks to split: one reader serves all partitions, and a batch is cut by `max_offsets_per_trigger`",
);

/// Options of Spark's Kafka source that are refused by name (K-026, K-050 as decided).
const REFUSED: &[Refused] = &[
    Refused { names: &["ending_offsets", "ending_offsets_by_timestamp", "ending_timestamp"], why: NO_END },
    Refused { names: &["min_partitions", "max_records_per_partition"], why: NO_TASKS },
    Refused { names: &["include_headers"], why: COLUMNS },
    Refused {
        names: &["fetch_offset.time_out_ms", "kafka_consumer.use_deprecated_offset_fetching"],
        why: Why::Never("is a switch inside Spark"),
    },
];

/// Options of Spark's Kafka source that no contract may hold, in our spelling.
pub fn refused_kafka_options() -> impl Iterator<Item = &'static str> {
    REFUSED.iter().flat_map(|refused| refused.names.iter().copied())
}

/// Where Kafka options may stand.
pub(super) const ALLOWED: Allowed = Allowed { file: KeyFile::Ingestion, parent: "source.kafka", refused: REFUSED };

/// Most milliseconds that any time-out may have: a day.
const DAY_MS: u64 = 86_400_000;

/// How long a minimum is waited for where nothing else is said (K-044).
const TRIGGER_DELAY: Duration = Duration::from_secs(15 * 60);

/// A Kafka source; `source` is where what is missing is missed.
pub(super) fn kafka(
    source: &Value<'_>,
    options: &Options<'_>,
    settings: &KafkaSettings,
    add_kafka_metadata: bool,
) -> KafkaSpec {
    let number = |name: &str, default: u64| {
        let value = options.get(name).and_then(|value| value.count(1, Spelling::Spark));
        value.unwrap_or(default).min(DAY_MS)
    };
    let limit = options.get("max_offsets_per_trigger").and_then(|value| value.count(1, Spelling::Spark));
    let loss = options.get("fail_on_data_loss").and_then(|value| value.flag(Spelling::Spark));
    if let (Some(prefix), true) =
        (options.get("group_id_prefix"), options.client.iter().any(|(name, _)| name == "group.id"))
    {
        prefix.report.warn(prefix.problem(Code::Conflict, "has no effect: `group_id` names the whole group"));
    }
    let subscription = subscription::subscription(source, options);
    let starting = bounds::starting(options, &subscription);
    KafkaSpec {
        starting: starting.bound,
        starting_given: starting.given,
        no_record: starting.no_record,
        ending: None,
        subscription,
        max_offsets_per_trigger: limit,
        batch_minimum: minimum(options, limit),
        fail_on_data_loss: loss.unwrap_or(true),
        add_kafka_metadata,
        client: merge::client(source, options, settings),
        group_id_prefix: name_of_group(options, "group_id_prefix"),
        report_group_id: name_of_group(options, "report_group_id"),
        fetch_offset_num_retries: u32::try_from(number("fetch_offset_num_retries", 3)).unwrap_or(u32::MAX),
        fetch_offset_retry_interval: Duration::from_millis(number("fetch_offset_retry_interval_ms", 1_000)),
        poll_timeout: Duration::from_millis(number("poll_timeout_ms", 120_000)),
    }
}

/// `min_offsets_per_trigger` and `max_trigger_delay` (K-043, K-044).
fn minimum(options: &Options<'_>, most: Option<u64>) -> Option<BatchMinimum> {
    let delay = options.get("max_trigger_delay");
    let Some(value) = options.get("min_offsets_per_trigger") else {
        if let Some(delay) = delay {
            delay.refuse(Code::Conflict, "has no effect without `min_offsets_per_trigger`");
        }
        return None;
    };
    let offsets = value.count(1, Spelling::Spark)?;
    if most.is_some_and(|most| offsets > most) {
        value.refuse(Code::Conflict, "is more than `max_offsets_per_trigger`: no batch could ever be that large");
    }
    let delay_max = delay.map_or(Some(TRIGGER_DELAY), duration)?;
    Some(BatchMinimum { offsets, delay_max })
}

fn duration(value: &Value<'_>) -> Option<Duration> {
    let text = value.plain()?;
    match humantime::parse_duration(&text) {
        Ok(duration) => Some(duration),
        Err(_) => {
            let message = format!("`{text}` is not a time");
            value.refuse_hinting(Code::InvalidValue, message, "for example `30s` or `15m`");
            None
        }
    }
}

fn name_of_group(options: &Options<'_>, name: &str) -> Option<String> {
    let text = options.get(name)?.scalar()?;
    (!text.is_empty()).then_some(text)
}
