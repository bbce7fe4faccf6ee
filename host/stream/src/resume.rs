//! What a start does with what an earlier run left (C-030 … C-035, R-032).

use crisol_checkpoint::{LogState, NextStep, Position, check_table, next_step};
use crisol_observe::Event;
use tokio_util::sync::CancellationToken;

use crate::batch::Logged;
use crate::report::Timings;
use crate::run::{Next, Stream};
use crate::Failure;

impl Stream {
    /// Finishes the batch that an earlier run logged, if any, and tells where to go on; `None` when `stop` came first.
    pub(crate) async fn resume(&mut self, stop: &CancellationToken) -> Result<Option<Next>, Failure> {
        let state = self.parts.checkpoint.state().await?;
        let transaction = self.parts.table.transaction(&self.parts.checkpoint.id().to_string()).await?;
        check_table(state.newest_commit(), state.newest_offsets(), transaction)?;
        self.last_timestamp_ms = state.newest_timestamp_ms().unwrap_or_default();
        match next_step(&state)? {
            NextStep::Plan { number, start } => {
                let start = match start {
                    Some(start) => start,
                    None => self.initial().await?,
                };
                Ok(Some(Next { number, start }))
            }
            NextStep::Rerun { number, start, end } => {
                let logged = self.logged(&state, number, start, end).await?;
                let committed = transaction.is_some_and(|newest| u64::try_from(newest).is_ok_and(|n| n >= number));
                self.take_up(logged, if committed { Left::Committed } else { Left::Logged }, stop).await
            }
            NextStep::AdoptOutcome { number, start, end } => {
                let logged = self.logged(&state, number, start, end).await?;
                self.take_up(logged, Left::Decided, stop).await
            }
        }
    }

    async fn take_up(
        &mut self,
        logged: Logged,
        left: Left,
        stop: &CancellationToken,
    ) -> Result<Option<Next>, Failure> {
        self.under_way = Some(logged.number);
        let (stream, batch) = (self.parts.name.clone(), logged.number);
        self.parts.observers.tell(&Event::Planned { stream, batch, rows: None, backlog_rows: None, rerun: true });
        let mut timings = Timings::begin();
        match left {
            Left::Committed => {
                self.protocol().mark(logged.number, &mut timings).await?;
                self.parts.source.committed(&logged.range.end).await?;
                self.parts.news.send_modify(|news| news.commits += 1);
                self.under_way = None;
            }
            Left::Decided => {
                let done = self.protocol().adopt(logged.number, &mut timings).await?;
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

    async fn logged(
        &mut self,
        state: &LogState,
        number: u64,
        start: Option<Position>,
        end: Position,
    ) -> Result<Logged, Failure> {
        let start = match start {
            Some(start) => start,
            None => self.initial().await?,
        };
        let timestamp_ms = state.newest_timestamp_ms().unwrap_or_default();
        Ok(Logged { number, range: crisol_checkpoint::Range { start, end }, timestamp_ms })
    }

    async fn initial(&mut self) -> Result<Position, Failure> {
        Ok(self.parts.source.initial().await?)
    }
}

/// How far an earlier run got with a logged batch.
enum Left {
    /// The range is bound; nothing else counts.
    Logged,
    /// `outcome/N` says what is to be committed.
    Decided,
    /// The table has it; only the mark is missing.
    Committed,
}
