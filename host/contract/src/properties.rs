//! Properties of Delta tables: a name that Delta does not know, or a value that it cannot read, would be kept in the
//! table and silently do nothing; some would lie about what the files hold (R-019, D-008, D-061).

use crate::problem::Code;
use crate::read::Value;
use crate::suggest;

/// What a property takes.
#[derive(Clone, Copy)]
enum Takes {
    Flag,
    Count,
    Interval,
    Text,
}

/// Properties of Delta that may be set.
const KNOWN: &[(&str, Takes)] = &[
    ("delta.appendOnly", Takes::Flag),
    ("delta.checkpoint.writeStatsAsJson", Takes::Flag),
    ("delta.checkpoint.writeStatsAsStruct", Takes::Flag),
    ("delta.dataSkippingNumIndexedCols", Takes::Count),
    ("delta.dataSkippingStatsColumns", Takes::Text),
    ("delta.deletedFileRetentionDuration", Takes::Interval),
    ("delta.enableChangeDataFeed", Takes::Flag),
    ("delta.enableExpiredLogCleanup", Takes::Flag),
    ("delta.logRetentionDuration", Takes::Interval),
    ("delta.targetFileSize", Takes::Count),
];

/// Refused, by the beginning of the name.
const REFUSED: &[(&str, &str)] = &[
    ("delta.isolationLevel", "the level is always `Serializable`, the only one that open-source Delta accepts"),
    ("delta.enableRowTracking", "row tracking cannot be written; the property alone would claim what does not hold"),
    ("delta.rowTracking", "row tracking cannot be written; the property alone would claim what does not hold"),
    ("delta.enableInCommitTimestamps", "in-commit timestamps cannot be written"),
    ("delta.inCommitTimestamp", "in-commit timestamps cannot be written"),
    ("delta.enableTypeWidening", "type widening cannot be written"),
    ("delta.checkpointPolicy", "log checkpoints are always classic; `v2` cannot be written"),
    ("delta.enableDeletionVectors", "deletion vectors cannot be written: files are rewritten instead"),
    (
        "delta.setTransactionRetentionDuration",
        "a table that forgets its transactions lets a restarted stream write rows twice",
    ),
    ("delta.checkpointInterval", "the host sets it to 10"),
    ("delta.columnMapping", "column mapping cannot be written"),
    ("delta.autoOptimize", "it does nothing here"),
    ("delta.tuneFileSizesForRewrites", "it does nothing here"),
    ("delta.randomizeFilePrefixes", "it does nothing here"),
    ("delta.constraints.", "use `expectations`, which send the rows that violate them to quarantine"),
    ("delta.generationExpression", "use `generated` of a column"),
    ("delta.invariants", "use `\"nullable\": false` of a column, or `expectations`"),
    ("delta.minReaderVersion", "the host chooses the protocol"),
    ("delta.minWriterVersion", "the host chooses the protocol"),
    ("delta.feature.", "the host chooses the features of a table"),
    ("delta.enableIcebergCompat", "Iceberg compatibility cannot be written"),
    ("delta.universalFormat", "Iceberg compatibility cannot be written"),
    ("delta.coordinatedCommits", "coordinated commits cannot be written"),
    ("delta.clustering", "clustering cannot be written"),
    ("delta.identity", "identity columns cannot be written"),
    ("delta.requireCheckpointProtectionBeforeVersion", "it cannot be held"),
];

/// The value of a table property as Delta keeps it.
pub(crate) fn property(name: &str, value: &Value<'_>) -> Option<String> {
    let lower = name.to_lowercase();
    if let Some((_, reason)) = REFUSED.iter().find(|(start, _)| lower.starts_with(&start.to_lowercase())) {
        value.refuse(Code::Refused, format!("cannot be set: {reason}"));
        return None;
    }
    let text = value.scalar()?;
    if !lower.starts_with("delta.") {
        return Some(text);
    }
    let Some((_, takes)) = KNOWN.iter().find(|(known, _)| *known == name) else {
        let names = || KNOWN.iter().map(|(known, _)| *known);
        let message = format!("Delta has no such property{}", suggest::did_you_mean(name, names()));
        let mut problem = value.problem(Code::UnknownKey, message);
        problem.hint = suggest::choose(names());
        value.report.push(problem);
        return None;
    };
    let wanted = match takes {
        Takes::Flag => (!matches!(text.as_str(), "true" | "false")).then_some("`true` or `false`"),
        Takes::Count => text.parse::<u64>().is_err().then_some("a whole number"),
        Takes::Interval => (!is_interval(&text)).then_some("an interval like `interval 30 days`"),
        Takes::Text => None,
    };
    if let Some(wanted) = wanted {
        value.refuse(Code::InvalidValue, format!("expected {wanted}"));
    }
    Some(text)
}

fn is_interval(text: &str) -> bool {
    const UNITS: [&str; 7] = ["week", "day", "hour", "minute", "second", "millisecond", "microsecond"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let [interval, number, unit] = words.as_slice() else { return false };
    let unit = unit.strip_suffix('s').unwrap_or(unit);
    *interval == "interval" && number.parse::<u64>().is_ok() && UNITS.contains(&unit)
}
