//! The same rows in other pieces.

use arrow_array::RecordBatch;

/// Lengths of the first pieces; the rest is the last one.
const PIECES: [usize; 5] = [1, 2, 7, 1, 30];

/// Some rows in pieces of odd lengths.
pub(super) fn pieces(rows: &RecordBatch) -> Vec<RecordBatch> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    for length in PIECES.into_iter().chain([usize::MAX]) {
        let length = length.min(rows.num_rows() - at);
        if length > 0 {
            pieces.push(rows.slice(at, length));
        }
        at += length;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_is_lost_and_none_is_there_twice() {
        let schema = crisol_ipc::schema_of([("a", "bigint", true)]).unwrap();
        for count in [0, 1, 3, 40, 97] {
            let rows = super::super::values::rows(&schema, count, super::super::values::Choice::Rare).unwrap();
            let pieces = pieces(&rows);
            assert_eq!(arrow_select::concat::concat_batches(&schema, &pieces).unwrap(), rows, "{count}");
            assert!(pieces.iter().all(|piece| piece.num_rows() > 0));
        }
    }
}
