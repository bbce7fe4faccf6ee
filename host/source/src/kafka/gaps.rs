//! Losses: they stop the stream, or it goes on and remembers what it passed over (K-065 … K-067, K-072).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crisol_checkpoint::KafkaPosition;
use crisol_observe::{Gap, GapReason};

use super::ahead::{Held, Loss, offset};
use super::limit::entries;
use crate::SourceError;

/// Gaps that a reading thread finds.
pub(super) type Found = Arc<Mutex<Vec<Gap>>>;

/// What was found missing.
pub(super) struct Gaps {
    fail_on_data_loss: bool,
    /// What is known, from this run and earlier ones: a source that goes on in spite of it says so once.
    told: BTreeSet<Gap>,
    /// Partitions that were left behind as deleted, and have not come back.
    gone: BTreeSet<(String, i32)>,
    /// Found while planning, and taken by no batch yet.
    planned: Vec<Gap>,
    read: Found,
}

impl Gaps {
    pub(super) fn new(fail_on_data_loss: bool) -> Self {
        let (told, gone) = (BTreeSet::new(), BTreeSet::new());
        Self { fail_on_data_loss, told, gone, planned: Vec::new(), read: Found::default() }
    }

    /// Takes what batches went on in spite of.
    pub(super) fn know(&mut self, gaps: Vec<Gap>) {
        for gap in gaps {
            if gap.reason == GapReason::Deleted {
                self.gone.insert((gap.topic.clone(), gap.partition));
            }
            self.told.insert(gap);
        }
    }

    /// An error where losses stop the stream; else whether one is new that only a batch can leave behind. What is gone
    /// inside a range is found, and told, when that is read.
    pub(super) fn accept(&mut self, losses: &[Loss], held: &Held) -> Result<bool, SourceError> {
        self.gone.retain(|(topic, partition)| offset(&held.latest, topic, *partition).is_none());
        let mut found = false;
        for loss in losses {
            let gap = loss.gap();
            let is_told = !self.fail_on_data_loss && self.told.iter().any(|told| is_same(told, &gap));
            match gap.reason {
                GapReason::Expired if !self.fail_on_data_loss => continue,
                GapReason::Truncated if is_told => continue,
                // It stands in the position until a batch ends without it.
                GapReason::Deleted => found = true,
                GapReason::Truncated => {
                    self.planned.push(gap.clone());
                    found = true;
                }
                GapReason::Expired => {}
            }
            if !is_told {
                may_go_on(loss, self.fail_on_data_loss)?;
                self.told.insert(gap);
            }
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
        for (topic, partition) in &self.gone {
            all.0.entry(topic.clone()).or_default().entry(*partition).or_insert(0);
        }
        all
    }

    /// Gaps that the next batch will tell, found while it was planned.
    pub(super) fn planned(&mut self) -> Vec<Gap> {
        std::mem::take(&mut self.planned)
    }

    /// Begins a read, of which these are known to be missing. What an earlier read of the range found counts no more.
    pub(super) fn of_read(&mut self, mut missing: Vec<Gap>) -> Found {
        missing.retain(|gap| !self.gone.contains(&(gap.topic.clone(), gap.partition)));
        self.read = Arc::new(Mutex::new(missing));
        Arc::clone(&self.read)
    }

    /// All that the read passed over.
    pub(super) fn take(&mut self) -> Vec<Gap> {
        let mut gaps = std::mem::take(&mut *self.read.lock().unwrap_or_else(PoisonError::into_inner));
        gaps.sort_unstable();
        gaps.dedup();
        gaps
    }
}

/// Whether two gaps are one: what was cut off is known by where reading goes on.
fn is_same(told: &Gap, gap: &Gap) -> bool {
    let one =
        (told.reason, &told.topic, told.partition, told.until) == (gap.reason, &gap.topic, gap.partition, gap.until);
    one && (gap.reason == GapReason::Truncated || told.from == gap.from)
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
        Loss::Behind { topic: "t".into(), partition: 0, from: 0, position: 50, latest }
    }

    fn gone() -> Loss {
        Loss::Gone { topic: "t".into(), partition: 1, position: 9 }
    }

    fn position(offsets: &[(i32, i64)]) -> KafkaPosition {
        KafkaPosition([("t".to_owned(), offsets.iter().copied().collect())].into())
    }

    fn nothing_held() -> Held {
        Held::default()
    }

    #[test]
    fn k065_losses_stop_a_stream_that_says_so() {
        let error = Gaps::new(true).accept(&[behind(5)], &nothing_held()).unwrap_err();
        assert!(matches!(error, SourceError::DataLoss { .. }));
    }

    #[test]
    fn k067_a_partition_made_anew_is_told_once_also_after_a_restart_or_where_a_read_found_it() {
        let mut gaps = Gaps::new(false);
        assert!(gaps.accept(&[behind(5)], &nothing_held()).unwrap());
        assert!(!gaps.accept(&[behind(7)], &nothing_held()).unwrap(), "it grew, and is the same loss");
        let taken = gaps.planned();
        assert_eq!((taken.len(), gaps.planned().len()), (1, 0));
        let found_in_a_read = vec![Gap { from: 7, ..taken[0].clone() }];
        for known in [taken, found_in_a_read] {
            let mut restarted = Gaps::new(false);
            restarted.know(known);
            assert!(!restarted.accept(&[behind(8)], &nothing_held()).unwrap());
            assert_eq!(restarted.not_told(&position(&[(0, 50), (1, 3)])), position(&[(1, 3)]));
            assert!(restarted.planned().is_empty());
        }
    }

    #[test]
    fn k012_a_partition_that_is_gone_needs_a_batch_that_leaves_it_behind_and_is_one_gap_until_it_comes_back() {
        let left = || deleted(&position(&[(0, 1), (1, 9)]), &position(&[(0, 1)]));
        let mut gaps = Gaps::new(false);
        assert!(gaps.accept(&[gone()], &nothing_held()).unwrap() && gaps.accept(&[gone()], &nothing_held()).unwrap());
        gaps.of_read(left());
        let taken = gaps.take();
        assert_eq!(taken, [gone().gap()]);
        let mut restarted = Gaps::new(true);
        restarted.know(taken);
        assert_eq!(restarted.with_deleted(&position(&[(0, 1)])), position(&[(0, 1), (1, 0)]));
        restarted.of_read(left());
        assert!(restarted.take().is_empty(), "told before");
        let back = Held { earliest: position(&[(1, 0)]), latest: position(&[(1, 4)]) };
        restarted.accept(&[], &back).unwrap();
        restarted.of_read(left());
        assert_eq!(restarted.take().len(), 1, "it came back, and is gone once more");
    }

    #[test]
    fn k066_a_range_that_is_read_again_counts_its_gaps_once() {
        let mut gaps = Gaps::new(false);
        let expired = Loss::Expired { topic: "t".into(), partition: 0, from: 0, until: 9, earliest: 4 };
        assert!(!gaps.accept(std::slice::from_ref(&expired), &nothing_held()).unwrap(), "the read finds it");
        for _ in 0..2 {
            gaps.of_read(Vec::new()).lock().unwrap().push(expired.gap());
        }
        assert_eq!(gaps.take(), [expired.gap()]);
    }
}
