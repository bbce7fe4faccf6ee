//! The accounts of a batch or a run: every input row has one fate.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What became of the rows of a batch (or, added up, of a run). The words are those that users see.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounts {
    /// Rows read from the source.
    pub rows_in: u64,
    /// Input rows that gave at least one row.
    pub rows_accepted: u64,
    /// Rows written to the table; more than `rows_accepted` where a stage explodes rows.
    pub rows_written: u64,
    /// Input rows in quarantine, by code.
    pub rejected: BTreeMap<String, u64>,
    /// Input rows dropped on purpose, by code or rule.
    pub filtered: BTreeMap<String, u64>,
    /// Rows per expectation: passed and failed (E-021).
    pub expectations: BTreeMap<String, RuleCount>,
    /// What came of the rows accepted by an upsert, as far as this run committed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeCounts>,
    /// What came of the groups that were computed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupCounts>,
}

/// Fates of the rows of an upsert: each row has one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeCounts {
    /// Rows with a key that the table did not have.
    pub inserted: u64,
    /// Rows that took the place of an older one.
    pub updated: u64,
    /// Rows older than what the table, or another row of the batch, has.
    pub superseded: u64,
    /// Rows that took their key out.
    pub deleted: u64,
}

/// Groups that were computed again, and the rows of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupCounts {
    /// Groups touched by the batch.
    pub touched: u64,
    /// Rows that they hold in the table above.
    pub rows_in: u64,
    /// Of a ranking: rows that were not chosen.
    pub not_ranked: u64,
    /// Of an aggregation: groups without a row.
    pub empty: u64,
}

/// How a rule fared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleCount {
    /// Rows that satisfied it.
    pub passed: u64,
    /// Rows that did not.
    pub failed: u64,
}

impl Accounts {
    /// Rows in quarantine.
    pub fn rows_rejected(&self) -> u64 {
        self.rejected.values().sum()
    }

    /// Rows dropped on purpose.
    pub fn rows_filtered(&self) -> u64 {
        self.filtered.values().sum()
    }

    /// Adds another batch.
    pub fn add(&mut self, other: &Self) {
        self.rows_in += other.rows_in;
        self.rows_accepted += other.rows_accepted;
        self.rows_written += other.rows_written;
        for (mine, theirs) in [(&mut self.rejected, &other.rejected), (&mut self.filtered, &other.filtered)] {
            for (code, rows) in theirs {
                *mine.entry(code.clone()).or_default() += rows;
            }
        }
        for (rule, count) in &other.expectations {
            let mine = self.expectations.entry(rule.clone()).or_default();
            mine.passed += count.passed;
            mine.failed += count.failed;
        }
        if let Some(theirs) = &other.changes {
            let mine = self.changes.get_or_insert_default();
            mine.inserted += theirs.inserted;
            mine.updated += theirs.updated;
            mine.superseded += theirs.superseded;
            mine.deleted += theirs.deleted;
        }
        if let Some(theirs) = &other.groups {
            let mine = self.groups.get_or_insert_default();
            mine.touched += theirs.touched;
            mine.rows_in += theirs.rows_in;
            mine.not_ranked += theirs.not_ranked;
            mine.empty += theirs.empty;
        }
    }

    /// Whether every input row has exactly one fate (E-033). The host commits nothing when it has not.
    pub fn balanced(&self) -> bool {
        self.rows_in == self.rows_accepted + self.rows_rejected() + self.rows_filtered()
    }
}
