//! A checkpoint's `sources/0/` for the sources, which know no checkpoint.

use async_trait::async_trait;
use bytes::Bytes;
use crisol_source::LogError;

/// Access to `sources/0/<n>`.
#[derive(Debug)]
pub(crate) struct CheckpointLog(pub(crate) crisol_checkpoint::SourceLog);

#[async_trait]
impl crisol_source::SourceLog for CheckpointLog {
    async fn get(&self, n: u64) -> Result<Option<String>, LogError> {
        let found = self.0.get(n).await?;
        Ok(found.map(|bytes| String::from_utf8(bytes.to_vec())).transpose()?)
    }

    async fn put_if_absent(&self, n: u64, text: &str) -> Result<bool, LogError> {
        if self.0.get(n).await?.is_some() {
            return Ok(false);
        }
        let content = Bytes::copy_from_slice(text.as_bytes());
        Ok(self.0.put_if_absent(n, content.clone()).await? == content)
    }

    async fn list(&self) -> Result<Vec<u64>, LogError> {
        Ok(self.0.list().await?)
    }
}
