//! The steps of one batch, under the names that code, failpoints and the model share.

/// A step of one batch, in the order in which they are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The source is asked for the end of the range.
    Plan,
    /// `offsets/N` binds the range for ever.
    LogRange,
    /// Rows are read, pass the stages and land in files that no commit names yet.
    WriteFiles,
    /// `outcome/N` binds what will be committed, and which run decides it. Also for a batch without rejected rows:
    /// another host may be running the same range with another component, and reject some.
    LogOutcome,
    /// The quarantine gets its rows.
    CommitQuarantine,
    /// The table gets its rows.
    CommitTable,
    /// `commits/N` says that the batch is done.
    Mark,
}

impl Step {
    /// All steps, in order.
    pub const ALL: [Self; 7] = [
        Self::Plan,
        Self::LogRange,
        Self::WriteFiles,
        Self::LogOutcome,
        Self::CommitQuarantine,
        Self::CommitTable,
        Self::Mark,
    ];

    /// Name used in failpoints, logs and tests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::LogRange => "log_range",
            Self::WriteFiles => "write_files",
            Self::LogOutcome => "log_outcome",
            Self::CommitQuarantine => "commit_quarantine",
            Self::CommitTable => "commit_table",
            Self::Mark => "mark",
        }
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
