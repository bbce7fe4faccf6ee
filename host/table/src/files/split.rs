//! Rows of a partitioned table: gathered, split by partition value, kept in memory up to a budget.
//!
//! One file per partition and batch, as long as it does not roll: what the budget pushes out of memory becomes a row
//! group of that partition's open file.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{ArrowError, DataType};
use arrow_select::interleave::interleave_record_batch;

use super::key::PartitionKey;
use super::open::OpenFile;
use super::{Layout, slice_bytes};
use crate::{PendingFile, TableError};

/// Files ended at the same time for each core: each waits for the disk before it counts as written.
const ENDING_PER_CORE: usize = 4;

pub(super) struct Splitter {
    layout: Arc<Layout>,
    converter: RowConverter,
    gathered: Gathered,
    by_key: HashMap<Box<[u8]>, usize>,
    partitions: Vec<Partition>,
    waiting: usize,
    open_files: usize,
}

/// Rows not split yet, in the order they came.
#[derive(Default)]
struct Gathered {
    batches: Vec<RecordBatch>,
    /// Partition of each row of each batch.
    partitions: Vec<Vec<usize>>,
    rows: usize,
    bytes: usize,
}

struct Partition {
    key: PartitionKey,
    batches: Vec<RecordBatch>,
    bytes: usize,
    file: Option<OpenFile>,
}

impl Splitter {
    pub(super) fn new(layout: Arc<Layout>) -> Result<Self, TableError> {
        let fields = layout.partition.iter().map(|i| SortField::new(layout.schema.field(*i).data_type().clone()));
        let converter = RowConverter::new(fields.collect()).map_err(|e| layout.failed(e))?;
        Ok(Self {
            layout,
            converter,
            gathered: Gathered::default(),
            by_key: HashMap::new(),
            partitions: Vec::new(),
            waiting: 0,
            open_files: 0,
        })
    }

    pub(super) fn write(&mut self, rows: &RecordBatch, done: &mut Vec<PendingFile>) -> Result<(), TableError> {
        self.refuse_empty_text(rows)?;
        let partitions = self.locate(rows).map_err(|e| self.layout.failed(e))?;
        let data = self.layout.project(rows)?;
        self.gathered.rows += data.num_rows();
        self.gathered.bytes += slice_bytes(&data).map_err(|e| self.layout.failed(e))?;
        self.gathered.batches.push(data);
        self.gathered.partitions.push(partitions);
        let limits = self.layout.limits;
        if self.gathered.rows >= limits.gather_rows || self.gathered.bytes >= limits.gather_bytes {
            self.split()?;
            self.relieve(done)?;
        }
        Ok(())
    }

    /// Most rows wait until now.
    pub(super) fn finish(mut self, done: &mut Vec<PendingFile>) -> Result<(), TableError> {
        self.split()?;
        let layout = &self.layout;
        let files = side_by_side(layout, ENDING_PER_CORE, self.partitions, |partition| partition.finish(layout))?;
        let mut files: Vec<PendingFile> = files.into_iter().flatten().collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        done.append(&mut files);
        Ok(())
    }

    /// Delta would give an empty string back as null (D-090).
    fn refuse_empty_text(&self, rows: &RecordBatch) -> Result<(), TableError> {
        for index in &self.layout.partition {
            let column = rows.column(*index);
            if column.data_type() != &DataType::Utf8 {
                continue;
            }
            if let Some(row) = column.as_string::<i32>().iter().position(|value| value == Some("")) {
                let name = self.layout.schema.field(*index).name();
                return Err(self.layout.place.data(format!(
                    "row {row} of a chunk has an empty string in partition column `{name}`, which Delta would give back as null; \
                     make it null or give it a name before the table"
                )));
            }
        }
        Ok(())
    }

    /// The partition of each row; new ones are added.
    fn locate(&mut self, rows: &RecordBatch) -> Result<Vec<usize>, ArrowError> {
        let columns: Vec<_> = self.layout.partition.iter().map(|i| rows.column(*i).clone()).collect();
        let keys = self.converter.convert_columns(&columns)?;
        let mut located = Vec::with_capacity(rows.num_rows());
        for (row, key) in keys.iter().enumerate() {
            if row > 0 && keys.row(row - 1) == key {
                located.extend(located.last().copied());
                continue;
            }
            let partition = match self.by_key.get(key.as_ref()) {
                Some(partition) => *partition,
                None => {
                    let key_values = PartitionKey::of(rows, &self.layout.partition, row)?;
                    self.partitions.push(Partition { key: key_values, batches: Vec::new(), bytes: 0, file: None });
                    self.by_key.insert(key.as_ref().into(), self.partitions.len() - 1);
                    self.partitions.len() - 1
                }
            };
            located.push(partition);
        }
        Ok(located)
    }

