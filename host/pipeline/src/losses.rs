//! What streams went on without: every gap that was ever accepted, from their checkpoints.

use std::path::PathBuf;

use crisol_observe::Gap;
use crisol_stream::Failure;
use serde::Serialize;

use crate::plan::StreamPlan;
use crate::{EngineError, Tables, open};

/// A gap, and the batch that passed it over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// Which stream.
    pub stream: String,
    /// The table that it fills.
    pub table: String,
    /// The batch whose commit says the same.
    pub batch: u64,
    /// What is missing.
    #[serde(flatten)]
    pub gap: Gap,
}

/// A checkpoint that may hold losses.
struct Place {
    stream: String,
    table: String,
    checkpoint: PathBuf,
}

impl Tables {
    /// All gaps of the streams and backfills named, by stream or table; of all when none is named. Those of a stream come in
    /// the order in which they were passed over.
    ///
    /// # Errors
    /// There is no such stream or backfill, or a checkpoint cannot be read.
    pub async fn losses(&self, names: &[String]) -> Result<Vec<Loss>, EngineError> {
        let places = self.places()?;
        let is = |place: &Place, name: &String| place.stream == *name || place.table == *name;
        if let Some(name) = names.iter().find(|name| !places.iter().any(|place| is(place, name))) {
            let known = places.into_iter().map(|place| place.stream).collect();
            return Err(EngineError::UnknownStream { name: name.clone(), known });
        }
        let mut all = Vec::new();
        for place in places {
            if names.is_empty() || names.iter().any(|name| is(&place, name)) {
                all.extend(of(place).await?);
            }
        }
        Ok(all)
    }

    /// The project's streams, and the backfills that were begun.
    fn places(&self) -> Result<Vec<Place>, EngineError> {
        let stream = |stream: &StreamPlan| Place {
            stream: stream.name.clone(),
            table: stream.table.name.clone(),
            checkpoint: stream.checkpoint.clone(),
        };
        let mut places: Vec<Place> = self.streams.iter().map(stream).collect();
        if !self.backfills.is_dir() {
            return Ok(places);
        }
        let fail = |error| EngineError::read(&self.backfills, error);
        for entry in std::fs::read_dir(&self.backfills).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let table = entry.file_name().to_string_lossy().into_owned();
            places.push(Place { stream: table.clone(), table, checkpoint: entry.path() });
        }
        Ok(places)
    }
}

/// A checkpoint that does not exist is not made.
async fn of(place: Place) -> Result<Vec<Loss>, EngineError> {
    let Place { stream, table, checkpoint } = place;
    if !checkpoint.join("metadata").is_file() {
        return Ok(Vec::new());
    }
    let fail = |failure: Failure| EngineError::opening(&stream, failure);
    let checkpoint = open::checkpoint_in(&checkpoint).await.map_err(fail)?;
    let kept = checkpoint.losses::<Vec<Gap>>().await.map_err(|error| fail(error.into()))?;
    let gaps = kept.into_iter().flat_map(|(batch, gaps)| gaps.into_iter().map(move |gap| (batch, gap)));
    Ok(gaps.map(|(batch, gap)| Loss { stream: stream.clone(), table: table.clone(), batch, gap }).collect())
}
