//! The life of a stream: resume, then plan and run batches until there is nothing left or someone says stop.

use std::sync::Arc;
use std::time::Duration;

use crisol_checkpoint::{Checkpoint, Position, Range, Step};
use crisol_observe::{Accounts, Event, Gap, Observers, in_one_line};
use crisol_source::{Estimate, Planned, Source};
use crisol_table::TableWriter;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::batch::{Done, Logged, Protocol};
use crate::failpoint::{Moment, pass};
use crate::pace::{News, Pace, UpstreamState};
use crate::patience::Outage;
use crate::report::{self, Finished, Timings};
use crate::{Failure, OpenTable, Patience, Renewal, Stages, StreamError};

/// How often an idle stream says so (C-023).
const IDLE: Duration = Duration::from_secs(10);

/// Batches between two clean-ups of the checkpoint.
const PURGE_EVERY: u64 = 20;

/// What a stream is made of.
pub struct Parts {
    /// Name: the ingestion contract's, or the table's.
    pub name: String,
    /// Name of the table that it fills.
    pub table_name: String,
    /// Where that table lies, for progress.
    pub table_path: String,
    /// Its progress.
    pub checkpoint: Checkpoint,
    /// Where rows come from.
    pub source: Box<dyn Source>,
    /// Its stages.
    pub stages: Stages,
    /// The table that it fills.
    pub table: Arc<dyn TableWriter>,
    /// Where rejected rows go.
    pub quarantine: OpenTable,
    /// What follows a rebuild of the table above.
    pub renewal: Renewal,
    /// When batches are made.
    pub pace: Pace,
    /// How long an outage of the source may last.
    pub patience: Patience,
    /// Chunks worked on side by side.
    pub workers: usize,
    /// Who is told what happens.
    pub observers: Observers,
    /// Told to the streams below.
    pub news: watch::Sender<News>,
    /// Where the contract says that a new checkpoint begins; a change of it has no effect and is told (K-031).
    pub starting: Option<String>,
    /// Said when a first run reads nothing.
    pub empty_start_hint: Option<String>,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("name", &self.name).field("pace", &self.pace).finish_non_exhaustive()
    }
}

/// A stream, ready to run.
#[derive(Debug)]
pub struct Stream {
    pub(crate) parts: Parts,
    /// What became of the rows of this run.
    pub(crate) accounts: Accounts,
    pub(crate) batches: u64,
    /// The batch under way, for errors.
    pub(crate) under_way: Option<u64>,
    /// When the newest batch of this run began.
    pub(crate) last_began: Option<Instant>,
    /// Never goes back, whatever the clock does.
    pub(crate) last_timestamp_ms: i64,
    outage: Outage,
    /// The end of the run is fixed (K-100).
    prepared: bool,
    /// It was told that the source answered.
    ready: bool,
}

/// How a stream's run ended.
#[derive(Debug)]
pub struct Summary {
    /// Which stream.
    pub stream: String,
    /// The table that it fills.
    pub table: String,
    /// What became of the rows of this run.
    pub accounts: Accounts,
    /// Batches committed in this run.
    pub batches: u64,
    /// Why it failed; `None` when it ended well or was stopped.
    pub error: Option<StreamError>,
}

/// Where a stream goes on.
#[derive(Debug)]
pub(crate) struct Next {
    pub(crate) number: u64,
    pub(crate) start: Position,
}

impl Stream {
    /// A stream of these parts.
    pub fn new(parts: Parts) -> Self {
        Self {
            outage: Outage::new(parts.patience),
            parts,
            accounts: Accounts::default(),
            batches: 0,
            under_way: None,
            last_began: None,
            last_timestamp_ms: 0,
            prepared: false,
            ready: false,
        }
    }

    /// Runs until nothing is left (by its [`Pace`]), until it fails, or until `stop`: a batch that is committing is
    /// then finished, one that is still reading is left for the next start.
    pub async fn run(mut self, stop: CancellationToken) -> Summary {
        let parts = &self.parts;
        parts.observers.tell(&Event::Started { stream: parts.name.clone(), table: parts.table_name.clone() });
        let result = self.drive(&stop).await;
        self.parts.table.settled().await;
        self.parts.quarantine.settled().await;
        self.parts.renewal.table.settled().await;
        self.parts.renewal.quarantine.settled().await;
        let state = if result.is_ok() { UpstreamState::Ended } else { UpstreamState::Failed };
        self.parts.news.send_modify(|news| news.state = state);
        let error = result.err().map(|failure| StreamError {
            stream: self.parts.name.clone(),
            batch: self.under_way,
            failure: Box::new(failure),
        });
        self.parts.observers.tell(&Event::Ended {
            stream: self.parts.name.clone(),
            accounts: self.accounts.clone(),
            batches: self.batches,
            error: error.as_ref().map(|error| in_one_line(error.failure.as_ref())),
        });
        Summary {
            stream: self.parts.name,
            table: self.parts.table_name,
            accounts: self.accounts,
            batches: self.batches,
            error,
        }
    }

