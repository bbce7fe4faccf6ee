//! What streams went on without: every gap that was ever accepted, from their checkpoints.

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

impl Tables {
    /// All gaps of the streams named, by stream or table; of all streams when none is named. Those of a stream come in the
    /// order in which they were passed over.
    ///
    /// # Errors
    /// No contract describes a stream, or a checkpoint cannot be read.
    pub async fn losses(&self, names: &[String]) -> Result<Vec<Loss>, EngineError> {
        let is = |stream: &StreamPlan, name: &String| stream.name == *name || stream.table.name == *name;
        if let Some(name) = names.iter().find(|name| !self.streams.iter().any(|stream| is(stream, name))) {
            let known = self.streams.iter().map(|stream| stream.name.clone()).collect();
            return Err(EngineError::UnknownStream { name: name.clone(), known });
        }
        let mut all = Vec::new();
        for stream in &self.streams {
            if names.is_empty() || names.iter().any(|name| is(stream, name)) {
                all.extend(of(stream).await?);
            }
        }
        Ok(all)
    }
}

/// A checkpoint that does not exist is not made.
async fn of(stream: &StreamPlan) -> Result<Vec<Loss>, EngineError> {
    if !stream.checkpoint.join("metadata").is_file() {
        return Ok(Vec::new());
    }
    let fail = |failure: Failure| EngineError::opening(&stream.name, failure);
    let checkpoint = open::open_checkpoint(stream).await.map_err(fail)?;
    let kept = checkpoint.losses::<Vec<Gap>>().await.map_err(|error| fail(error.into()))?;
    let loss =
        |batch: u64, gap: Gap| Loss { stream: stream.name.clone(), table: stream.table.name.clone(), batch, gap };
    Ok(kept
        .into_iter()
        .flat_map(|(batch, gaps)| gaps.into_iter().map(move |gap| (batch, gap)))
        .map(|(batch, gap)| loss(batch, gap))
        .collect())
}
