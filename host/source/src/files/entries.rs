//! The text of `sources/0/<n>`: `v1`, then one JSON object per file (C-005).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::SourceError;
use crate::log::DAMAGED;

const VERSION: &str = "v1";

/// A file of a planned batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// URL-encoded, with its scheme: `file:///in/a%20b.json`.
    pub(super) path: String,
    /// Modification time in milliseconds.
    pub(super) timestamp: i64,
    /// Number of the entry that the file came with.
    #[serde(rename = "batchId")]
    pub(super) batch_id: u64,
}

impl Entry {
    pub(super) fn local_path(&self, number: u64) -> Result<PathBuf, SourceError> {
        Url::parse(&self.path).ok().and_then(|url| url.to_file_path().ok()).ok_or_else(|| {
            SourceError::config(
                format!("checkpoint entry sources/0/{number}: `{}` is no local file", self.path),
                "this version reads local files only",
            )
        })
    }
}

pub(super) fn to_text(entries: &[Entry]) -> String {
    let mut text = VERSION.to_owned();
    for entry in entries {
        text.push('\n');
        // Strings and numbers always have a JSON form.
        text.push_str(&serde_json::to_string(entry).unwrap_or_default());
    }
    text
}

pub(super) fn from_text(number: u64, text: &str) -> Result<Vec<Entry>, SourceError> {
    let mut lines = text.lines();
    let version = lines.next().unwrap_or_default();
    if version != VERSION {
        return Err(SourceError::config(
            format!("checkpoint entry sources/0/{number} has version `{version}`, supported is `{VERSION}`"),
            DAMAGED,
        ));
    }
    let damaged =
        |what: &str| SourceError::config(format!("checkpoint entry sources/0/{number} is damaged: {what}"), DAMAGED);
    let lines = lines.filter(|line| !line.trim().is_empty());
    let entries = lines.map(|line| serde_json::from_str(line).map_err(|e| damaged(&e.to_string())));
    let entries: Vec<Entry> = entries.collect::<Result<_, _>>()?;
    // A batch is only planned for files; believing this would read those of the batch again.
    if entries.is_empty() { Err(damaged("it names no file")) } else { Ok(entries) }
}

/// The files that an entry of the log names, URL-encoded.
///
/// # Errors
/// The entry is damaged, or of another version.
pub fn logged_files(number: u64, text: &str) -> Result<Vec<String>, SourceError> {
    Ok(from_text(number, text)?.into_iter().map(|entry| entry.path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f017_an_entry_that_was_cut_behind_its_version_is_refused() {
        let error = from_text(3, "v1\n").unwrap_err();
        assert!(error.to_string().contains("sources/0/3 is damaged: it names no file"), "{error}");
    }

    #[test]
    fn c005_the_text_is_sparks_and_comes_back() {
        let entries = vec![
            Entry { path: "file:///in/a%20b.json".into(), timestamp: 17, batch_id: 3 },
            Entry { path: "file:///in/c.json".into(), timestamp: 18, batch_id: 3 },
        ];
        let text = to_text(&entries);
        assert_eq!(
            text,
            "v1\n{\"path\":\"file:///in/a%20b.json\",\"timestamp\":17,\"batchId\":3}\n\
             {\"path\":\"file:///in/c.json\",\"timestamp\":18,\"batchId\":3}"
        );
        assert_eq!(from_text(3, &text).unwrap(), entries);
        assert_eq!(entries[0].local_path(3).unwrap(), PathBuf::from("/in/a b.json"));
    }

    #[test]
    fn c007_another_version_is_refused_and_never_guessed() {
        assert!(from_text(0, "v9\n").unwrap_err().to_string().contains("`v9`"));
        assert!(from_text(0, "v1\n{\"path\":").is_err());
    }
}
