//! A source of files: `source.path`, `source.schema` and its `options`.

use super::columns;
use super::options::{Allowed, Options, Refused, Why};
use crate::ingestion::{FileFormat, FilesSpec};
use crate::keys::KeyFile;
use crate::problem::Code;
use crate::read::{Object, Spelling, Value};

const IN_A_STREAM: Why = Why::Never("has no meaning in a stream: new files are what was not read yet");

/// Options of Spark's file source that this release does not take (F-014, F-019).
const REFUSED: &[Refused] = &[
    Refused { names: &["modifiedBefore", "modifiedAfter"], why: IN_A_STREAM },
    Refused { names: &["pathGlobFilter", "fileNamePattern", "recursiveFileLookup", "basePath"], why: Why::NotYet },
    Refused { names: &["cleanSource", "sourceArchiveDir", "maxFileAge", "fileNameOnly"], why: Why::NotYet },
    Refused { names: &["maxCachedFiles", "discardCachedInputRatio"], why: Why::NotYet },
    Refused { names: &["ignoreMissingFiles", "ignoreCorruptFiles"], why: Why::NotYet },
    Refused { names: &["wholetext", "lineSep", "encoding", "charset", "compression", "multiLine"], why: Why::NotYet },
    Refused {
        names: &["mode", "columnNameOfCorruptRecord", "rescuedDataColumn", "badRecordsPath"],
        why: Why::Never("there is one mode: what does not fit goes to quarantine, with its reason"),
    },
    Refused {
        names: &["inferSchema", "schemaEvolutionMode", "mergeSchema", "cloudFiles.schemaLocation"],
        why: Why::Never("is decided by `source.schema`: columns, or none to take them from the files present"),
    },
    Refused { names: &["cloudFiles.format"], why: Why::Never("is `source.format`") },
    Refused {
        names: &["timestampFormat", "dateFormat", "timeZone", "primitivesAsString", "prefersDecimal"],
        why: Why::NotYet,
    },
    Refused { names: &["allowComments", "allowSingleQuotes", "allowUnquotedFieldNames"], why: Why::NotYet },
];

/// Where options of files may stand.
pub(super) const ALLOWED: Allowed = Allowed { file: KeyFile::Ingestion, parent: "options", refused: REFUSED };

pub(super) fn files(source: &Object<'_>, format: FileFormat, options: &Options<'_>) -> FilesSpec {
    let limit = |name: &str| options.get(name).and_then(|value| value.count(1, Spelling::Spark));
    if let (Some(_), Some(second)) = (options.get("max_files_per_trigger"), options.get("max_bytes_per_trigger")) {
        second.refuse(Code::Conflict, "only one of `max_files_per_trigger` and `max_bytes_per_trigger` may be set");
    }
    let path = source.require("path");
    if let Some(path) = path.as_ref().filter(|path| path.is_empty_text()) {
        path.refuse(Code::InvalidValue, "must not be empty");
    }
    FilesSpec {
        format,
        path: path.as_ref().and_then(Value::location).unwrap_or_default(),
        schema: source.get("schema").and_then(|schema| read_schema(&schema, format)),
        max_files_per_trigger: limit("max_files_per_trigger"),
        max_bytes_per_trigger: limit("max_bytes_per_trigger"),
        latest_first: options.get("latest_first").and_then(|value| value.flag(Spelling::Spark)).unwrap_or(false),
    }
}

fn read_schema(schema: &Value<'_>, format: FileFormat) -> Option<Vec<crate::ColumnSpec>> {
    if format == FileFormat::Text {
        schema.refuse(Code::Conflict, "`format: text` keeps whole lines in `payload` and has no schema");
        return None;
    }
    columns::source_schema(schema)
}
