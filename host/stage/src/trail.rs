//! Where the rows of a chunk stand: the input row of each, and the fate of those that do not go on.

use std::sync::Arc;

use crate::columns::is_identity;
use crate::{Fate, Rejection, StageOutput};

/// Longest text that several reasons for one row grow to.
const TEXT_BYTES_MAX: usize = 2_000;

/// Why an input row does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settled {
    /// Which step.
    pub(crate) step: usize,
    /// Filtered or refused.
    pub(crate) fate: Fate,
    /// Of the first reason with this fate.
    pub(crate) code: Arc<str>,
    /// All reasons.
    pub(crate) text: Arc<str>,
    /// Which of the step's components gave the first reason.
    pub(crate) component: Option<usize>,
}

impl Settled {
    fn new(step: usize, rejection: Rejection) -> Self {
        let Rejection { fate, code, text, component, .. } = rejection;
        Self { step, fate, code, text, component }
    }

    /// Quarantine outweighs filtering, since it keeps the row; otherwise the first reason gives the code.
    fn add(&mut self, step: usize, rejection: Rejection) {
        let Rejection { fate, code, text, component, .. } = rejection;
        let outweighs = fate == Fate::Quarantine && self.fate == Fate::Filter;
        if !outweighs && self.fate == Fate::Quarantine && fate == Fate::Filter && self.step != step {
            return;
        }
        let more = format!("{code}: {text}");
        if outweighs {
            let text = format!("{text}; {}: {}", self.code, self.text).into();
            *self = Self { step, fate, code, text, component };
        } else if self.text.len() + more.len() <= TEXT_BYTES_MAX && !self.text.contains(&more) && self.text != text {
            self.text = format!("{}; {more}", self.text).into();
        }
    }
}

/// Follows the rows of one chunk from step to step.
#[derive(Debug)]
pub(crate) struct Trail {
    rows: usize,
    /// Input row of each present row; `None`: all input rows, each once.
    origin: Option<Vec<u32>>,
    /// By input row, each once, ascending.
    settled: Vec<(u32, Settled)>,
}

/// How a chunk ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Which of the last step's rows belong to the table; `None`: all.
    pub(crate) kept: Option<Vec<u32>>,
    /// Input row of each of the last step's rows; `None`: all input rows, each once.
    pub(crate) origin: Option<Vec<u32>>,
    /// Input rows that gave at least one of them.
    pub(crate) rows_accepted: u64,
    /// Input rows in quarantine, in order.
    pub(crate) quarantined: Vec<(u32, Settled)>,
    /// Input rows filtered, in order.
    pub(crate) filtered: Vec<(u32, Settled)>,
}

impl Outcome {
    /// The input row of each row that belongs to the table; `None`: all input rows, each once.
    pub(crate) fn into_places(self) -> Option<Vec<u32>> {
        match (self.origin, self.kept) {
            (Some(origin), Some(kept)) => Some(kept.iter().map(|row| origin[*row as usize]).collect()),
            (Some(origin), None) => Some(origin),
            (None, kept) => kept,
        }
    }
}

impl Trail {
    /// Before the first step.
    pub(crate) fn new(rows: usize) -> Self {
        Self { rows, origin: None, settled: Vec::new() }
    }

    /// The input row of a present row.
    pub(crate) fn input_row(&self, row: u32) -> u32 {
        match &self.origin {
            None => row,
            Some(origin) => origin.get(row as usize).copied().unwrap_or(row),
        }
    }

    /// Takes over what a step did; its account has been checked.
    pub(crate) fn follow(&mut self, step: usize, output: &mut StageOutput) {
        self.settle(step, std::mem::take(&mut output.rejected));
        let origin = std::mem::take(&mut output.origin);
        self.origin = match self.origin.take() {
            None if is_identity(&origin, self.rows) => None,
            None => Some(origin),
            Some(before) if is_identity(&origin, before.len()) => Some(before),
            Some(before) => Some(origin.iter().map(|row| before[*row as usize]).collect()),
        };
    }

    fn settle(&mut self, step: usize, rejected: Vec<Rejection>) {
        if rejected.is_empty() {
            return;
        }
        let mut fresh: Vec<(u32, Rejection)> =
            rejected.into_iter().map(|rejection| (self.input_row(rejection.row), rejection)).collect();
        fresh.sort_by_key(|(row, _)| *row);
        let mut merged: Vec<(u32, Settled)> = Vec::with_capacity(self.settled.len() + fresh.len());
        let mut known = std::mem::take(&mut self.settled).into_iter().peekable();
        for (row, rejection) in fresh {
            while let Some(settled) = known.next_if(|(known, _)| *known <= row) {
                merged.push(settled);
            }
            match merged.last_mut().filter(|(newest, _)| *newest == row) {
                Some((_, settled)) => settled.add(step, rejection),
                None => merged.push((row, Settled::new(step, rejection))),
            }
        }
        merged.extend(known);
        self.settled = merged;
    }

    /// After the last step.
    ///
    /// An input row has one fate: when any row made of it is refused, the input row is in quarantine whole and the other
    /// rows made of it are withdrawn, so that a replay cannot double them. It counts as filtered when no row made of it
    /// is left.
    ///
    /// # Errors
    /// What does not add up (E-033).
    pub(crate) fn finish(mut self) -> Result<Outcome, String> {
        let settled = std::mem::take(&mut self.settled);
        let (quarantined, mut filtered): (Vec<_>, Vec<_>) =
            settled.into_iter().partition(|(_, settled)| settled.fate == Fate::Quarantine);
        filtered.retain(|(row, _)| !self.present(*row));
        let kept = self.withdraw(&quarantined);
        let rows_accepted = self.accepted(kept.as_deref());
        let accounted = rows_accepted + quarantined.len() as u64 + filtered.len() as u64;
        if accounted != self.rows as u64 {
            return Err(format!(
                "{} rows went in, but {rows_accepted} were accepted, {} refused and {} filtered",
                self.rows,
                quarantined.len(),
                filtered.len()
            ));
        }
        Ok(Outcome { kept, origin: self.origin, rows_accepted, quarantined, filtered })
    }

    fn present(&self, input_row: u32) -> bool {
        self.origin.as_ref().is_none_or(|origin| origin.binary_search(&input_row).is_ok())
    }

    fn withdraw(&self, quarantined: &[(u32, Settled)]) -> Option<Vec<u32>> {
        let origin = self.origin.as_ref()?;
        if !quarantined.iter().any(|(row, _)| self.present(*row)) {
            return None;
        }
        let rows = 0..origin.len() as u32;
        let refused = |row: u32| quarantined.binary_search_by_key(&row, |(refused, _)| *refused).is_ok();
        Some(rows.filter(|row| !refused(origin[*row as usize])).collect())
    }

    /// Distinct input rows among the kept ones; origins never descend.
    fn accepted(&self, kept: Option<&[u32]>) -> u64 {
        let Some(origin) = &self.origin else { return self.rows as u64 };
        let distinct = |rows: &mut dyn Iterator<Item = u32>| {
            let (mut count, mut last) = (0, None);
            for row in rows {
                if last.replace(row) != Some(row) {
                    count += 1;
                }
            }
            count
        };
        match kept {
            None => distinct(&mut origin.iter().copied()),
            Some(kept) => distinct(&mut kept.iter().map(|row| origin[*row as usize])),
        }
    }
}
