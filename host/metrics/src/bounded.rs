//! Labels whose values come from elsewhere, kept few: each value is a series that Prometheus keeps for weeks.

use std::collections::BTreeMap;

/// Partitions of a stream that are told one by one; where there are more, its topics are.
const PARTITIONS_MAX: usize = 200;
/// Values of a label that are told apart.
const VALUES_MAX: usize = 100;
/// What the others are called.
const OTHER: &str = "other";

/// Figures by the value of a label.
#[derive(Debug, Default)]
pub(crate) struct ByValue<T>(BTreeMap<String, T>);

impl<T: Default> ByValue<T> {
    /// The figure of a value; values that come late share one.
    pub(crate) fn of(&mut self, value: &str) -> &mut T {
        let known = self.0.contains_key(value) || self.0.len() < VALUES_MAX;
        self.0.entry(if known { value } else { OTHER }.into()).or_default()
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(value, figure)| (value.as_str(), figure))
    }
}

/// A topic, and one of its partitions; `None` is all of them.
pub(crate) type Place<'a> = (&'a str, Option<i32>);

/// Figures by partition, or by topic where there are too many partitions.
pub(crate) fn by_place<'a, V, T: Default>(
    partitions: impl ExactSizeIterator<Item = (&'a str, i32, V)>,
    add: impl Fn(&mut T, V),
) -> BTreeMap<Place<'a>, T> {
    let each = partitions.len() <= PARTITIONS_MAX;
    let mut places = BTreeMap::new();
    for (topic, partition, value) in partitions {
        add(places.entry((topic, each.then_some(partition))).or_default(), value);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_values_are_told_apart_and_the_rest_is_other() {
        let mut codes = ByValue::<u64>::default();
        for round in 0..2 {
            for code in 0..150 {
                *codes.of(&format!("code-{code:03}")) += 1 + round;
            }
        }
        let told: BTreeMap<_, _> = codes.iter().collect();
        assert_eq!(told.len(), 101);
        assert_eq!((told["code-000"], told["code-099"], told["other"]), (&3, &3, &150));
        assert!(!told.contains_key("code-100"));
    }

    #[test]
    fn two_hundred_partitions_are_told_one_by_one_and_more_by_topic() {
        let places = |count: i32| {
            let partitions: Vec<_> = (0..count).map(|n| (if n % 2 == 0 { "a" } else { "b" }, n, 1_u64)).collect();
            by_place(partitions.into_iter(), |sum: &mut u64, value| *sum += value)
        };
        let few = places(200);
        assert_eq!((few.len(), few[&("b", Some(199))]), (200, 1));
        let many = places(201);
        assert_eq!(many.into_iter().collect::<Vec<_>>(), [(("a", None), 101), (("b", None), 100)]);
    }
}
