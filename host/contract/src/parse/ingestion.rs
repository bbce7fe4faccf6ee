//! An ingestion contract.

use std::path::PathBuf;
use std::time::Duration;

use super::options::{Allowed, Options};
use super::{check_schema_key, files, folder_name, kafka};
use crate::ingestion::{FileFormat, IngestionContract, SourceSpec, Trigger};
use crate::problem::Code;
use crate::read::{Object, Spelling, Value};
use crate::settings::KafkaSettings;
use crate::text::{Data, absolute};

/// Reads an ingestion contract, and the path of the table contract that it names, `None` when that is faulty. The
/// contract's `destination` is filled in when all tables are known.
pub(crate) fn ingestion(root: &Value<'_>, settings: &KafkaSettings) -> Option<(IngestionContract, Option<PathBuf>)> {
    let object = root.object_without(&option_place)?;
    check_types(&object);
    let name = object.require("name").and_then(|value| folder_name(&value, false)).unwrap_or_default();
    let suffix = object.get("checkpoint_suffix").and_then(|value| folder_name(&value, true));
    let destination = object.require("destination_contract").and_then(|value| value.plain_not_empty());
    let folder = root.file.path.parent().map(PathBuf::from).unwrap_or_default();
    let contract = IngestionContract {
        name,
        file: PathBuf::from(&root.file.shown),
        trigger: object.get("trigger").and_then(|value| trigger(&value)).unwrap_or(Trigger::AvailableNow),
        checkpoint_suffix: suffix.unwrap_or_default(),
        source: source(&object, settings)?,
        destination: String::new(),
    };
    Some((contract, destination.map(|path| absolute(&folder, &path))))
}

fn check_types(object: &Object<'_>) {
    check_schema_key(object);
    // Each must be `streaming`, so they cannot differ as well.
    for value in ["ingest_type", "load_type"].iter().filter_map(|name| object.get(name)) {
        let Some(text) = value.plain() else { continue };
        match text.as_str() {
            "streaming" => {}
            "batch" => value.refuse_hinting(
                Code::NotSupported,
                "`batch` is not supported yet",
                "`streaming` with the trigger `available_now` reads what is there and stops",
            ),
            _ => value.refuse_hinting(
                Code::InvalidValue,
                format!("`{text}` is not a kind of ingestion{}", crate::suggest::did_you_mean(&text, ["streaming"])),
                "choose `streaming`",
            ),
        }
    }
}

fn trigger(value: &Value<'_>) -> Option<Trigger> {
    if !value.is_object() {
        const CHOICES: [(&str, Trigger); 2] =
            [("available_now", Trigger::AvailableNow), ("continuous", Trigger::Continuous)];
        return value.choice("a trigger", &CHOICES);
    }
    let object = value.object()?;
    // A key in its place was refused already: that is one mistake, not two.
    let every = if value.node.entries().is_empty() { object.require("every") } else { object.get("every") }?;
    let text = every.plain()?;
    match humantime::parse_duration(&text) {
        Ok(pace) if pace > Duration::ZERO => Some(Trigger::Every(pace)),
        _ => {
            every.refuse_hinting(
                Code::InvalidValue,
                format!("`{text}` is not a time"),
                "for example `10 seconds` or `5 minutes`",
            );
            None
        }
    }
}

/// What `source.format` asks for.
#[derive(Clone, Copy)]
enum Format {
    Kafka,
    Files(FileFormat),
    NotYet,
}

const FORMATS: [(&str, Format); 13] = [
    ("kafka", Format::Kafka),
    ("json", Format::Files(FileFormat::Json)),
    ("text", Format::Files(FileFormat::Text)),
    ("csv", Format::NotYet),
    ("parquet", Format::NotYet),
    ("avro", Format::NotYet),
    ("orc", Format::NotYet),
    ("xml", Format::NotYet),
    ("binaryFile", Format::NotYet),
    ("delta", Format::NotYet),
    ("cloudFiles", Format::NotYet),
    ("rate", Format::NotYet),
    ("socket", Format::NotYet),
];

fn source(object: &Object<'_>, settings: &KafkaSettings) -> Option<SourceSpec> {
    let source = object.require("source")?;
    let inner = source.object_without(&option_place)?;
    let metadata = metadata(object);
    match inner.require("format").and_then(|value| format(&value))? {
        Format::Kafka => {
            refuse(&inner, &["path", "schema"], "belongs to files; a Kafka source has `source.kafka`");
            let objects = [inner.get("kafka"), object.get("options")];
            let options = gather(&objects, &kafka::ALLOWED);
            let place = inner.get("kafka").unwrap_or(source);
            Some(SourceSpec::Kafka(kafka::kafka(&place, &options, settings, metadata)))
        }
        Format::Files(format) => {
            refuse(&inner, &["kafka"], "belongs to `\"format\": \"kafka\"`");
            let options = gather(&[object.get("options")], &files::ALLOWED);
            Some(SourceSpec::Files(files::files(&inner, format, &options)))
        }
        Format::NotYet => None,
    }
}

fn format(value: &Value<'_>) -> Option<Format> {
    let text = value.plain()?;
    let known = FORMATS.iter().find(|(name, _)| name.eq_ignore_ascii_case(&text));
    let ready = FORMATS.iter().filter(|(_, format)| !matches!(format, Format::NotYet));
    let hint = crate::suggest::choose(ready.clone().map(|(name, _)| *name)).unwrap_or_default();
    match known {
        Some((_, Format::NotYet)) => {
            value.refuse_hinting(Code::NotSupported, format!("`{text}` is not supported yet"), hint);
            None
        }
        Some((_, format)) => Some(*format),
        None => {
            let near = crate::suggest::did_you_mean(&text, ready.map(|(name, _)| *name));
            value.refuse_hinting(Code::InvalidValue, format!("`{text}` is not a format{near}"), hint);
            None
        }
    }
}

fn gather<'a>(objects: &[Option<Value<'a>>], allowed: &Allowed) -> Options<'a> {
    let mut options = Options::default();
    for object in objects.iter().flatten() {
        options.read(object, allowed);
    }
    options
}

/// Where an option belongs that stands in the wrong place.
fn option_place(name: &str) -> Option<&'static str> {
    [&files::ALLOWED, &kafka::ALLOWED].into_iter().find(|allowed| allowed.holds(name)).map(|allowed| allowed.parent)
}

fn refuse(source: &Object<'_>, names: &[&str], reason: &str) {
    for value in names.iter().filter_map(|name| source.get(name)) {
        value.refuse(Code::Conflict, reason);
    }
}

fn metadata(object: &Object<'_>) -> bool {
    let metadata = object.get("metadata").and_then(|value| value.object());
    let flag = metadata.and_then(|metadata| metadata.get("add_kafka_metadata"));
    if let Some(value) = &flag
        && let Some(format) = object.get("source").and_then(|source| source.node.get("format").map(|e| e.value.clone()))
        && matches!(&format.data, Data::Text(text) if text != "kafka")
    {
        value.refuse(Code::Conflict, "belongs to `\"format\": \"kafka\"`; files always give their own columns");
    }
    flag.and_then(|value| value.flag(Spelling::Json)).unwrap_or(true)
}
