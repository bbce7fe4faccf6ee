//! The state of the model: hosts, checkpoint, tables, and what may still go wrong.

use crisol_checkpoint::{FilesPosition, LogState, Logged, Position, RangeEntry, Step};

/// Rows of the source; a batch takes one or two of them.
pub(crate) const ROWS: u8 = 2;
/// Most batches: each row alone.
pub(crate) const BATCHES: usize = ROWS as usize;
/// A set of rows, one bit each.
pub(crate) type Rows = u8;

/// What may still go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Faults {
    /// A host dies between two steps.
    pub(crate) crashes: u8,
    /// A put or commit lands, and the host sees an error.
    pub(crate) lost_answers: u8,
    /// All hosts die, and anything that was not synced may be gone.
    pub(crate) power_cuts: u8,
    /// Somebody else commits to the table.
    pub(crate) foreign_commits: u8,
    /// A person puts an older copy of the checkpoint in its place.
    pub(crate) restores: u8,
}

/// Who wrote an entry: the runs that live, and all that are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    Host(u8),
    Gone,
}

/// A file of the checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Entry<T> {
    pub(crate) owner: Owner,
    pub(crate) value: T,
    pub(crate) durable: bool,
}

/// What `outcome/N` binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Bound {
    pub(crate) accepted: Rows,
    pub(crate) rejected: Rows,
}

pub(crate) type Entries<T> = [Option<Entry<T>>; BATCHES];

/// A commit to a table; `batch` is its transaction, `None` for a foreign one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Commit {
    pub(crate) batch: Option<u8>,
    pub(crate) rows: Rows,
}

/// Most commits to one table before an invariant must have been broken.
const COMMITS: usize = 5;

/// A table's log; the first `durable` commits survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Log {
    commits: [Option<Commit>; COMMITS],
    len: u8,
    pub(crate) durable: u8,
}

impl Log {
    const EMPTY: Self = Self { commits: [None; COMMITS], len: 0, durable: 0 };

    pub(crate) fn len(&self) -> u8 {
        self.len
    }

    pub(crate) fn commits(&self) -> impl Iterator<Item = Commit> {
        self.commits.iter().flatten().copied()
    }

    pub(crate) fn push(&mut self, commit: Commit) {
        self.commits[self.len as usize] = Some(commit);
        self.len += 1;
    }

    pub(crate) fn truncate(&mut self, len: u8) {
        self.commits[len as usize..].fill(None);
        self.len = len;
    }

    /// Newest transaction.
    pub(crate) fn transaction(&self) -> Option<i64> {
        self.commits().filter_map(|commit| commit.batch.map(i64::from)).max()
    }
}

/// Where a host stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Pc {
    /// No process.
    Down,
    /// About to read the checkpoint.
    Recover,
    /// About to compare the tables with it.
    Check,
    /// In a step of a batch.
    At(Step, Phase),
    /// Nothing is left to read.
    Idle,
    /// Stopped with an error; a person may start it again.
    Stopped,
}

/// Part of a step: between any two of them a host may die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    /// A fresh snapshot is taken, and searched for our transaction.
    Snapshot,
    /// What the step is for becomes visible.
    Act,
    /// It becomes durable.
    Sync,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Host {
    pub(crate) pc: Pc,
    pub(crate) batch: u8,
    pub(crate) start: u8,
    pub(crate) end: u8,
    pub(crate) accepted: Rows,
    pub(crate) rejected: Rows,
    /// Length of the log in the snapshot.
    pub(crate) snapshot: u8,
    /// Whether the rows are those of an outcome.
    pub(crate) bound: bool,
}

impl Host {
    pub(crate) const fn resting(pc: Pc) -> Self {
        Self { pc, batch: 0, start: 0, end: 0, accepted: 0, rejected: 0, snapshot: 0, bound: false }
    }

    /// Rows of its range.
    pub(crate) fn range(&self) -> Rows {
        rows(self.start, self.end)
    }

    pub(crate) fn runs(&self) -> bool {
        matches!(self.pc, Pc::Recover | Pc::Check | Pc::At(..))
    }
}

