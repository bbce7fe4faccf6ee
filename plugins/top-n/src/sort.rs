//! Sorting the rows of a group by keys that compare as bytes.

use std::ops::Range;

use arrow_row::Rows;
use crisol_sdk::scan::starts_with;

/// Sorts one group after another.
///
/// Keys of a group mostly share their first bytes. The eight that follow decide nearly every comparison, without a look
/// at the keys themselves.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    /// Those eight bytes and the row; kept from group to group for its room.
    rows: Vec<(u64, usize)>,
}

impl Sorter {
    /// The rows of a group in the order of their keys, and whether each is a peer of the one before it; peers in the
    /// order of the input.
    pub(crate) fn sorted(&mut self, group: Range<usize>, keys: &Rows) -> impl Iterator<Item = (usize, bool)> {
        let key = |row: usize| keys.row(row).data();
        let first = if group.is_empty() { &[][..] } else { key(group.start) };
        let shorter = |shared, row| if starts_with(key(row), shared) { shared } else { common(shared, key(row)) };
        let shared = group.clone().fold(first, shorter).len();
        self.rows.clear();
        self.rows.extend(group.map(|row| (word(key(row), shared), row)));
        self.rows.sort_unstable_by(|(word_a, a), (word_b, b)| {
            word_a.cmp(word_b).then_with(|| key(*a).cmp(key(*b))).then_with(|| a.cmp(b))
        });
        let mut before: Option<(u64, usize)> = None;
        self.rows.iter().map(move |&(word, row)| {
            let peer = before.is_some_and(|(other, before)| other == word && key(before) == key(row));
            before = Some((word, row));
            (row, peer)
        })
    }
}

/// The first bytes that are the same.
#[cold]
fn common<'a>(a: &'a [u8], b: &[u8]) -> &'a [u8] {
    &a[..a.iter().zip(b).take_while(|(a, b)| a == b).count()]
}

/// Eight bytes from a place on, as a number that compares as they do; what is not there counts as 0.
fn word(key: &[u8], from: usize) -> u64 {
    let rest = key.get(from..).unwrap_or_default();
    if let Some(bytes) = rest.first_chunk() {
        return u64::from_be_bytes(*bytes);
    }
    let mut bytes = [0; 8];
    let length = rest.len().min(8);
    bytes[..length].copy_from_slice(&rest[..length]);
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_row::{RowConverter, SortField};
    use crisol_sdk::arrow::{ArrayRef, BinaryArray, DataType};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_are_sorted_as_their_keys_compare(values in prop::collection::vec("a{0,20}[\u{0}b]{0,3}", 0..30)) {
            let column: ArrayRef = Arc::new(BinaryArray::from_iter_values(&values));
            let converter = RowConverter::new(vec![SortField::new(DataType::Binary)]).unwrap();
            let keys = converter.convert_columns(&[column]).unwrap();
            let mut expected: Vec<usize> = (0..values.len()).collect();
            expected.sort_by_key(|row| values[*row].as_bytes());
            let mut sorter = Sorter::default();
            let (sorted, peers): (Vec<usize>, Vec<bool>) = sorter.sorted(0..values.len(), &keys).unzip();
            let is_peer = |at: usize| at > 0 && values[expected[at]] == values[expected[at - 1]];
            prop_assert_eq!(peers, (0..values.len()).map(is_peer).collect::<Vec<_>>());
            prop_assert_eq!(sorted, expected);
        }
    }

    #[test]
    fn words_of_short_keys_compare_as_the_keys_do() {
        assert!(word(b"ab", 1) < word(b"ab\x01", 1));
        assert_eq!(word(b"ab", 1), word(b"ab\x00", 1));
        assert_eq!(word(b"ab", 5), 0);
    }
}
