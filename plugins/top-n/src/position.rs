//! The three functions: where a row stands in its group.

use serde::Deserialize;

/// A ranking function, as Spark has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// 1, 2, 3: each row its own; the order must be total.
    #[default]
    RowNumber,
    /// 1, 1, 3: peers share it, and leave a gap.
    Rank,
    /// 1, 1, 2: peers share it, without a gap.
    DenseRank,
}

impl Function {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::RowNumber => "row_number",
            Self::Rank => "rank",
            Self::DenseRank => "dense_rank",
        }
    }
}

/// Where the current row stands, by each function; all 0 before the first row.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Position {
    row_number: i32,
    rank: i32,
    dense_rank: i32,
}

impl Position {
    /// Goes on to the next row, a peer of the one before or not.
    pub(crate) fn advance(&mut self, peer: bool) {
        self.row_number += 1;
        if !peer {
            self.rank = self.row_number;
            self.dense_rank += 1;
        }
    }

    pub(crate) fn by(&self, function: Function) -> i32 {
        match function {
            Function::RowNumber => self.row_number,
            Function::Rank => self.rank,
            Function::DenseRank => self.dense_rank,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w001_peers_share_ranks_and_positions_start_at_one() {
        let mut position = Position::default();
        let mut all = Vec::new();
        for peer in [false, true, false] {
            position.advance(peer);
            all.push([Function::RowNumber, Function::Rank, Function::DenseRank].map(|f| position.by(f)));
        }
        assert_eq!(all, [[1, 1, 1], [2, 1, 1], [3, 3, 2]]);
    }
}
