//! The text in which a first position is kept under `sources/0/0` (K-032).

use std::collections::BTreeMap;

use crisol_checkpoint::KafkaPosition;

use crate::SourceError;
use crate::log::DAMAGED;

const VERSION: &str = "v1";

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

    #[test]
    fn k032_the_text_is_sparks_and_comes_back() {
        let position = KafkaPosition([("t".to_owned(), [(0, 10), (1, 20)].into())].into());
        let text = to_text(&position);
        assert_eq!(text, "\0v1\n{\"t\":{\"0\":10,\"1\":20}}");
        assert_eq!(from_text(&text).unwrap(), position);
        assert_eq!(from_text(&text[1..]).unwrap(), position);
    }

    #[test]
    fn c007_another_version_is_refused_and_never_guessed() {
        let error = from_text("v9\n{}").unwrap_err().to_string();
        assert!(error.contains("`v9`") && error.contains("`v1`"), "{error}");
        assert!(from_text("v1\nnot json").is_err());
    }
}
