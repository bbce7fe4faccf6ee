//! A project in a temporary folder.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Host, Tables, host};

/// A project, deleted with the test.
#[derive(Debug)]
pub struct Project {
    dir: TempDir,
}

impl Project {
    /// An empty one, with `crisol.toml` and its three paths below `data/`.
    pub fn new() -> Self {
        let project = Self { dir: TempDir::new().expect("a temporary folder") };
        project.write(
            "crisol.toml",
            "[path]\nlanding = \"landing\"\ncheckpoint = \"data/checkpoints\"\ntables = \"data/tables\"\n\n\
             [kafka]\n\"bootstrap.servers\" = \"${env:KAFKA_BROKERS:-127.0.0.1:1}\"\n",
        );
        project
    }

    /// One with a stream `lines`: files of text in `landing/` to `bronze.lines`.
    pub fn lines() -> Self {
        let project = Self::new();
        let ingestion = json!({
            "name": "lines",
            "ingest_type": "streaming",
            "source": { "format": "text", "path": "{path.landing}" },
            "destination_contract": "../../tables/bronze/lines.json"
        });
        project.write("ingestion/streaming/lines.json", &ingestion.to_string());
        project.write("tables/bronze/lines.json", r#"{ "name": "bronze.lines" }"#);
        project
    }

    /// One with a stream `log`: `source`, which is its `source.kafka`, to `bronze.log`.
    pub fn kafka(brokers: &str, source: &Value) -> Self {
        let project = Self::new();
        let settings = project.path().join("crisol.toml");
        let text = std::fs::read_to_string(&settings).expect("the settings");
        std::fs::write(&settings, text.replace("127.0.0.1:1", brokers)).expect("a file can be written");
        let ingestion = json!({
            "name": "log",
            "ingest_type": "streaming",
            "source": { "format": "kafka", "kafka": source },
            "destination_contract": "../../tables/bronze/log.json"
        });
        project.write("ingestion/streaming/log.json", &ingestion.to_string());
        project.write("tables/bronze/log.json", r#"{ "name": "bronze.log" }"#);
        project
    }

    /// A copy of a project, without what an earlier run left.
    pub fn copy(folder: &Path) -> Self {
        let project = Self { dir: TempDir::new().expect("a temporary folder") };
        host::copy(folder, project.path());
        let _ = std::fs::remove_dir_all(project.path().join("data"));
        project
    }

    /// A copy of an example.
    pub fn example(name: &str) -> Self {
        Self::copy(&crate::root().join("examples").join(name))
    }

    /// The example `orders` on another topic, with at most so many messages a batch.
    pub fn orders_of(topic: &str, offsets_max: u32) -> Self {
        let project = Self::example("orders");
        let contract = json!({
            "name": "orders",
            "ingest_type": "streaming",
            "source": { "format": "kafka", "kafka": {
                "topic": topic, "starting_offsets": "earliest", "max_offsets_per_trigger": offsets_max } },
            "destination_contract": "../../tables/bronze/orders_raw.json"
        });
        project.write("ingestion/streaming/orders.json", &contract.to_string());
        project
    }

    /// Lets the stream `orders` of the example read another topic, from its beginning.
    pub fn read_orders_from(&self, topic: &str) {
        let ingestion = json!({
            "name": "orders",
            "ingest_type": "streaming",
            "source": { "format": "kafka", "kafka": { "topic": topic, "starting_offsets": "earliest" } },
            "destination_contract": "../../tables/bronze/orders_raw.json"
        });
        self.write("ingestion/streaming/orders.json", &ingestion.to_string());
    }

    /// The example `orders` as far as `silver.orders`.
    pub fn orders_to_silver() -> Self {
        let project = Self::example("orders");
        for below in ["silver/orders_current", "gold/top_orders", "gold/daily_revenue"] {
            std::fs::remove_file(project.path().join(format!("tables/{below}.json"))).expect("a table of the example");
        }
        project
    }

    /// The example `music` as far as `silver.song_plays`, whose rows are added.
    pub fn music_to_silver() -> Self {
        let project = Self::example("music");
        let tables = project.path().join("tables");
        std::fs::remove_file(tables.join("gold/top3_songs.json")).expect("a table of the example");
        let silver = tables.join("silver/song_plays.json");
        let text = std::fs::read_to_string(&silver).expect("a table of the example");
        let added = text.replace("  \"write\": { \"mode\": \"replace_partitions\" },\n", "");
        assert_ne!(added, text, "the example replaces partitions");
        std::fs::write(&silver, added).expect("it can be changed");
        project
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file of it.
    pub fn write(&self, file: &str, text: &str) -> PathBuf {
        self.write_bytes(file, text.as_bytes())
    }

    /// The same for what is no text.
    pub fn write_bytes(&self, file: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        std::fs::write(&path, bytes).expect("a file can be written");
        path
    }

    /// `host ARGUMENTS…` on it.
    pub fn host(&self, arguments: &[&str]) -> Host {
        Host::new(self.path(), arguments)
    }

    /// Its tables.
    pub fn tables(&self) -> Tables {
        Tables::new(self.path().join("data/tables"))
    }

    /// The folder of a checkpoint, `streaming/orders`.
    pub fn checkpoint(&self, name: &str) -> PathBuf {
        self.path().join("data/checkpoints").join(name)
    }
}

impl Default for Project {
    fn default() -> Self {
        Self::new()
    }
}
