//! Every key that a project may hold. The parser refuses what is not here, and the reference in `docs/contracts.md` is
//! compared with it.

/// Which files a key belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyFile {
    /// `crisol.toml`
    Settings,
    /// Files under `ingestion/`.
    Ingestion,
    /// Files under `tables/`.
    Table,
}

/// One accepted key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Whose key it is.
    pub file: KeyFile,
    /// Path from the root: `stages[].decode`; `*` stands for any name.
    pub path: &'static str,
    /// Spark's name of the same option, accepted beside ours; empty where there is none.
    pub spark: &'static str,
    /// What it takes.
    pub takes: &'static str,
    /// One line for the reference.
    pub meaning: &'static str,
}

/// All accepted keys, in the order of the reference.
pub fn keys() -> &'static [Key] {
    KEYS
}

/// Names that may stand directly under `parent` (`""` is the root), without repetition; `*` among them allows any.
pub(crate) fn names_under(file: KeyFile, parent: &str) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for key in KEYS.iter().filter(|key| key.file == file) {
        let rest = match parent {
            "" => Some(key.path),
            _ => key.path.strip_prefix(parent).and_then(|rest| rest.strip_prefix('.')),
        };
        let name = rest.and_then(|rest| rest.split('.').next()).map(|name| name.trim_end_matches("[]"));
        if let Some(name) = name.filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    names
}

/// The option under `parent` that a name means: ours or Spark's, whatever its case, dots and underscores.
pub(crate) fn option_under(file: KeyFile, parent: &str, given: &str) -> Option<&'static str> {
    let given = plain(given);
    KEYS.iter().filter(|key| key.file == file).find_map(|key| {
        let name = key.path.strip_prefix(parent)?.strip_prefix('.')?;
        (plain(name) == given || (!key.spark.is_empty() && plain(key.spark) == given)).then_some(name)
    })
}

/// A name without case, dots and underscores: Spark compares names of options without case (K-001).
pub(crate) fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '.')).flat_map(char::to_lowercase).collect()
}

const fn settings(path: &'static str, takes: &'static str, meaning: &'static str) -> Key {
    Key { file: KeyFile::Settings, path, spark: "", takes, meaning }
}

const fn ingestion(path: &'static str, takes: &'static str, meaning: &'static str) -> Key {
    Key { file: KeyFile::Ingestion, path, spark: "", takes, meaning }
}

const fn option(path: &'static str, spark: &'static str, takes: &'static str, meaning: &'static str) -> Key {
    Key { file: KeyFile::Ingestion, path, spark, takes, meaning }
}

const fn table(path: &'static str, takes: &'static str, meaning: &'static str) -> Key {
    Key { file: KeyFile::Table, path, spark: "", takes, meaning }
}

const fn table_option(path: &'static str, spark: &'static str, takes: &'static str, meaning: &'static str) -> Key {
    Key { file: KeyFile::Table, path, spark, takes, meaning }
}