/// Rows from `start` up to `end`.
pub(crate) fn rows(start: u8, end: u8) -> Rows {
    ((1u16 << end) - (1u16 << start)) as Rows
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct World {
    pub(crate) hosts: [Host; 2],
    /// `offsets/N`: the end of the range.
    pub(crate) offsets: Entries<u8>,
    pub(crate) outcomes: Entries<Bound>,
    pub(crate) marks: Entries<()>,
    pub(crate) table: Log,
    pub(crate) quarantine: Log,
    pub(crate) faults: Faults,
    /// An older copy of the checkpoint is in place: hosts may stop for good, and ranges of commits may be missing.
    pub(crate) restored: bool,
}

/// An invariant that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Violation {
    /// A row of a marked batch is in no table.
    Lost,
    /// A row is in a table twice, or in both.
    Doubled,
    /// A commit has no logged range, or rows outside of it.
    Unlogged,
    /// A host works on another range than the one that is logged: it does not own the batch.
    WrongRange,
    /// From here the rows can never all be done.
    Stuck,
}

impl World {
    pub(crate) fn new(hosts: usize, faults: Faults) -> Self {
        let host = |i| Host::resting(if i < hosts { Pc::Down } else { Pc::Idle });
        Self {
            hosts: [host(0), host(1)],
            offsets: [None; BATCHES],
            outcomes: [None; BATCHES],
            marks: [None; BATCHES],
            table: Log::EMPTY,
            quarantine: Log::EMPTY,
            faults,
            restored: false,
        }
    }

    /// The newest batch before this one whose outcome has rejected rows.
    pub(crate) fn newest_rejected(&self, before: u8) -> Option<u64> {
        let rejects = |n: &u8| self.outcomes[*n as usize].is_some_and(|entry| entry.value.rejected != 0);
        (0..before).rev().find(rejects).map(u64::from)
    }

    /// What the real recovery is given.
    pub(crate) fn log_state(&self) -> LogState {
        let range = |n: usize| self.offsets[n].map(|entry| RangeEntry::new(0, position(entry.value)));
        let newest = newest(&self.offsets);
        LogState {
            offsets: newest.and_then(|n| range(n).map(|entry| Logged { batch: n as u64, entry })),
            previous: newest.and_then(|n| n.checked_sub(1)).and_then(range),
            newest_commit: newest_number(&self.marks),
            newest_outcome: newest_number(&self.outcomes),
            initial: None,
        }
    }

    /// End of the newest marked batch: everything before it is done.
    pub(crate) fn done(&self) -> u8 {
        newest(&self.marks).and_then(|n| self.offsets[n]).map_or(0, |entry| entry.value)
    }

    pub(crate) fn finished(&self) -> bool {
        self.done() == ROWS
    }

    /// The invariant that is broken, if any.
    pub(crate) fn violation(&self) -> Option<Violation> {
        let commits = || self.table.commits().chain(self.quarantine.commits()).filter(|c| c.batch.is_some());
        let mut landed: Rows = 0;
        for commit in commits() {
            if landed & commit.rows != 0 {
                return Some(Violation::Doubled);
            }
            landed |= commit.rows;
        }
        if !self.restored && commits().any(|commit| !self.is_logged(commit)) {
            return Some(Violation::Unlogged);
        }
        if rows(0, self.done()) & !landed != 0 || self.marks_without_range() {
            return Some(Violation::Lost);
        }
        self.hosts.iter().any(|host| self.has_wrong_range(host)).then_some(Violation::WrongRange)
    }

    fn is_logged(&self, commit: Commit) -> bool {
        let Some(batch) = commit.batch.map(usize::from) else { return true };
        let start = batch.checked_sub(1).map_or(Some(0), |n| self.offsets[n].map(|entry| entry.value));
        match (start, self.offsets[batch]) {
            (Some(start), Some(entry)) => commit.rows & !rows(start, entry.value) == 0,
            _ => false,
        }
    }

    fn marks_without_range(&self) -> bool {
        (0..BATCHES).any(|n| self.marks[n].is_some() && self.offsets[n].is_none())
    }

    fn has_wrong_range(&self, host: &Host) -> bool {
        let bound = matches!(host.pc, Pc::At(step, _) if step > Step::LogRange);
        bound && self.offsets[host.batch as usize].is_some_and(|entry| entry.value != host.end)
    }
}

/// A position is the number of rows before it; the log of files counts from -1.
pub(crate) fn position(rows_before: u8) -> Position {
    Position::Files(FilesPosition { log_offset: i64::from(rows_before) - 1 })
}

/// The number of rows before a position.
pub(crate) fn rows_before(position: &Position) -> u8 {
    match position {
        Position::Files(files) => (files.log_offset + 1) as u8,
        other => panic!("the model has files only: {other}"),
    }
}

fn newest<T>(entries: &Entries<T>) -> Option<usize> {
    entries.iter().rposition(Option::is_some)
}

fn newest_number<T>(entries: &Entries<T>) -> Option<u64> {
    newest(entries).map(|n| n as u64)
}
