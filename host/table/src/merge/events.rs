//! The newest event of each key of a batch (E-062), a share of the keys at a time.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

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
    hash: u64,
    /// Where in the bytes of the events.
    key: Range<usize>,
    /// Sequence, then position; as well.
    order: Range<usize>,
    pub(super) deletes: bool,
    pub(super) place: Place,
    /// The table had an older row of the key.
    pub(super) replaces: bool,
    /// The table, or a tombstone, is newer.
    pub(super) late: bool,
}

/// A share of all keys. The hash is seeded: whoever chooses the keys cannot have them collide.
#[derive(Debug, Clone)]
pub(super) struct Share {
    pub(super) of: u64,
    pub(super) shares: u64,
    pub(super) hashing: RandomState,
}

impl Share {
    pub(super) fn has(&self, key: &[u8]) -> bool {
        self.hash(key).is_some()
    }

    /// The hash of a key; `None` when it belongs to another share.
    fn hash(&self, key: &[u8]) -> Option<u64> {
        let hash = self.hashing.hash_one(key);
        // The table of events takes the lower bits.
        ((hash >> 32) % self.shares == self.of).then_some(hash)
    }
}

/// Keys of one share. A row costs about 150 bytes: keys and orders lie one behind the other, not each in its own place.
#[derive(Debug)]
pub(super) struct Events {
    share: Share,
    newest: HashTable<Event>,
    bytes: Vec<u8>,
    taken: u64,
    /// Rows that are to come; room is made for them at once, since moving what is there costs more than taking it.
    rows: usize,
}

impl Events {
    /// None of this share yet; `rows` of it at most are expected.
    pub(super) fn new(share: Share, rows: usize) -> Self {
        Self { share, newest: HashTable::with_capacity(rows), bytes: Vec::new(), taken: 0, rows }
    }

    /// Takes the next row of the batch, if its key is of the share; of equal ones a put counts more than a delete, and
    /// the later more than the earlier.
    pub(super) fn take(&mut self, key: &[u8], order: &[u8], deletes: bool, place: Place) {
        let Some(hash) = self.share.hash(key) else { return };
        self.taken += 1;
        let bytes = &self.bytes;
        match self.newest.entry(hash, |event| bytes[event.key.clone()] == *key, |event| event.hash) {
            Entry::Vacant(free) => {
                if self.bytes.is_empty() {
                    self.bytes.reserve(self.rows.saturating_mul(key.len() + order.len()));
                }
                let key = append(&mut self.bytes, key);
                let order = append(&mut self.bytes, order);
                free.insert(Event { hash, key, order, deletes, place, replaces: false, late: false });
            }
            Entry::Occupied(mut known) => {
                let event = known.get_mut();
                let newest = &mut self.bytes[event.order.clone()];
                if (order, !deletes) < (&*newest, !event.deletes) {
                    return;
                }
                if newest.len() == order.len() {
                    newest.copy_from_slice(order);
                } else {
                    event.order = append(&mut self.bytes, order);
                }
                (event.deletes, event.place) = (deletes, place);
            }
        }
    }

    /// Meets a row of the table: what becomes of it.
    pub(super) fn meet(&mut self, key: &[u8], order: &[u8]) -> Fate {
        let Some((event, newest)) = self.find(key) else { return Fate::None };
        if *newest < *order {
            event.late = true;
            return Fate::None;
        }
        event.replaces = true;
        if event.deletes { Fate::Delete } else { Fate::Update }
    }

    /// Meets the tombstone of a deleted key; false when it has done its work.
    pub(super) fn meet_tombstone(&mut self, tombstone: &Tombstone) -> bool {
        let Some((event, newest)) = self.find(&tombstone.key) else { return true };
        if *newest < *tombstone.order {
            event.late = true;
            return true;
        }
        false
    }

    /// The event of a key, and its order.
    fn find(&mut self, key: &[u8]) -> Option<(&mut Event, &[u8])> {
        let hash = self.share.hash(key)?;
        let bytes = &self.bytes;
        let event = self.newest.find_mut(hash, |event| bytes[event.key.clone()] == *key)?;
        let order = &bytes[event.order.clone()];
        Some((event, order))
    }

    /// The newest events, each with its key and its order.
    pub(super) fn each(&self) -> impl Iterator<Item = (&Event, &[u8], &[u8])> {
        self.newest.iter().map(|event| (event, &self.bytes[event.key.clone()], &self.bytes[event.order.clone()]))
    }

    /// Rows of which each had a newer one of its key.
    pub(super) fn superseded(&self) -> u64 {
        self.taken - self.newest.len() as u64
    }
}

fn append(bytes: &mut Vec<u8>, value: &[u8]) -> Range<usize> {
    let start = bytes.len();
    bytes.extend_from_slice(value);
    start..bytes.len()
}
