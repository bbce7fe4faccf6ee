//! Hand-off: the rows of files that were just written wait in memory for the streams below, within a budget.
//!
//! A reader that comes too late finds the file on disk, with the same rows; nobody waits for anybody.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use crisol_source::HeldFiles;
use crisol_table::KeepFiles;

/// The buffer of a host: one for all its tables.
#[derive(Debug)]
pub(crate) struct Handoff {
    bytes_max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    files: HashMap<PathBuf, Held>,
    /// Oldest first.
    order: VecDeque<PathBuf>,
    bytes: usize,
}

#[derive(Debug)]
struct Held {
    rows: Vec<RecordBatch>,
    bytes: usize,
}

impl Handoff {
    /// `None` when nothing may wait.
    pub(crate) fn new(bytes_max: u64) -> Option<Self> {
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        (bytes_max > 0).then(|| Self { bytes_max, state: Mutex::default() })
    }
}

impl KeepFiles for Handoff {
    fn file_bytes_max(&self) -> usize {
        self.bytes_max / 2
    }

    fn keep(&self, file: PathBuf, rows: Vec<RecordBatch>, bytes: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.bytes += bytes;
        state.order.push_back(file.clone());
        state.files.insert(file, Held { rows, bytes });
        while state.bytes > self.bytes_max
            && let Some(oldest) = state.order.pop_front()
        {
            if let Some(held) = state.files.remove(&oldest) {
                state.bytes -= held.bytes;
            }
        }
    }
}

impl HeldFiles for Handoff {
    fn rows(&self, file: &Path) -> Option<Vec<RecordBatch>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.files.get(file).map(|held| held.rows.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array};

    use super::*;

    fn rows(n: i64) -> Vec<RecordBatch> {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![n]));
        vec![RecordBatch::try_from_iter([("n", column)]).unwrap()]
    }

    #[test]
    fn nothing_waits_without_a_budget() {
        assert!(Handoff::new(0).is_none());
    }

    #[test]
    fn files_wait_until_newer_ones_need_their_place() {
        let handoff = Handoff::new(100).unwrap();
        for (name, n) in [("a", 1), ("b", 2)] {
            handoff.keep(name.into(), rows(n), 50);
        }
        assert_eq!(handoff.rows(Path::new("a")), Some(rows(1)));
        assert_eq!(handoff.rows(Path::new("b")), Some(rows(2)));
        handoff.keep("c".into(), rows(3), 60);
        assert_eq!(handoff.rows(Path::new("a")), None);
        assert_eq!(handoff.rows(Path::new("b")), None);
        assert_eq!(handoff.rows(Path::new("c")), Some(rows(3)));
        assert_eq!(handoff.rows(Path::new("c")), Some(rows(3)), "every reader finds them");
    }

    #[test]
    fn a_file_larger_than_the_budget_does_not_stay() {
        let handoff = Handoff::new(100).unwrap();
        handoff.keep("a".into(), rows(1), 101);
        assert_eq!(handoff.rows(Path::new("a")), None);
    }
}
