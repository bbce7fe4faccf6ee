//! How far a stream is behind in all.

use serde::{Deserialize, Serialize};

use crate::PartitionLag;

/// Lag of several partitions together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Lag {
    /// Records that wait, in all.
    pub records: u64,
    /// The longest wait of any of them; `None` while no partition tells.
    pub seconds: Option<f64>,
    /// Bytes that wait, as an estimate, in all partitions that tell; `None` while none does.
    pub bytes: Option<u64>,
}

impl Lag {
    /// Adds a partition.
    pub fn add(&mut self, partition: &PartitionLag) {
        self.records = self.records.saturating_add(partition.records);
        self.seconds = match (self.seconds, partition.seconds) {
            (Some(longest), Some(seconds)) => Some(longest.max(seconds)),
            (longest, seconds) => longest.or(seconds),
        };
        self.bytes = match (self.bytes, partition.bytes) {
            (Some(sum), Some(bytes)) => Some(sum.saturating_add(bytes)),
            (sum, bytes) => sum.or(bytes),
        };
    }
}

impl<'a> FromIterator<&'a PartitionLag> for Lag {
    fn from_iter<I: IntoIterator<Item = &'a PartitionLag>>(partitions: I) -> Self {
        partitions.into_iter().fold(Self::default(), |mut lag, partition| {
            lag.add(partition);
            lag
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(partition: i32, records: u64, seconds: Option<f64>, bytes: Option<u64>) -> PartitionLag {
        PartitionLag { topic: "t".into(), partition, records, seconds, bytes }
    }

    #[test]
    fn k113_records_and_bytes_add_up_and_the_longest_wait_counts() {
        let partitions = [
            partition(0, 5, None, None),
            partition(1, 7, Some(3.0), Some(70)),
            partition(2, 1, Some(9.5), Some(10)),
            partition(3, 0, Some(0.0), Some(0)),
        ];
        assert_eq!(partitions.iter().collect::<Lag>(), Lag { records: 13, seconds: Some(9.5), bytes: Some(80) });
        assert_eq!(partitions[..1].iter().collect::<Lag>(), Lag { records: 5, seconds: None, bytes: None });
        assert_eq!([].iter().collect::<Lag>(), Lag::default());
    }
}
