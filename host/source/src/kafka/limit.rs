//! `max_offsets_per_trigger`: how a batch's offsets are shared out (K-041, K-042).

use crisol_checkpoint::KafkaPosition;

/// Caps `until` so that about `limit` offsets lie between `from` and the result. Each partition gets its share by
/// size, rounded down, or one offset where the share is below one, so that a tiny partition is never starved; the sum
/// may exceed the limit by one for each of those. A partition that `from` does not name keeps its end.
pub(super) fn rate_limit(limit: u64, from: &KafkaPosition, until: &KafkaPosition) -> KafkaPosition {
    let size_of = |topic: &str, partition: i32, end: i64| -> Option<(i64, u64)> {
        let begin = *from.0.get(topic)?.get(&partition)?;
        let size = end.checked_sub(begin).filter(|size| *size > 0)?;
        Some((begin, size.unsigned_abs()))
    };
    let total: u128 = entries(until)
        .filter_map(|(topic, partition, end)| size_of(topic, partition, end))
        .map(|s| u128::from(s.1))
        .sum();
    let mut capped = KafkaPosition::default();
    for (topic, partition, end) in entries(until) {
        let cut = match size_of(topic, partition, end) {
            Some((begin, size)) => end.min(begin.saturating_add(share(limit, size, total))),
            None => end,
        };
        capped.0.entry(topic.to_owned()).or_default().insert(partition, cut);
    }
    capped
}

/// `limit · size / total` in exact arithmetic; at least one, at most what a signed offset holds.
fn share(limit: u64, size: u64, total: u128) -> i64 {
    let share = u128::from(limit) * u128::from(size) / total.max(1);
    i64::try_from(share.max(1)).unwrap_or(i64::MAX)
}

/// Topic, partition and offset of a position, in order.
pub(super) fn entries(position: &KafkaPosition) -> impl Iterator<Item = (&str, i32, i64)> {
    position.0.iter().flat_map(|(topic, partitions)| partitions.iter().map(move |(p, o)| (topic.as_str(), *p, *o)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn position(offsets: &[i64]) -> KafkaPosition {
        let partitions = offsets.iter().enumerate().map(|(p, o)| (p as i32, *o)).collect();
        KafkaPosition([("t".to_owned(), partitions)].into())
    }

    fn limited(limit: u64, from: &[i64], until: &[i64]) -> Vec<i64> {
        entries(&rate_limit(limit, &position(from), &position(until))).map(|e| e.2).collect()
    }

    #[test]
    fn k041_shares_follow_sizes_and_round_down() {
        assert_eq!(limited(10, &[0, 100], &[30, 170]), [3, 107]);
        assert_eq!(limited(10, &[0, 0, 0], &[10, 10, 10]), [3, 3, 3]);
    }

    #[test]
    fn k041_tiny_partition_gets_at_least_one() {
        assert_eq!(limited(10, &[0, 0], &[1_000_000, 1]), [9, 1]);
    }

    #[test]
    fn k041_nothing_goes_past_the_end_of_its_partition() {
        assert_eq!(limited(1_000, &[5, 5], &[7, 5]), [7, 5]);
    }

    #[test]
    fn k042_t007_a_share_that_would_overflow_saturates_at_the_end() {
        assert_eq!(limited(u64::MAX, &[i64::MAX - 3], &[i64::MAX]), [i64::MAX]);
        assert_eq!(limited(u64::MAX, &[0, 1], &[i64::MAX, i64::MAX]), [i64::MAX, i64::MAX]);
    }

    #[test]
    fn k041_a_partition_without_a_start_keeps_its_end() {
        let until = position(&[100, 50]);
        let from = position(&[0]);
        let capped = rate_limit(10, &from, &until);
        assert_eq!(capped.0["t"], [(0, 10), (1, 50)].into());
    }

    proptest! {
        #[test]
        fn k041_every_share_is_between_one_and_the_partition_and_the_sum_near_the_limit(
            limit in 1_u64..2_000_000,
            parts in proptest::collection::vec((0_i64..1_000_000_000, 0_i64..5_000_000), 1..40),
        ) {
            let from: Vec<i64> = parts.iter().map(|p| p.0).collect();
            let until: Vec<i64> = parts.iter().map(|p| p.0 + p.1).collect();
            let cut = limited(limit, &from, &until);
            let total: i64 = parts.iter().map(|p| p.1).sum();
            let mut taken = 0;
            for ((begin, size), end) in parts.iter().zip(&cut) {
                let got = end - begin;
                taken += got;
                prop_assert!(got >= i64::from(*size > 0) && got <= *size);
                // Spark's formula, in floating point: the same but for its rounding at whole numbers.
                let exact = limit as f64 * (*size as f64 / total.max(1) as f64);
                let spark = if exact < 1.0 { exact.ceil() } else { exact.floor() };
                prop_assert!((got as f64 - spark.min(*size as f64)).abs() <= 1.0);
            }
            let small = parts.iter().filter(|p| p.1 > 0).count() as i64;
            prop_assert!(taken <= limit as i64 + small);
            prop_assert!(taken >= (limit as i64).min(total) - small);
        }

        #[test]
        fn k101_repeated_batches_reach_the_end(
            limit in 1_u64..1_000,
            parts in proptest::collection::vec((0_i64..1_000, 0_i64..500), 1..10),
        ) {
            let mut at: Vec<i64> = parts.iter().map(|p| p.0).collect();
            let until: Vec<i64> = parts.iter().map(|p| p.0 + p.1).collect();
            let total: i64 = parts.iter().map(|p| p.1).sum();
            for _ in 0..=total {
                at = limited(limit, &at, &until);
            }
            prop_assert_eq!(at, until);
        }
    }
}
