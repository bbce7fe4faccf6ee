//! What a start does with what an earlier run left (C-030 … C-035, R-032).

use crisol_checkpoint::{Fact, Kind, LogState, NextStep, Position, check_quarantine, check_table, next_step};
use crisol_observe::Event;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio_util::sync::CancellationToken;

use crate::Failure;
use crate::batch::Logged;
use crate::report::Timings;
use crate::run::{Next, Stream};

/// How far an earlier run got with a logged batch.
enum Left {
    /// The range is bound; nothing else counts.
    Logged,
    /// `outcome/N` says what is to be committed.
    Decided,
    /// The table has it; only the mark is missing.
    Committed,
}

/// What is asked of the outcome of a batch long done.
#[derive(Deserialize)]
struct Rejected {
    quarantine: Vec<IgnoredAny>,
}

impl Stream {
    /// Finishes the batch that an earlier run logged, if any, and tells where to go on; `None` when `stop` came first.
    pub(crate) async fn resume(&mut self, stop: &CancellationToken) -> Result<Option<Next>, Failure> {
        let (state, transaction) = self.look().await?;
        self.last_timestamp_ms = newest_timestamp_ms(&state);
        if state.initial.is_some() {
            self.tell_of_another_start().await?;
        }
        match next_step(&state)? {
            NextStep::Plan { batch, start } => {
                let start = match start {
                    Some(start) => start,
                    None => self.initial().await?,
                };
                Ok(Some(Next { number: batch, start }))
            }
            NextStep::Rerun { batch, range, timestamp_ms } => {
                let committed = transaction.is_some_and(|newest| u64::try_from(newest).is_ok_and(|n| n >= batch));
                let left = if committed { Left::Committed } else { Left::Logged };
                self.take_up(Logged { number: batch, range, timestamp_ms, rows_planned: None }, left, stop).await
            }
            NextStep::AdoptOutcome { batch, range, timestamp_ms } => {
                self.take_up(Logged { number: batch, range, timestamp_ms, rows_planned: None }, Left::Decided, stop)
                    .await
            }
        }
    }

    /// The checkpoint, and the table's newest transaction, held against each other. Another host may move on between the
    /// two: what looks wrong is believed only when the checkpoint stood still meanwhile.
    async fn look(&self) -> Result<(LogState, Option<i64>), Failure> {
        let checkpoint = &self.parts.checkpoint;
        let application = checkpoint.id().to_string();
        let mut state = checkpoint.state().await?;
        loop {
            let transaction = self.parts.table.transaction(&application).await?;
            let quarantined = self.parts.quarantine.transaction(&application).await?;
            let rejected = self.newest_rejected(state.newest_commit, quarantined).await?;
            let logged = state.offsets.as_ref().map(|logged| logged.batch);
            let sound = check_table(state.newest_commit, logged, transaction)
                .and_then(|()| check_quarantine(state.newest_commit, state.newest_outcome, rejected, quarantined));
            let Err(wrong) = sound else { return Ok((state, transaction)) };
            let now = checkpoint.state().await?;
            if now == state {
                return Err(wrong.into());
            }
            state = now;
        }
    }

    /// The newest marked batch with rejected rows, as far as it is newer than what the quarantine holds and its outcome
    /// is kept.
    async fn newest_rejected(&self, marked: Option<u64>, held: Option<i64>) -> Result<Option<u64>, Failure> {
        let Some(newest) = marked else { return Ok(None) };
        let first = held.and_then(|held| u64::try_from(held).ok()).map_or(0, |held| held.saturating_add(1));
        for batch in (first..=newest).rev() {
            match self.parts.checkpoint.outcome::<Rejected>(batch).await?.map(|outcome| outcome.payload) {
                Some(outcome) if outcome.quarantine.is_empty() => {}
                Some(_) => return Ok(Some(batch)),
                // Those before it are purged.
                None => break,
            }
        }
        Ok(None)
    }

    async fn take_up(&mut self, logged: Logged, left: Left, stop: &CancellationToken) -> Result<Option<Next>, Failure> {
        self.under_way = Some(logged.number);
        let (stream, batch) = (self.parts.name.clone(), logged.number);
        self.parts.observers.tell(&Event::Planned { stream, batch, rows: None, backlog_rows: None, rerun: true });
        let mut timings = Timings::begin();
        match left {
            Left::Committed => {
                self.protocol().0.mark(logged.number, &mut timings).await?;
                self.parts.source.committed(&logged.range.end).await?;
                self.parts.news.send_modify(|news| news.commits += 1);
                self.under_way = None;
            }
            Left::Decided => {
                let done = self.protocol().0.adopt(logged.number, &mut timings).await?;
                self.committed(&logged, None, done, timings).await?;
            }
            Left::Logged => {
                if !self.finish(&logged, None, timings, stop).await? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(Next { number: logged.number + 1, start: logged.range.end }))
    }

    /// K-031: where to begin was settled long ago. Told once in a run.
    async fn tell_of_another_start(&mut self) -> Result<(), Failure> {
        let Some(starting) = self.parts.starting.take() else { return Ok(()) };
        let kept = self.parts.checkpoint.keep(Fact::Starting, &starting).await?;
        if kept != starting {
            let text = format!(
                "this checkpoint began at {kept}, and the contract says {starting} now: `starting_offsets` and its like \
                 have no effect any more; a new `checkpoint_suffix` begins anew"
            );
            self.parts.observers.tell(&Event::Warning { stream: self.parts.name.clone(), text });
        }
        Ok(())
    }

    /// The first position, asked once and kept for ever (K-032). Sources of files begin at nothing and keep a log.
    async fn initial(&mut self) -> Result<Position, Failure> {
        let position = self.parts.source.initial().await?;
        if position.kind() == Kind::Files {
            return Ok(position);
        }
        let position = self.parts.checkpoint.log_initial(&position).await?;
        self.tell_of_another_start().await?;
        Ok(position)
    }
}

fn newest_timestamp_ms(state: &LogState) -> i64 {
    state.offsets.as_ref().map_or(0, |logged| logged.entry.timestamp_ms)
}
