//! Files cut into rows: lines as they are, with where they came from. Memory is bounded whatever a file's size.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch, TimestampMicrosecondArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use crisol_ipc::types::{UTC, timestamp};

use super::listing::modified_ms;
use crate::bytes_column::BytesColumn;
use crate::chunks::{ChunkSender, Interrupted};
use crate::{CHUNK_BYTES_MAX, CHUNK_ROWS_MAX, SourceError};

const BLOCK: usize = 1 << 20;

/// A longer line is no line, but a file of another format.
const LINE_BYTES_MAX: usize = 128 << 20;

/// Columns of a source of files: the line, and where it came from. `file_row` counts the lines of the file from 0.
pub fn files_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("payload", DataType::Binary, false),
        Field::new("file_path", DataType::Utf8, false),
        Field::new("file_row", DataType::Int64, false),
        Field::new("file_modified", timestamp(), false),
    ]))
}

/// Reads files one after the other. Blank lines are counted, and left out where `skip_blank` (P-007).
pub(super) fn read(files: &[(PathBuf, i64)], skip_blank: bool, out: &ChunkSender) -> Result<(), Interrupted> {
    let mut builder = Builder::new();
    for (path, modified_ms) in files {
        let mut reader = Lines::open(path)?;
        reader.tell_when_changed(path, *modified_ms);
        let mut row = 0_i64;
        builder.begin_file(path, *modified_ms);
        while reader.fill(path, row)? {
            let mut result = Ok(());
            reader.each_line(|line| {
                if !(skip_blank && is_blank(line)) {
                    builder.push(line, row);
                }
                row += 1;
                if builder.is_full() {
                    result = builder.send(out);
                }
                result.is_ok()
            });
            result?;
        }
    }
    builder.send(out)
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

/// Lines of a file, block by block.
struct Lines {
    file: File,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that hold the file's.
    filled: usize,
    ended: bool,
}

impl Lines {
    fn open(path: &Path) -> Result<Self, SourceError> {
        let file = File::open(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => SourceError::data_loss(
                format!("file `{}` of a planned batch is gone", path.display()),
                "put the file back, or an empty one in its place to go on without its rows; a file may be removed once its \
                 batch is committed",
            ),
            _ => SourceError::caused(format!("file `{}` cannot be opened", path.display()), error),
        })?;
        Ok(Self { file, buffer: vec![0; BLOCK], filled: 0, ended: false })
    }

    /// What a file holds now is what is committed. That this need not be what was there when it was planned, an operator
    /// must be able to see.
    fn tell_when_changed(&self, path: &Path, planned_ms: i64) {
        let now_ms = self.file.metadata().and_then(|metadata| modified_ms(&metadata));
        if now_ms.is_ok_and(|now_ms| now_ms != planned_ms) {
            tracing::warn!("file `{}` changed after it was planned: what it holds now is committed", path.display());
        }
    }

    /// Reads on; false when nothing is left.
    fn fill(&mut self, path: &Path, row: i64) -> Result<bool, SourceError> {
        if self.filled == self.buffer.len() {
            // No line end in the whole buffer: the line is longer.
            if self.buffer.len() >= LINE_BYTES_MAX {
                return Err(SourceError::data_with(
                    format!("file `{}` row {row}: a line of more than {LINE_BYTES_MAX} bytes", path.display()),
                    "nothing of its batch was committed: put a file with shorter lines in its place, under the same name, \
                     or an empty one to go on without its rows",
                ));
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        while !self.ended && self.filled < self.buffer.len() {
            let Some(room) = self.buffer.get_mut(self.filled..) else { break };
            match self.file.read(room) {
                Ok(0) => self.ended = true,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(SourceError::caused(format!("file `{}` cannot be read", path.display()), error));
                }
            }
        }
        Ok(self.filled > 0)
    }

    /// Gives each whole line, without its end, while `line` says so; what follows the last line end stays, unless the
    /// file has ended.
    fn each_line(&mut self, mut line: impl FnMut(&[u8]) -> bool) {
        let block = self.buffer.get(..self.filled).unwrap_or_default();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', block) {
            if !line(without_return(block.get(start..end).unwrap_or_default())) {
                return;
            }
            start = end + 1;
        }
        if self.ended && start < block.len() {
            line(without_return(block.get(start..).unwrap_or_default()));
            start = block.len();
        }
        self.buffer.copy_within(start..self.filled, 0);
        self.filled -= start;
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

struct Builder {
    schema: SchemaRef,
    payload: BytesColumn,
    path: String,
    modified_us: i64,
    paths: BytesColumn,
    rows: Vec<i64>,
    modified: Vec<i64>,
}

impl Builder {
    fn new() -> Self {
        Self {
            schema: files_schema(),
            payload: BytesColumn::new(CHUNK_ROWS_MAX, BLOCK),
            path: String::new(),
            modified_us: 0,
            paths: BytesColumn::new(CHUNK_ROWS_MAX, BLOCK),
            rows: Vec::with_capacity(CHUNK_ROWS_MAX),
            modified: Vec::with_capacity(CHUNK_ROWS_MAX),
        }
    }

    fn begin_file(&mut self, path: &Path, modified_ms: i64) {
        self.path = path.to_string_lossy().into_owned();
        self.modified_us = modified_ms.saturating_mul(1000);
    }

    fn push(&mut self, line: &[u8], row: i64) {
        self.payload.push(Some(line));
        self.paths.push(Some(self.path.as_bytes()));
        self.rows.push(row);
        self.modified.push(self.modified_us);
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= CHUNK_ROWS_MAX || self.payload.bytes() >= CHUNK_BYTES_MAX
    }

    fn send(&mut self, out: &ChunkSender) -> Result<(), Interrupted> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let bytes = self.payload.bytes();
        let mut next = Self::new();
        next.payload = BytesColumn::new(CHUNK_ROWS_MAX, bytes + bytes / 8);
        next.path.clone_from(&self.path);
        next.modified_us = self.modified_us;
        let full = std::mem::replace(self, next);
        let chunk = full.finish().map_err(|e| SourceError::data(format!("lines do not fit a chunk: {e}")))?;
        out.send(chunk)
    }

    fn finish(self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(
            self.schema,
            vec![
                self.payload.into_binary()?,
                self.paths.into_text()?,
                Arc::new(Int64Array::from(self.rows)),
                Arc::new(TimestampMicrosecondArray::from(self.modified).with_timezone(UTC)),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use futures::StreamExt;

    use super::*;
    use crate::chunks::spawn;

    /// Payloads and row numbers of one file with this content.
    async fn lines(content: &[u8], skip_blank: bool) -> Result<Vec<(Vec<u8>, i64)>, SourceError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in");
        std::fs::write(&path, content).unwrap();
        let mut chunks = spawn("files".into(), move |out| read(&[(path, 1)], skip_blank, out));
        let mut rows = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            assert_eq!(chunk.schema(), files_schema());
            assert!(chunk.num_rows() <= CHUNK_ROWS_MAX);
            let numbers = chunk["file_row"].as_primitive::<Int64Type>().values().to_vec();
            let payloads = chunk["payload"].as_binary::<i32>().iter().map(|p| p.unwrap().to_vec());
            rows.extend(payloads.zip(numbers));
        }
        Ok(rows)
    }

    #[tokio::test]
    async fn f026_both_line_ends_are_taken_off_and_the_last_line_needs_none() {
        let rows = lines(b"a\r\nb\n\nc", false).await.unwrap();
        assert_eq!(rows, [(b"a".to_vec(), 0), (b"b".to_vec(), 1), (b"".to_vec(), 2), (b"c".to_vec(), 3)]);
        assert_eq!(lines(b"", false).await.unwrap(), []);
        assert_eq!(lines(b"\n", false).await.unwrap(), [(vec![], 0)]);
    }

    #[tokio::test]
    async fn a_line_that_is_no_line_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in");
        let file = File::create(&path).unwrap();
        file.set_len(LINE_BYTES_MAX as u64 + 1).unwrap();
        let mut chunks = spawn("files".into(), move |out| read(&[(path, 1)], false, out));
        let error = chunks.next().await.unwrap().unwrap_err();
        assert!(matches!(error, SourceError::Data { .. }));
        assert!(error.to_string().contains("in` row 0: a line of more than"), "{error}");
        assert!(error.hint().unwrap().contains("an empty one to go on without its rows"));
    }

    #[tokio::test]
    async fn p007_blank_lines_of_json_are_skipped_and_still_counted() {
        let rows = lines(b"{}\n  \r\n{\"a\":1}\n\n", true).await.unwrap();
        assert_eq!(rows, [(b"{}".to_vec(), 0), (b"{\"a\":1}".to_vec(), 2)]);
    }

    #[tokio::test]
    async fn lines_across_blocks_and_lines_longer_than_a_block_come_whole() {
        let long = vec![b'x'; 3 * BLOCK + 17];
        let mut content = Vec::new();
        let mut expected = Vec::new();
        for n in 0..40_000_i64 {
            let line = format!("line {n} {}", "y".repeat((n % 97) as usize));
            content.extend_from_slice(line.as_bytes());
            content.push(b'\n');
            expected.push((line.into_bytes(), n));
        }
        content.extend_from_slice(&long);
        expected.push((long, 40_000));
        assert_eq!(lines(&content, false).await.unwrap(), expected);
    }

    #[tokio::test]
    async fn f021_a_file_that_is_gone_at_read_is_an_error_that_names_it() {
        let mut chunks = spawn("files".into(), |out| read(&[("/nowhere/x.json".into(), 1)], true, out));
        let error = chunks.next().await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), "data loss: file `/nowhere/x.json` of a planned batch is gone");
    }
}