    /// Moves what was gathered to its partitions. The rows are copied, so that none of them keeps its neighbours of
    /// another partition in memory.
    fn split(&mut self) -> Result<(), TableError> {
        let gathered = std::mem::take(&mut self.gathered);
        let mut places = vec![Vec::new(); self.partitions.len()];
        for (batch, partitions) in gathered.partitions.iter().enumerate() {
            for (row, partition) in partitions.iter().enumerate() {
                if let Some(places) = places.get_mut(*partition) {
                    places.push((batch, row));
                }
            }
        }
        let batches: Vec<&RecordBatch> = gathered.batches.iter().collect();
        let places: Vec<_> = places.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty()).collect();
        let layout = self.layout.clone();
        let copied = side_by_side(&layout, 1, places, |(index, rows)| {
            let own = interleave_record_batch(&batches, &rows).map_err(|e| layout.failed(e))?;
            Ok((index, own))
        })?;
        for (index, own) in copied {
            if let Some(partition) = self.partitions.get_mut(index) {
                let bytes = own.get_array_memory_size();
                partition.bytes += bytes;
                partition.batches.push(own);
                self.waiting += bytes;
            }
        }
        Ok(())
    }

    /// Keeps to the budget: the biggest partitions go to their files first, and enough of them that not every chunk
    /// meets the budget again.
    fn relieve(&mut self, done: &mut Vec<PendingFile>) -> Result<(), TableError> {
        let most = self.layout.limits.wait_bytes;
        if self.waiting <= most {
            return Ok(());
        }
        let mut by_size: Vec<usize> = (0..self.partitions.len()).collect();
        by_size.sort_by_key(|i| std::cmp::Reverse(self.partitions.get(*i).map_or(0, |p| p.bytes)));
        let mut loads = Vec::new();
        for index in by_size {
            if self.waiting <= most / 3 * 2 {
                break;
            }
            loads.extend(self.take_out(index, done)?);
        }
        let layout = self.layout.clone();
        for (index, file) in side_by_side(&layout, 1, loads, |load| load.write(&layout))? {
            let Some(partition) = self.partitions.get_mut(index) else { continue };
            if file.is_full() {
                self.open_files -= 1;
                done.push(file.finish(partition.key.values.clone())?);
            } else {
                partition.file = Some(file);
            }
        }
        Ok(())
    }

    /// The waiting rows of a partition, and its file; when it has none, there is room for one more.
    fn take_out(&mut self, index: usize, done: &mut Vec<PendingFile>) -> Result<Option<Load>, TableError> {
        let has_file = self.partitions.get(index).is_some_and(|p| p.file.is_some());
        if !has_file {
            if self.open_files >= self.layout.limits.open_files {
                self.end_fullest(done)?;
            }
            self.open_files += 1;
        }
        let Some(partition) = self.partitions.get_mut(index) else { return Ok(None) };
        self.waiting -= std::mem::take(&mut partition.bytes);
        let (batches, file) = (std::mem::take(&mut partition.batches), partition.file.take());
        Ok(Some(Load { index, batches, file, folder: partition.key.folder.clone() }))
    }

    fn end_fullest(&mut self, done: &mut Vec<PendingFile>) -> Result<(), TableError> {
        let fullest = self.partitions.iter_mut().max_by_key(|p| p.file.as_ref().map_or(0, OpenFile::written));
        if let Some((file, values)) = fullest.and_then(|p| Some((p.file.take()?, p.key.values.clone()))) {
            self.open_files -= 1;
            done.push(file.finish(values)?);
        }
        Ok(())
    }
}

/// Rows on their way into a partition's file.
struct Load {
    index: usize,
    batches: Vec<RecordBatch>,
    file: Option<OpenFile>,
    folder: String,
}

impl Load {
    fn write(self, layout: &Arc<Layout>) -> Result<(usize, OpenFile), TableError> {
        let mut file = match self.file {
            Some(file) => file,
            None => OpenFile::create(layout.clone(), &self.folder)?,
        };
        for batch in self.batches {
            file.write(&batch)?;
        }
        file.flush()?;
        Ok((self.index, file))
    }
}

impl Partition {
    /// Ends the partition's file with the rows that still wait; `None` when there is neither.
    fn finish(self, layout: &Arc<Layout>) -> Result<Option<PendingFile>, TableError> {
        let mut file = match self.file {
            Some(file) => file,
            None if self.batches.is_empty() => return Ok(None),
            None => OpenFile::create(layout.clone(), &self.key.folder)?,
        };
        for batch in self.batches {
            file.write(&batch)?;
        }
        file.finish(self.key.values).map(Some)
    }
}

/// Works on so many threads for each core; what comes of it is in no order.
fn side_by_side<T: Send, R: Send>(
    layout: &Layout,
    per_core: usize,
    items: Vec<T>,
    work: impl Fn(T) -> Result<R, TableError> + Sync,
) -> Result<Vec<R>, TableError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (cores * per_core).min(items.len());
    let queue = Mutex::new(items.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || std::iter::from_fn(next).map(&work).collect::<Result<Vec<R>, TableError>>();
    let results: Result<Vec<_>, TableError> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let ends = workers.into_iter().map(|worker| worker.join());
        ends.map(|end| end.unwrap_or_else(|_| Err(layout.failed("its encoder panicked")))).collect()
    });
    Ok(results?.into_iter().flatten().collect())
}
