//! What a component says of itself: name, version, kind, schema versions, options.

use crisol_ipc::{GROUP, ROW};
use semver::Version;
use serde::Deserialize;

use crate::limits::{DESCRIPTION_BYTES_MAX, OPTIONS_SCHEMA_BYTES_MAX};
use crate::options::OptionsSchema;
use crate::text::printable;

const NAME_BYTES_MAX: usize = 64;

/// What a component is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Bytes to typed rows.
    Decoder,
    /// Rows to rows.
    Transformer,
    /// Rules over rows.
    Validator,
    /// The best rows of each group.
    Ranker,
    /// One row for each group.
    Aggregator,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Decoder, Self::Transformer, Self::Validator, Self::Ranker, Self::Aggregator];

    /// The word for it, in descriptions and messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Decoder => "decoder",
            Self::Transformer => "transformer",
            Self::Validator => "validator",
            Self::Ranker => "ranker",
            Self::Aggregator => "aggregator",
        }
    }

    /// The key of a stage in a contract.
    pub fn stage_key(self) -> &'static str {
        match self {
            Self::Decoder => "decode",
            Self::Transformer => "transform",
            Self::Validator => "validate",
            Self::Ranker => "rank",
            Self::Aggregator => "aggregate",
        }
    }

    /// The interface that it exports beside `description`.
    pub fn interface(self) -> &'static str {
        match self {
            Self::Decoder | Self::Transformer => "transform",
            Self::Validator => "verdicts",
            Self::Ranker | Self::Aggregator => "group",
        }
    }

    /// Whether it works on whole groups, not on rows.
    pub fn groups(self) -> bool {
        matches!(self, Self::Ranker | Self::Aggregator)
    }

    /// The last column of what it gives: which row, or group, each row stands for.
    pub(crate) fn index(self) -> &'static str {
        if self == Self::Aggregator { GROUP } else { ROW }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// Schema versions that a component handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaVersions {
    /// Every one, also rows without a version.
    All,
    /// From the first to the last, both included.
    Range {
        /// The first.
        first: u32,
        /// The last.
        last: u32,
    },
}

impl SchemaVersions {
    /// Whether it handles this version.
    pub fn contains(self, version: u32) -> bool {
        match self {
            Self::All => true,
            Self::Range { first, last } => (first..=last).contains(&version),
        }
    }

    /// Whether there is a version that both handle.
    pub fn overlaps(self, other: Self) -> bool {
        match (self, other) {
            (Self::Range { first, last }, Self::Range { first: f, last: l }) => first <= l && f <= last,
            _ => true,
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last => Ok(Self::Range { first, last }),
            _ => Err(format!("`schema_versions` is `{}`; write `1..3`, `2` or `all`", printable(text, NAME_BYTES_MAX))),
        }
    }
}

impl std::fmt::Display for SchemaVersions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Range { first, last } if first == last => write!(f, "{first}"),
            Self::Range { first, last } => write!(f, "{first}..{last}"),
        }
    }
}

/// A checked description.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) name: String,
    pub(crate) version: Version,
    pub(crate) kind: Kind,
    pub(crate) schema_versions: SchemaVersions,
    pub(crate) options: OptionsSchema,
    pub(crate) reuse: bool,
}

#[derive(Deserialize)]
struct Written {
    name: String,
    version: String,
    kind: String,
    schema_versions: Option<String>,
    options: Option<serde_json::Value>,
    #[serde(default)]
    reuse: bool,
}

impl Description {
    /// Reads what `describe` gave.
    pub(crate) fn parse(json: &str) -> Result<Self, String> {
        if json.len() > DESCRIPTION_BYTES_MAX {
            return Err(format!("it is {} bytes long, {DESCRIPTION_BYTES_MAX} are allowed", json.len()));
        }
        let written: Written =
            serde_json::from_str(json).map_err(|error| printable(&format!("not the JSON expected: {error}"), 500))?;
        check_name(&written.name)?;
        Ok(Self {
            version: parse_version(&written.version)?,
            kind: parse_kind(&written.kind)?,
            schema_versions: written
                .schema_versions
                .as_deref()
                .map_or(Ok(SchemaVersions::All), SchemaVersions::parse)?,
            options: parse_options(written.options)?,
            reuse: written.reuse,
            name: written.name,
        })
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let good = name.len() <= NAME_BYTES_MAX
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.chars().all(inside);
    if good {
        return Ok(());
    }
    Err(format!(
        "`name` is `{}`; a name has 1 to {NAME_BYTES_MAX} of a-z, 0-9, `-` and `_`, starts with a letter and ends with a letter or digit",
        printable(name, NAME_BYTES_MAX)
    ))
}

fn parse_version(text: &str) -> Result<Version, String> {
    if text.len() > NAME_BYTES_MAX {
        return Err(format!("`version` is longer than {NAME_BYTES_MAX} bytes"));
    }
    Version::parse(text).map_err(|error| {
        format!("`version` is `{}`, not a semantic version like `1.2.0`: {error}", printable(text, 64))
    })
}

fn parse_kind(text: &str) -> Result<Kind, String> {
    Kind::ALL.into_iter().find(|kind| kind.word() == text).ok_or_else(|| {
        let words: Vec<&str> = Kind::ALL.iter().map(|kind| kind.word()).collect();
        format!("`kind` is `{}`; kinds are {}", printable(text, NAME_BYTES_MAX), words.join(", "))
    })
}

fn parse_options(schema: Option<serde_json::Value>) -> Result<OptionsSchema, String> {
    let Some(schema) = schema else { return Ok(OptionsSchema::none()) };
    let bytes = schema.to_string().len();
    if bytes > OPTIONS_SCHEMA_BYTES_MAX {
        return Err(format!("`options` is {bytes} bytes long, {OPTIONS_SCHEMA_BYTES_MAX} are allowed"));
    }
    OptionsSchema::new(&schema).map_err(|error| printable(&format!("`options` is not a JSON Schema: {error}"), 500))
}

#[cfg(test)]
mod tests;
