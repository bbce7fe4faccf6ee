//! Losses: they stop the stream, or it goes on and remembers what it passed over (K-065 … K-067, K-072).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crisol_checkpoint::KafkaPosition;
use crisol_observe::{Gap, GapReason};

use super::ahead::{Loss, offset};
use super::limit::entries;
use crate::SourceError;

/// Gaps that a reading thread finds.
pub(super) type Found = Arc<Mutex<Vec<Gap>>>;

/// What was found missing.
pub(super) struct Gaps {
    fail_on_data_loss: bool,
    /// Found while planning, told already: a source that goes on in spite of them says so once.
    told: BTreeSet<Gap>,
    /// Of those, what no batch has taken yet.
    planned: Vec<Gap>,
    read: Found,
}

impl Gaps {
    pub(super) fn new(fail_on_data_loss: bool) -> Self {
        Self { fail_on_data_loss, told: BTreeSet::new(), planned: Vec::new(), read: Found::default() }
    }

    /// Takes what an earlier run went on in spite of.
    pub(super) fn know(&mut self, gaps: Vec<Gap>) {
        self.told.extend(gaps);
    }

    /// An error where losses stop the stream; else whether one is new that only a batch can leave behind. What is gone
    /// inside a range is found again when that is read.
    pub(super) fn accept(&mut self, losses: &[Loss]) -> Result<bool, SourceError> {
        let mut found = false;
        for loss in losses {
            let gap = loss.gap();
            if !self.fail_on_data_loss && self.told.contains(&gap) {
                found |= gap.reason == GapReason::Deleted;
                continue;
            }
            may_go_on(loss, self.fail_on_data_loss)?;
            found |= gap.reason != GapReason::Expired;
            if gap.reason == GapReason::Truncated {
                self.planned.push(gap.clone());
            }
            self.told.insert(gap);
        }
        Ok(found)
    }

    /// A position without the partitions that are known to end below it.
    pub(super) fn not_told(&self, known: &KafkaPosition) -> KafkaPosition {
        let truncated = |topic: &str, partition: i32, at: i64| {
            let mut told = self.told.iter().filter(|gap| gap.reason == GapReason::Truncated && gap.until == Some(at));
            told.any(|gap| gap.topic == topic && gap.partition == partition)
        };
        let mut left = KafkaPosition::default();
        for (topic, partition, at) in entries(known).filter(|(topic, p, at)| !truncated(topic, *p, *at)) {
            left.0.entry(topic.to_owned()).or_default().insert(partition, at);
        }
        left
    }

    /// A position with the partitions that were deleted and gone on without: whoever names them still may do so.
    pub(super) fn with_deleted(&self, known: &KafkaPosition) -> KafkaPosition {
        let mut all = known.clone();
        for gap in self.told.iter().filter(|gap| gap.reason == GapReason::Deleted) {
            all.0.entry(gap.topic.clone()).or_default().entry(gap.partition).or_insert(gap.from);
        }
        all
    }

    /// Begins a read, of which these are known to be missing. What an earlier read of the range found counts no more.
    pub(super) fn of_read(&mut self, missing: Vec<Gap>) -> Found {
        self.read = Arc::new(Mutex::new(missing));
        Arc::clone(&self.read)
    }

    /// All that the batch passed over.
    pub(super) fn take(&mut self) -> Vec<Gap> {
        let mut gaps = std::mem::take(&mut self.planned);
        gaps.append(&mut self.read.lock().unwrap_or_else(PoisonError::into_inner));
        gaps.sort_unstable();
        gaps.dedup();
        gaps
    }
}

/// Partitions that a range leaves behind because they were deleted (K-012).
pub(super) fn deleted(start: &KafkaPosition, end: &KafkaPosition) -> Vec<Gap> {
    let gone = entries(start).filter(|(topic, partition, _)| offset(end, topic, *partition).is_none());
    gone.map(|(topic, partition, position)| Loss::Gone { topic: topic.to_owned(), partition, position }.gap()).collect()
}

/// An error where lost offsets stop the stream, else a warning.
pub(super) fn may_go_on(loss: &Loss, fail_on_data_loss: bool) -> Result<(), SourceError> {
    if fail_on_data_loss {
        return Err(SourceError::data_loss(loss.to_string(), loss.hint()));
    }
    tracing::warn!(lost_offsets = loss.offsets(), "going on in spite of data loss: {loss}; {}", loss.consequence());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behind(latest: i64) -> Loss {
        Loss::Behind { topic: "t".into(), partition: 0, position: 50, latest }
    }

    fn gone() -> Loss {
        Loss::Gone { topic: "t".into(), partition: 1, position: 9 }
    }

    fn position(offsets: &[(i32, i64)]) -> KafkaPosition {
        KafkaPosition([("t".to_owned(), offsets.iter().copied().collect())].into())
    }

    #[test]
    fn k065_losses_stop_a_stream_that_says_so() {
        let error = Gaps::new(true).accept(&[behind(5)]).unwrap_err();
        assert!(matches!(error, SourceError::DataLoss { .. }));
    }

    #[test]
    fn k067_a_partition_made_anew_is_told_once_also_after_a_restart() {
        let mut gaps = Gaps::new(false);
        assert!(gaps.accept(&[behind(5)]).unwrap());
        assert!(!gaps.accept(&[behind(7)]).unwrap(), "it grew, and is the same loss");
        let taken = gaps.take();
        assert_eq!((taken.len(), gaps.take().len()), (1, 0));
        let mut restarted = Gaps::new(false);
        restarted.know(taken);
        assert!(!restarted.accept(&[behind(8)]).unwrap());
        assert_eq!(restarted.not_told(&position(&[(0, 50), (1, 3)])), position(&[(1, 3)]));
        assert!(restarted.take().is_empty());
    }

    #[test]
    fn k012_a_partition_that_is_gone_needs_a_batch_that_leaves_it_behind() {
        let mut gaps = Gaps::new(false);
        assert!(gaps.accept(&[gone()]).unwrap() && gaps.accept(&[gone()]).unwrap());
        gaps.of_read(deleted(&position(&[(0, 1), (1, 9)]), &position(&[(0, 1)])));
        assert_eq!(gaps.take(), [gone().gap()]);
        let mut restarted = Gaps::new(true);
        restarted.know(vec![gone().gap()]);
        assert_eq!(restarted.with_deleted(&position(&[(0, 1)])), position(&[(0, 1), (1, 9)]));
    }

    #[test]
    fn k066_a_range_that_is_read_again_counts_its_gaps_once() {
        let mut gaps = Gaps::new(false);
        let expired = Loss::Expired { topic: "t".into(), partition: 0, from: 0, until: 9, earliest: 4 };
        assert!(!gaps.accept(std::slice::from_ref(&expired)).unwrap(), "the read finds it");
        for _ in 0..2 {
            gaps.of_read(Vec::new()).lock().unwrap().push(expired.gap());
        }
        assert_eq!(gaps.take(), [expired.gap()]);
    }
}
