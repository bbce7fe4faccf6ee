//! The newest event of each key of a batch (E-062), a share of the keys at a time.

use std::collections::HashMap;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::hash::Hasher;

use super::tombstones::Tombstone;

/// What a row of a file is to become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Fate {
    /// Of a live row: it stays. Of a staged row: it is of no account.
    None,
    /// A staged row with a new key.
    Insert,
    /// A staged row in the place of an older one, or a live row that gives way.
    Update,
    /// A live row whose key goes.
    Delete,
}

/// Where an event stands: file and row of the batch.
pub(super) type Place = (usize, usize);

/// The newest event of a key.
#[derive(Debug)]
pub(super) struct Event {
    /// Sequence, then position.
    pub(super) order: Box<[u8]>,
    pub(super) deletes: bool,
    pub(super) place: Place,
    /// The table had an older row of the key.
    pub(super) replaces: bool,
    /// The table, or a tombstone, is newer.
    pub(super) late: bool,
}

/// Keys of one share.
#[derive(Debug, Default)]
pub(super) struct Events {
    newest: HashMap<Box<[u8]>, Event>,
}

/// Which of `shares` a key belongs to.
pub(super) fn share(key: &[u8], shares: usize) -> usize {
    if shares <= 1 {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(key);
    usize::try_from(hasher.finish() % shares as u64).unwrap_or(0)
}

impl Events {
    /// Takes the next row of the batch; of equal ones a put counts more than a delete, and the later more than the earlier.
    pub(super) fn take(&mut self, key: &[u8], order: &[u8], deletes: bool, place: Place) {
        let event = || Event { order: order.into(), deletes, place, replaces: false, late: false };
        match self.newest.entry(key.into()) {
            Entry::Vacant(free) => {
                free.insert(event());
            }
            Entry::Occupied(mut known) => {
                let newest = known.get();
                if (order, !deletes) >= (&*newest.order, !newest.deletes) {
                    known.insert(event());
                }
            }
        }
    }

    /// Meets a row of the table: what becomes of it.
    pub(super) fn meet(&mut self, key: &[u8], order: &[u8]) -> Fate {
        let Some(event) = self.newest.get_mut(key) else { return Fate::None };
        if *event.order < *order {
            event.late = true;
            return Fate::None;
        }
        event.replaces = true;
        if event.deletes { Fate::Delete } else { Fate::Update }
    }

    /// Meets the tombstone of a deleted key; false when it has done its work.
    pub(super) fn meet_tombstone(&mut self, tombstone: &Tombstone) -> bool {
        let Some(event) = self.newest.get_mut(&*tombstone.key) else { return true };
        if *event.order < *tombstone.order {
            event.late = true;
            return true;
        }
        false
    }

    pub(super) fn into_events(self) -> impl Iterator<Item = (Box<[u8]>, Event)> {
        self.newest.into_iter()
    }

    pub(super) fn len(&self) -> usize {
        self.newest.len()
    }
}
