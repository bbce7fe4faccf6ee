//! A project in memory.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crisol_contract::{Lookup, Problems, Resolved, SourceText, Texts, resolve};

pub(crate) const SETTINGS: &str = r#"
[path]
landing    = "data/landing"
checkpoint = "data/checkpoints"
tables     = "data/tables"
"#;

#[derive(Default, Clone)]
pub(crate) struct Project {
    pub(crate) settings: Option<String>,
    pub(crate) ingestion: Vec<(String, String)>,
    pub(crate) tables: Vec<(String, String)>,
    pub(crate) sets: Vec<(String, String)>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) files: BTreeMap<PathBuf, String>,
    /// Table contracts that are no text.
    pub(crate) bytes: Vec<SourceText>,
    /// Symbolic links, and where they lead.
    pub(crate) links: BTreeMap<PathBuf, PathBuf>,
}

impl Lookup for Project {
    fn env(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned()
    }

    fn env_vars(&self) -> Vec<String> {
        self.env.keys().cloned().collect()
    }

    fn file(&self, path: &Path) -> Result<String, String> {
        self.files.get(path).cloned().ok_or_else(|| "no such file".to_owned())
    }

    fn for_kafka(&self) -> &dyn Lookup {
        self
    }

    fn real(&self, path: &Path) -> PathBuf {
        let followed = self.links.iter().find_map(|(link, to)| {
            let rest = path.strip_prefix(link).ok()?;
            Some(to.components().chain(rest.components()).collect())
        });
        followed.unwrap_or_else(|| path.to_owned())
    }
}

impl Project {
    pub(crate) fn new() -> Self {
        Self { settings: Some(SETTINGS.to_owned()), ..Self::default() }
    }

    pub(crate) fn settings(mut self, text: &str) -> Self {
        self.settings = Some(text.to_owned());
        self
    }

    /// More of `crisol.toml`, after the paths.
    pub(crate) fn more_settings(self, text: &str) -> Self {
        self.settings(&format!("{SETTINGS}{text}"))
    }

    pub(crate) fn ingestion(mut self, path: &str, text: &str) -> Self {
        self.ingestion.push((format!("ingestion/streaming/{path}"), text.to_owned()));
        self
    }

    pub(crate) fn table(mut self, path: &str, text: &str) -> Self {
        self.tables.push((format!("tables/{path}"), text.to_owned()));
        self
    }

    pub(crate) fn table_bytes(mut self, path: &str, bytes: &[u8]) -> Self {
        self.bytes.push(SourceText { path: PathBuf::from(format!("tables/{path}")), bytes: bytes.to_vec() });
        self
    }

    pub(crate) fn link(mut self, link: &str, to: &str) -> Self {
        self.links.insert(link.into(), to.into());
        self
    }

    pub(crate) fn set(mut self, key: &str, value: &str) -> Self {
        self.sets.push((key.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(PathBuf::from(path), text.to_owned());
        self
    }

    pub(crate) fn resolve(&self) -> Result<Resolved, Problems> {
        let source = |(path, text): &(String, String)| SourceText {
            path: PathBuf::from(path),
            bytes: text.clone().into_bytes(),
        };
        let texts = Texts {
            settings: self.settings.clone().map(|text| source(&("crisol.toml".to_owned(), text))),
            ingestion: self.ingestion.iter().map(source).collect(),
            tables: self.tables.iter().map(source).chain(self.bytes.clone()).collect(),
        };
        resolve(Path::new("/project"), &texts, &self.sets, self)
    }

    #[track_caller]
    pub(crate) fn good(&self) -> Resolved {
        self.resolve().unwrap_or_else(|problems| panic!("should resolve:\n{problems}"))
    }

    /// What the user sees.
    #[track_caller]
    pub(crate) fn bad(&self) -> String {
        match self.resolve() {
            Ok(_) => panic!("should be refused"),
            Err(problems) => problems.to_string(),
        }
    }
}

/// A Kafka ingestion contract with its bronze table; `more` goes into `source.kafka` (begin with a comma).
pub(crate) fn kafka(more: &str) -> Project {
    let text = format!(
        r#"{{ "name": "orders", "ingest_type": "streaming",
  "source": {{ "format": "kafka", "kafka": {{ "bootstrap_servers": "b:9092"{more} }} }},
  "destination_contract": "../../tables/bronze/orders_raw.json" }}"#
    );
    Project::new().ingestion("orders.json", &text).table("bronze/orders_raw.json", r#"{ "name": "bronze.orders_raw" }"#)
}

/// The same with a topic.
pub(crate) fn kafka_topic(more: &str) -> Project {
    kafka(&format!(r#", "topic": "orders.v1"{more}"#))
}

/// Files with their bronze table; `more` goes to the top level (begin with a comma).
pub(crate) fn files(more: &str) -> Project {
    let text = format!(
        r#"{{ "name": "music", "source": {{ "format": "json", "path": "{{path.landing}}/music" }},
  "destination_contract": "../../tables/bronze/music.json"{more} }}"#
    );
    Project::new().ingestion("music.json", &text).table("bronze/music.json", r#"{ "name": "bronze.music" }"#)
}

/// A silver table beside the bronze one; `more` goes to the top level (begin with a comma).
pub(crate) fn silver(more: &str) -> Project {
    let text = format!("{{ \"name\": \"silver.orders\", \"from\": \"bronze.orders_raw\"{more} }}");
    kafka_topic("").table("silver/orders.json", &text)
}