    /// Goes on until the stream ends. Where its source does not answer, it waits and begins anew where the checkpoint
    /// stands, as after a crash.
    async fn drive(&mut self, stop: &CancellationToken) -> Result<(), Failure> {
        let gaps = self.parts.checkpoint.losses::<Vec<Gap>>().await?;
        self.parts.source.know_gaps(gaps.into_iter().flat_map(|(_, gaps)| gaps).collect());
        loop {
            let Err(failure) = self.session(stop).await else { return Ok(()) };
            let Some((tries, retry_in)) = self.outage.wait(&failure, Instant::now()) else { return Err(failure) };
            let stream = self.parts.name.clone();
            self.parts.observers.tell(&Event::Waiting { stream, reason: failure.to_string(), tries, retry_in });
            wait(stop, tokio::time::sleep(retry_in)).await;
            if stop.is_cancelled() {
                return Ok(());
            }
        }
    }

    async fn session(&mut self, stop: &CancellationToken) -> Result<(), Failure> {
        let Some(mut next) = self.resume(stop).await? else { return Ok(()) };
        if matches!(self.parts.pace, Pace::AvailableNow) && !self.prepared {
            self.parts.source.prepare_for_available_now(&next.start).await?;
            self.prepared = true;
        }
        let mut idle_since = Instant::now();
        while !stop.is_cancelled() {
            let upstream = self.parts.pace.upstream();
            if let (UpstreamState::Failed, Pace::Follow(upstream)) = (upstream, &self.parts.pace) {
                return Err(Failure::Upstream { upstream: upstream.name.clone() });
            }
            let mut timings = Timings::begin();
            let planned = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                planned = self.plan(&next, &mut timings) => planned?,
            };
            self.answered(&next);
            if let Some(planned) = planned {
                let Some(end) = self.batch(&next, planned, timings, stop).await? else { return Ok(()) };
                next = Next { number: next.number + 1, start: end };
                idle_since = Instant::now();
                wait(stop, self.parts.pace.wait_for_turn(self.last_began)).await;
            } else if self.parts.pace.done(upstream) {
                self.say_when_nothing_was_there(next.number);
                return Ok(());
            } else {
                if idle_since.elapsed() >= IDLE {
                    self.parts.observers.tell(&Event::Idle { stream: self.parts.name.clone() });
                    idle_since = Instant::now();
                }
                wait(stop, self.parts.pace.wait_for_rows()).await;
            }
        }
        Ok(())
    }

    /// Tells what the source's answer means: that it is reached, and how far behind the stream is.
    fn answered(&mut self, next: &Next) {
        let stream = || self.parts.name.clone();
        if !std::mem::replace(&mut self.ready, true) {
            self.parts.observers.tell(&Event::Ready { stream: stream() });
        }
        if self.outage.over() {
            self.parts.observers.tell(&Event::Recovered { stream: stream() });
        }
        let partitions = self.parts.source.lag(&next.start);
        if !partitions.is_empty() {
            self.parts.observers.tell(&Event::Lag { stream: stream(), partitions });
        }
    }

    async fn plan(&mut self, next: &Next, timings: &mut Timings) -> Result<Option<Planned>, Failure> {
        let from = Instant::now();
        pass(&self.parts.name, Step::Plan, Moment::Before);
        let planned = self.parts.source.plan(&next.start).await?;
        if planned.is_some() {
            pass(&self.parts.name, Step::Plan, Moment::After);
        }
        timings.add("latestOffset", from);
        Ok(planned)
    }

    /// Logs, runs, commits one planned batch and gives its end; `None` when `stop` came first.
    async fn batch(
        &mut self,
        next: &Next,
        planned: Planned,
        mut timings: Timings,
        stop: &CancellationToken,
    ) -> Result<Option<Position>, Failure> {
        self.under_way = Some(next.number);
        self.last_timestamp_ms = report::now_ms().max(self.last_timestamp_ms);
        let range = Range { start: next.start.clone(), end: planned.end.clone() };
        let rows_planned = planned.estimate.batch_rows;
        let logged = Logged { number: next.number, range, timestamp_ms: self.last_timestamp_ms, rows_planned };
        let gaps = self.parts.source.take_planned_gaps();
        if !gaps.is_empty() {
            self.parts.checkpoint.keep_planned_losses(next.number, &gaps).await?;
        }
        self.protocol().0.log(&logged, &mut timings).await?;
        self.parts.observers.tell(&Event::Planned {
            stream: self.parts.name.clone(),
            batch: next.number,
            rows: planned.estimate.batch_rows,
            backlog_rows: planned.estimate.backlog_rows,
            rerun: false,
        });
        if !self.finish(&logged, Some(&planned), timings, stop).await? {
            return Ok(None);
        }
        Ok(Some(planned.end))
    }

    /// Runs a logged batch to its end and tells everyone; false when `stop` came first.
    pub(crate) async fn finish(
        &mut self,
        logged: &Logged,
        planned: Option<&Planned>,
        mut timings: Timings,
        stop: &CancellationToken,
    ) -> Result<bool, Failure> {
        let (protocol, source) = self.protocol();
        let done = protocol.run(logged, source, &mut timings, stop).await?;
        let Some(done) = done else { return Ok(false) };
        self.committed(logged, planned, done, timings).await?;
        Ok(true)
    }

    /// What follows a committed and marked batch: source, streams below and listeners are told.
    pub(crate) async fn committed(
        &mut self,
        logged: &Logged,
        planned: Option<&Planned>,
        done: Done,
        timings: Timings,
    ) -> Result<(), Failure> {
        self.parts.source.know_gaps(done.losses.clone());
        self.parts.source.committed(&logged.range.end).await?;
        self.purge(logged.number).await;
        self.parts.news.send_modify(|news| news.commits += 1);
        self.accounts.add(&done.accounts);
        self.batches += 1;
        self.under_way = None;
        let began = timings.began();
        let since_last = self.last_began.map(|last| began - last);
        self.last_began = Some(began);
        let lag = self.parts.source.lag(&logged.range.end);
        let finished = Finished {
            stream: &self.parts.name,
            checkpoint_id: self.parts.checkpoint.id().to_string(),
            run_id: self.parts.checkpoint.run_id().to_string(),
            batch: logged.number,
            source: self.parts.source.description(),
            table_path: self.parts.table_path.clone(),
            start: &logged.range.start,
            end: &logged.range.end,
            latest: planned.and_then(|planned| planned.latest.as_ref()),
            metrics: report::lag_metrics(&lag),
            lag,
            losses: done.losses,
            backlog_rows: planned.and_then(|planned| waiting_after(&planned.estimate)),
            components: done.components,
            table_version: done.version,
            accounts: done.accounts,
        };
        let progress = report::progress(finished, timings, since_last);
        self.parts.observers.tell(&Event::Committed(Box::new(progress)));
        Ok(())
    }

    /// Entries that recovery never looks at go now and then (C-009); failing to is no reason to stop.
    async fn purge(&self, number: u64) {
        if number.is_multiple_of(PURGE_EVERY)
            && let Err(error) = self.parts.checkpoint.purge(number).await
        {
            tracing::warn!(stream = self.parts.name, "old entries of the checkpoint stay: {error}");
        }
    }

    /// What a batch works with, and apart from it the source that it reads.
    pub(crate) fn protocol(&mut self) -> (Protocol<'_>, &mut dyn Source) {
        let Parts { name, checkpoint, stages, table, quarantine, renewal, workers, observers, source, .. } =
            &mut self.parts;
        let protocol = Protocol {
            stream: name,
            checkpoint,
            stages,
            table: &**table,
            quarantine,
            renewal,
            workers: *workers,
            observers,
        };
        (protocol, source.as_mut())
    }

    fn say_when_nothing_was_there(&self, next: u64) {
        if let (0, Some(text)) = (next, &self.parts.empty_start_hint) {
            self.parts.observers.tell(&Event::Warning { stream: self.parts.name.clone(), text: text.clone() });
        }
    }
}

/// Waits for `what`, or until someone says stop.
async fn wait(stop: &CancellationToken, what: impl Future<Output = ()>) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = what => {}
    }
}

/// Rows that wait behind a batch, as an estimate.
fn waiting_after(estimate: &Estimate) -> Option<u64> {
    Some(estimate.backlog_rows?.saturating_sub(estimate.batch_rows?))
}
