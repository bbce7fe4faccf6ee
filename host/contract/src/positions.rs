//! Where the keys of a project's files stand, for what is found wrong only when contracts meet components and clients.

use std::path::Path;
use std::sync::Arc;

use crate::keys::KeyFile;
use crate::parse::client_name;
use crate::problem::{self, Code, Problem, Problems};
use crate::text::{Data, File, Node};

/// The files of a project, as they were read.
#[derive(Debug, Clone)]
pub struct Positions {
    files: Arc<[File]>,
}

impl Positions {
    /// Files in the order in which problems are told.
    pub(crate) fn new(files: Vec<File>) -> Self {
        Self { files: files.into() }
    }

    /// A refusal of a key of a file, or of the nearest thing above it; of the whole file when the key is empty.
    ///
    /// `file` is what a contract says of its own file.
    pub fn refused(&self, file: &Path, key: &str, message: impl Into<String>) -> Problem {
        let key_or_none = (!key.is_empty()).then(|| key.to_owned());
        let shown = file.to_string_lossy().into_owned();
        let (code, message) = (Code::Refused, message.into());
        match self.file(file) {
            Some(file) => Problem { key: key_or_none, ..file.problem(key, code, message) },
            None => Problem { code, message, file: shown, line: None, column: None, key: key_or_none, hint: None },
        }
    }

    /// A refusal of an option of an ingestion contract's Kafka client, wherever it is set: for the cluster, for all
    /// clusters, or in the contract.
    pub fn refused_client_option(&self, ingestion: &Path, option: &str, message: impl Into<String>) -> Problem {
        let contract = self.file(ingestion);
        let settings = self.files.iter().find(|file| file.kind == KeyFile::Settings);
        let in_settings = settings.and_then(|file| {
            let key = settings_key(&file.root, contract.and_then(|contract| cluster(&contract.root)), option)?;
            Some((file, key))
        });
        let place = in_settings.or_else(|| contract.and_then(|file| Some((file, contract_key(&file.root, option)?))));
        match place {
            Some((file, key)) => file.problem(&key, Code::Refused, message),
            None => self.refused(ingestion, "source.kafka", message),
        }
    }

    /// Problems in the order of the files and of their places in them, each once.
    pub fn problems(&self, mut problems: Vec<Problem>) -> Problems {
        let files: Vec<String> = self.files.iter().map(|file| file.shown.clone()).collect();
        problem::sort(&mut problems, &files);
        problems.dedup();
        Problems::new(problems)
    }

    fn file(&self, shown: &Path) -> Option<&File> {
        self.files.iter().find(|file| Path::new(&file.shown) == shown)
    }
}

fn child<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    node.get(name).map(|entry| &entry.value)
}

/// The two objects of an ingestion contract that take options of the client, and their keys.
fn option_objects(contract: &Node) -> impl Iterator<Item = (&'static str, &Node)> {
    let kafka = child(contract, "source").and_then(|source| child(source, "kafka"));
    let objects = [("source.kafka", kafka), ("options", child(contract, "options"))];
    objects.into_iter().filter_map(|(key, object)| Some((key, object?)))
}

fn cluster(contract: &Node) -> Option<&str> {
    option_objects(contract).find_map(|(_, object)| match &child(object, "cluster")?.data {
        Data::Text(name) => Some(name.as_str()),
        _ => None,
    })
}

fn settings_key(settings: &Node, cluster: Option<&str>, option: &str) -> Option<String> {
    let kafka = child(settings, "kafka")?;
    let of_cluster = cluster.filter(|name| child(kafka, name).is_some_and(|options| child(options, option).is_some()));
    match of_cluster {
        Some(name) => Some(format!("kafka.{name}.{option}")),
        None => child(kafka, option).map(|_| format!("kafka.{option}")),
    }
}

fn contract_key(contract: &Node, option: &str) -> Option<String> {
    option_objects(contract).find_map(|(key, object)| {
        let given = object.entries().iter().find(|entry| client_name(&entry.name).as_deref() == Some(option))?;
        Some(format!("{key}.{}", given.name))
    })
}
