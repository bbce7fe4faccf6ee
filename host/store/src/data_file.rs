//! Big data files, written by a worker thread as they grow.

use std::io::{BufWriter, Write};
use std::path::{Component, Path};

use crate::StoreError;
use crate::temp::{Existing, TempFile};

/// Bytes gathered before they go to the file: Parquet writes many small pieces.
const BUFFER_BYTES: usize = 1 << 20;

/// A blocking writer of one new file. Nobody sees the file before [`DataFile::finish`]; dropped without it, the file
/// is removed.
#[derive(Debug)]
pub struct DataFile {
    writer: BufWriter<TempFile>,
    written: u64,
    path: String,
}

impl DataFile {
    /// A file at `path` below `root`; folders are made as needed. Parts such as `..` are refused.
    pub fn create(root: &Path, path: &str) -> Result<Self, StoreError> {
        let relative = Path::new(path);
        let inside = relative.file_name().is_some() && relative.components().all(|c| matches!(c, Component::Normal(_)));
        if !inside {
            return Err(StoreError::Outside { path: path.to_owned(), root: root.display().to_string() });
        }
        let destination = root.join(relative);
        let file = TempFile::create(root, &destination).map_err(|e| StoreError::io("create file", &destination, e))?;
        Ok(Self {
            writer: BufWriter::with_capacity(BUFFER_BYTES, file),
            written: 0,
            path: destination.display().to_string(),
        })
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Makes the file durable under its name and gives its size. A file of that name that exists already is kept and
    /// reported.
    pub fn finish(self) -> Result<u64, StoreError> {
        let Self { writer, path, .. } = self;
        let failed = |source| StoreError::io("write file", Path::new(&path), source);
        let file = writer.into_inner().map_err(|e| failed(e.into_error()))?;
        file.publish(Existing::Keep).map(|metadata| metadata.len()).map_err(failed)
    }
}

impl Write for DataFile {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        let n = self.writer.write(buf)?;
        self.written += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.writer.flush()
    }
}
