//! Where a new checkpoint begins, and the text in which that is kept under `sources/0/0` (K-020…K-023, K-032).

use std::collections::BTreeMap;

use crisol_checkpoint::KafkaPosition;
use crisol_contract::StartingOffsets;

use super::ahead::{Held, offset};
use super::limit::entries;
use crate::SourceError;
use crate::log::DAMAGED;

const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const VERSION: &str = "v1";

/// The positions that a contract's `starting_offsets` mean now.
pub(super) fn resolve(starting: &StartingOffsets, held: &Held) -> Result<KafkaPosition, SourceError> {
    let asked = match starting {
        StartingOffsets::Earliest => return Ok(held.earliest.clone()),
        StartingOffsets::Latest => return Ok(held.latest.clone()),
        StartingOffsets::Exact(asked) => KafkaPosition(asked.clone()),
    };
    let specified = places(&asked);
    let assigned = places(&held.latest);
    if specified != assigned {
        return Err(SourceError::config(
            format!(
                "`starting_offsets` must name every partition: specified are [{}], assigned are [{}]",
                specified.join(", "),
                assigned.join(", ")
            ),
            "use -1 for the latest and -2 for the earliest offset of a partition",
        ));
    }
    let mut resolved = KafkaPosition::default();
    for (topic, partition, asked) in entries(&asked) {
        let from = match asked {
            LATEST => offset(&held.latest, topic, partition),
            EARLIEST => offset(&held.earliest, topic, partition),
            exact => Some(exact),
        };
        let from = from.filter(|from| *from >= 0).ok_or_else(|| {
            SourceError::config(
                format!("`starting_offsets`: {asked} is no offset (topic `{topic}` partition {partition})"),
                "use -1 for the latest, -2 for the earliest, or the next offset to read",
            )
        })?;
        resolved.0.entry(topic.to_owned()).or_default().insert(partition, from);
    }
    Ok(resolved)
}

fn places(position: &KafkaPosition) -> Vec<String> {
    entries(position).map(|(topic, partition, _)| format!("{topic}-{partition}")).collect()
}

/// Spark's text: a zero byte (for its version 2.1.0), the version line, the offsets.
pub(super) fn to_text(position: &KafkaPosition) -> String {
    // A map of maps of numbers always has a JSON form.
    let json = serde_json::to_string(&position.0).unwrap_or_default();
    format!("\0{VERSION}\n{json}")
}

pub(super) fn from_text(text: &str) -> Result<KafkaPosition, SourceError> {
    let text = text.strip_prefix('\0').unwrap_or(text);
    let (version, json) = text.split_once('\n').unwrap_or((text, ""));
    if version != VERSION {
        return Err(SourceError::config(
            format!("checkpoint entry sources/0/0 has version `{version}`, supported is `{VERSION}`"),
            DAMAGED,
        ));
    }
    let offsets: BTreeMap<String, BTreeMap<i32, i64>> = serde_json::from_str(json.trim()).map_err(|e| {
        SourceError::config(format!("checkpoint entry sources/0/0 holds no Kafka offsets: {e}"), DAMAGED)
    })?;
    Ok(KafkaPosition(offsets))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held() -> Held {
        let position = |a, b| KafkaPosition([("t".to_owned(), [(0, a), (1, b)].into())].into());
        Held { earliest: position(3, 0), latest: position(10, 20) }
    }

    fn exact(offsets: &[(i32, i64)]) -> StartingOffsets {
        StartingOffsets::Exact([("t".to_owned(), offsets.iter().copied().collect())].into())
    }

    #[test]
    fn k022_minus_one_is_latest_and_minus_two_earliest() {
        assert_eq!(resolve(&exact(&[(0, -2), (1, -1)]), &held()).unwrap().0["t"], [(0, 3), (1, 20)].into());
        assert_eq!(resolve(&exact(&[(0, 7), (1, 0)]), &held()).unwrap().0["t"], [(0, 7), (1, 0)].into());
        assert!(resolve(&exact(&[(0, -3), (1, 0)]), &held()).is_err());
    }

    #[test]
    fn k023_every_partition_must_be_named() {
        let error = resolve(&exact(&[(0, 7), (4, 0)]), &held()).unwrap_err().to_string();
        assert!(error.contains("specified are [t-0, t-4], assigned are [t-0, t-1]"), "{error}");
    }

    #[test]
    fn k032_the_text_is_sparks_and_comes_back() {
        let text = to_text(&held().latest);
        assert_eq!(text, "\0v1\n{\"t\":{\"0\":10,\"1\":20}}");
        assert_eq!(from_text(&text).unwrap(), held().latest);
        assert_eq!(from_text(&text[1..]).unwrap(), held().latest);
    }

    #[test]
    fn c007_another_version_is_refused_and_never_guessed() {
        let error = from_text("v9\n{}").unwrap_err().to_string();
        assert!(error.contains("`v9`") && error.contains("`v1`"), "{error}");
        assert!(from_text("v1\nnot json").is_err());
    }
}