const KEYS: &[Key] = &[
    settings("path.landing", "path", "Where files arrive; `{path.landing}` in contracts. Needed only where it is used"),
    settings("path.checkpoint", "path", "Where streams keep their progress. Required"),
    settings("path.tables", "path", "Where tables lie that name no `path`; `{path.tables}` in contracts. Required"),
    settings("kafka.*", "text", "An option of librdkafka for every Kafka source; wins over what a contract says"),
    settings("kafka.*.*", "text", "The same for contracts with `\"cluster\"`; wins over `[kafka]`"),
    settings(
        "limits.memory_bytes_max",
        "whole number",
        "Linear memory of one instance of a component; default 268435456",
    ),
    settings("limits.deadline_ms_max", "whole number", "Processor time of one call of a component; default 10000"),
    settings("limits.output_bytes_max", "whole number", "Bytes that one call may return; default 134217728"),
    settings("limits.output_rows_max", "whole number", "Rows that one call may return; default 1048576"),
    settings("limits.codes_max", "whole number", "Different codes among the rejections of one call; default 100"),
    settings("limits.code_bytes_max", "whole number", "Bytes of one code; default 64"),
    settings("limits.text_bytes_max", "whole number", "The text of a rejection is cut to so many bytes; default 2048"),
    settings("limits.log_lines_max", "whole number", "Log lines of one call; the others are counted only. Default 100"),
    settings("limits.log_line_bytes_max", "whole number", "A log line is cut to so many bytes; default 2048"),
    settings(
        "limits.stderr_bytes_max",
        "whole number",
        "Bytes kept of what one call writes to stderr, the last ones; default 4096",
    ),
    settings(
        "limits.table_elements_max",
        "whole number",
        "Elements of one WebAssembly table of an instance; default 100000",
    ),
    settings(
        "limits.core_instances_max",
        "whole number",
        "Core instances that one component may consist of; default 64",
    ),
    settings(
        "limits.total_memory_bytes_max",
        "whole number",
        "Linear memory of all instances together: calls wait for room. Default 1073741824, or what one instance for each processor may use",
    ),
    settings(
        "limits.stack_bytes_max",
        "whole number",
        "Stack of a component's code, which bounds recursion; default 524288",
    ),
    settings(
        "limits.compile_memory_bytes_max",
        "whole number",
        "Memory of the process that compiles a component; default 2147483648",
    ),
    settings(
        "limits.compile_seconds_max",
        "whole number",
        "Processor time of the process that compiles a component; default 120",
    ),
    settings(
        "handoff.bytes_max",
        "whole number",
        "Rows kept in memory for the streams below, over all tables; 0: they read files only. Default 67108864",
    ),
    //
    ingestion("$schema", "string", "For editors; not read"),
    ingestion("name", "string", "Names the stream and its checkpoint. Required"),
    ingestion(
        "ingest_type",
        "`streaming`",
        "What kind of ingestion; default `streaming`. `batch` is refused until it exists",
    ),
    ingestion("load_type", "`streaming`", "Must equal `ingest_type`"),
    ingestion(
        "trigger",
        "`available_now`, `continuous` or an object",
        "All that is pending, then stop (default); or until stopped",
    ),
    ingestion("trigger.every", "duration", "Until stopped, batches begin at most once in this time: `10 seconds`"),
    ingestion(
        "checkpoint_suffix",
        "string",
        "Appended to the name of the checkpoint folder: another suffix is a new start",
    ),
    ingestion("source.format", "`kafka`, `json` or `text`", "Where rows come from and how they are cut. Required"),
    ingestion("source.path", "path", "Files: the folder, or one file. Required for files"),
    ingestion("source.schema[].name", "string", "JSON files: a column of the table. Required in `schema`"),
    ingestion(
        "source.schema[].type",
        "type",
        "Spark's type name: `bigint`, `decimal(18,2)`, `struct<a: int>`. Required in `schema`",
    ),
    ingestion("source.schema[].nullable", "boolean", "Accepted for Spark's sake; files are always read as nullable"),
    ingestion("source.schema[].comment", "string", "Comment of the column"),
    option(
        "source.kafka.topic",
        "subscribe",
        "text or list",
        "Topics to read, all partitions. One of `topic`, `topic_pattern`, `assign` is required",
    ),
    option("source.kafka.topic_pattern", "subscribePattern", "regular expression", "Topics whose whole name matches"),
    ingestion(
        "source.kafka.topic_pattern_match",
        "`full` or `search`",
        "Whether a pattern must match the whole name (default), or any part of it, as in Spark",
    ),
    option("source.kafka.assign", "", "object", "Exactly these partitions: `{\"orders.v1\": [0, 1]}`"),
    ingestion("source.kafka.cluster", "string", "Takes its options from `[kafka.NAME]` of crisol.toml"),
    option(
        "source.kafka.bootstrap_servers",
        "kafka.bootstrap.servers",
        "text",
        "Brokers, `host:port,…`. Required, here or in crisol.toml",
    ),
    option(
        "source.kafka.starting_offsets",
        "startingOffsets",
        "`earliest`, `latest` or an object",
        "Where a new checkpoint begins; default `latest`. Object: next offset per topic and partition, -1 latest, -2 earliest",
    ),
    option(
        "source.kafka.starting_timestamp",
        "startingTimestamp",
        "milliseconds",
        "A new checkpoint begins at the first record as young as this; wins over the two others",
    ),
    option(
        "source.kafka.starting_offsets_by_timestamp",
        "startingOffsetsByTimestamp",
        "object",
        "The same for each partition: `{\"orders.v1\": {\"0\": 1767225600000}}`; wins over `starting_offsets`",
    ),
    option(
        "source.kafka.starting_offsets_by_timestamp_strategy",
        "startingOffsetsByTimestampStrategy",
        "`error` or `latest`",
        "What a timestamp means where no record is as young: refused (default), or the end of the partition",
    ),
    option(
        "source.kafka.max_offsets_per_trigger",
        "maxOffsetsPerTrigger",
        "whole number",
        "Most offsets of a batch, spread over the partitions",
    ),
    option(
        "source.kafka.min_offsets_per_trigger",
        "minOffsetsPerTrigger",
        "whole number",
        "A continuous stream waits for so many offsets before it makes a batch",
    ),
    option(
        "source.kafka.max_trigger_delay",
        "maxTriggerDelay",
        "duration",
        "How long it waits for them at most, since the last batch; default `15m`",
    ),
    option(
        "source.kafka.fail_on_data_loss",
        "failOnDataLoss",
        "boolean",
        "Whether offsets that are gone stop the stream; default true",
    ),
    option(
        "source.kafka.poll_timeout_ms",
        "kafkaConsumer.pollTimeoutMs",
        "whole number",
        "How long a read may stand still, and an `available_now` run waits for brokers; default 120000",
    ),
    option(
        "source.kafka.fetch_offset_num_retries",
        "fetchOffset.numRetries",
        "whole number",
        "Tries of a failing look-up of offsets; default 3",
    ),
    option(
        "source.kafka.fetch_offset_retry_interval_ms",
        "fetchOffset.retryIntervalMs",
        "whole number",
        "Pause between two tries; default 1000",
    ),
    option(
        "source.kafka.group_id",
        "kafka.group.id",
        "text",
        "Consumer group to be seen as; nothing is committed to it",
    ),
    option(
        "source.kafka.group_id_prefix",
        "groupIdPrefix",
        "text",
        "Without `group_id`: how the name of the group begins; default `crisol-kafka-source`",
    ),
    ingestion(
        "source.kafka.report_group_id",
        "text",
        "Consumer group to which positions are told after each batch, for lag monitors; never read back",
    ),
    ingestion("source.kafka.kafka.*", "text", "Any other option of librdkafka, after `kafka.`"),
    ingestion(
        "metadata.add_kafka_metadata",
        "boolean",
        "Whether `kafka_timestamp`, `timestamp_type` and `headers` are columns; default true",
    ),
    ingestion("destination_contract", "string", "The table contract to fill, relative to this file. Required"),
    option("options.max_files_per_trigger", "maxFilesPerTrigger", "whole number", "Files: most files of a batch"),
    option(
        "options.max_bytes_per_trigger",
        "maxBytesPerTrigger",
        "whole number",
        "Files: files are added while their sum is at most this, always one",
    ),
    option("options.latest_first", "latestFirst", "boolean", "Files: newest files first; default false"),
    ingestion("options.*", "as there", "Kafka: whatever may stand in `source.kafka`, by the same names"),
    //
    table("$schema", "string", "For editors; not read"),
    table("name", "string", "Name that other contracts use, `silver.orders`. Required"),
    table("path", "path", "Where the table lies; default `{path.tables}/<name with dots as folders>`"),
    table(
        "from",
        "string or object",
        "The upstream table, by name; absent in a table that an ingestion contract fills",
    ),
    table(
        "from.delta",
        "path",
        "A Delta table that someone else writes: what it holds at the start, then what is appended",
    ),
    table("stages[].decode", "component", "A decoder, `orders` or `orders@^1.2`. Each stage has exactly one kind"),
    table("stages[].transform", "component", "A transformer"),
    table("stages[].validate", "component", "A validator"),
    table("stages[].rank", "component", "A ranker, in tables with `replace_groups`"),
    table("stages[].aggregate", "component", "An aggregator, in tables with `replace_groups`"),
    table(
        "stages[].version.json",
        "string",
        "The row's schema version is this top-level field of the JSON text in column `in`",
    ),
    table("stages[].version.in", "string", "Column that holds the JSON text"),
    table("stages[].version.header", "string", "The version is this Kafka header"),
    table("stages[].version.column", "string", "The version is this column"),
    table("stages[].version.constant", "whole number", "The version is this for every row"),
    table("stages[].options", "object", "Given to the component as JSON"),
    table("stages[].limits.memory_bytes_max", "whole number", "As in crisol.toml, for this stage"),
    table("stages[].limits.deadline_ms_max", "whole number", "As in crisol.toml, for this stage"),
    table("stages[].limits.output_bytes_max", "whole number", "As in crisol.toml, for this stage"),
    table("stages[].limits.output_rows_max", "whole number", "As in crisol.toml, for this stage"),
    table("stages[].limits.codes_max", "whole number", "As in crisol.toml, for this stage"),
    table("stages[].limits.code_bytes_max", "whole number", "As in crisol.toml, for this stage"),
    table("stages[].limits.text_bytes_max", "whole number", "As in crisol.toml, for this stage"),
    table("stages[].limits.log_lines_max", "whole number", "As in crisol.toml, for this stage"),
    table("stages[].limits.log_line_bytes_max", "whole number", "As in crisol.toml, for this stage"),
    table("stages[].limits.stderr_bytes_max", "whole number", "As in crisol.toml, for this stage"),
    table("stages[].limits.table_elements_max", "whole number", "As in crisol.toml, for this stage"),
    table("stages[].limits.core_instances_max", "whole number", "As in crisol.toml, for this stage"),
    table("columns[].name", "string", "A column of the table. Required in `columns`"),
    table("columns[].type", "type", "Spark's type name. Required in `columns`"),
    table("columns[].nullable", "boolean", "Default true; false sends a null to quarantine as `not_null: <column>`"),
    table("columns[].comment", "string", "Comment of the column"),
    table("columns[].generated", "SQL", "Expression that gives the value: `CAST(event_ts AS DATE)`"),
    table("provenance", "boolean", "Whether the columns that say where a row came from are kept; default true"),
    table("expectations[].name", "string", "Name of a rule, unique in the table. Required in `expectations`"),
    table(
        "expectations[].condition",
        "SQL",
        "What must hold for a row; false and null are violations. Required in `expectations`",
    ),
    table(
        "expectations[].on_violation",
        "`warn`, `drop`, `quarantine` or `fail`",
        "What a violation does; default `quarantine`",
    ),
    table(
        "write.mode",
        "`append`, `replace_partitions`, `upsert` or `replace_groups`",
        "How rows are written; default `append`",
    ),
    table("write.keys", "list", "`upsert`: key columns"),
    table("write.sequence_by", "list", "`upsert`: columns whose greatest value is the newest row"),
    table("write.delete_when", "SQL", "`upsert`: condition under which the newest row deletes its key"),
    table("write.group_by", "list", "`replace_groups`: group columns"),
    table("on_rejected", "`quarantine` or `fail`", "What a rejected row does; default `quarantine`"),
    table("quarantine.path", "path", "Where rejected rows lie; default `<path>_quarantine`"),
    table("partition_by", "list", "Partition columns of the Delta table"),
    table("properties.*", "text", "A property of the Delta table, `delta.logRetentionDuration`"),
    table("retention", "object", "Not in this release"),
    table("maintenance", "object", "Not in this release"),
    table_option(
        "options.max_files_per_trigger",
        "maxFilesPerTrigger",
        "whole number",
        "Most files of the upstream table in a batch; default 1000",
    ),
    table_option(
        "options.max_bytes_per_trigger",
        "maxBytesPerTrigger",
        "whole number",
        "Files of the upstream table are added while their sum is at most this; default 268435456",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_under_a_place_are_its_next_steps() {
        assert_eq!(names_under(KeyFile::Settings, ""), ["path", "kafka", "limits", "handoff"]);
        assert_eq!(names_under(KeyFile::Table, "write"), ["mode", "keys", "sequence_by", "delete_when", "group_by"]);
        assert_eq!(names_under(KeyFile::Table, "columns[]"), ["name", "type", "nullable", "comment", "generated"]);
    }

    #[test]
    fn k001_names_of_options_are_compared_without_case() {
        for given in ["topic", "subscribe", "SUBSCRIBE"] {
            assert_eq!(option_under(KeyFile::Ingestion, "source.kafka", given), Some("topic"));
        }
        assert_eq!(
            option_under(KeyFile::Ingestion, "source.kafka", "fetchOffset.numRetries"),
            Some("fetch_offset_num_retries")
        );
        assert_eq!(option_under(KeyFile::Ingestion, "source.kafka", "topics"), None);
    }

    #[test]
    fn no_key_is_listed_twice() {
        for (index, key) in KEYS.iter().enumerate() {
            assert!(!KEYS[..index].iter().any(|other| other.file == key.file && other.path == key.path), "{key:?}");
        }
    }
}
