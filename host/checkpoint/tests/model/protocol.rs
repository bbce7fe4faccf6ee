//! What hosts do, step by step, and what may happen to them.

use crisol_checkpoint::{NextStep, Step, check_quarantine, check_table, next_step};

use crate::world::{BATCHES, Bound, Commit, Entries, Entry, Host, Log, Owner, Pc, Phase, ROWS, World, rows_before};

/// The guards of the protocol; a test takes one away at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guards {
    /// When `outcome/N` binds what a batch commits.
    pub(crate) outcome: Outcomes,
    /// A batch that the table holds already is marked, and not run again.
    pub(crate) skip_committed: bool,
    /// A snapshot is searched for our transaction.
    pub(crate) transaction_check: bool,
    /// A commit lands only on the very snapshot that was searched.
    pub(crate) tied_commit: bool,
    /// The batch is marked after the table holds it.
    pub(crate) mark_last: bool,
    /// `offsets/N` binds the range before anything is read.
    pub(crate) log_range: bool,
    /// An entry that exists is read back: another's means stop.
    pub(crate) read_back: bool,
    /// Commits are synced before the mark.
    pub(crate) sync_tables: bool,
    /// Entries of the checkpoint are synced before the next step.
    pub(crate) sync_entries: bool,
    /// At a start, tables that do not fit the checkpoint stop the host.
    pub(crate) check_tables: bool,
    /// What is found at a start, or in a snapshot, is synced before it is believed.
    pub(crate) settle: bool,
}

/// Which batches have an `outcome/N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcomes {
    Always,
    WhenRejected,
    Never,
}

impl Guards {
    pub(crate) const ALL: Self = Self {
        outcome: Outcomes::Always,
        skip_committed: true,
        transaction_check: true,
        tied_commit: true,
        mark_last: true,
        log_range: true,
        read_back: true,
        sync_tables: true,
        sync_entries: true,
        check_tables: true,
        settle: true,
    };
}

/// What leads from one world to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// A host goes on from where it stands.
    Go(u8, Pc),
    /// It plans a range that ends here.
    Plan(u8, u8),
    /// It writes files; these rows are rejected by whatever component is deployed now.
    Write(u8, u8),
    /// A person starts it again after an error.
    Restart(u8),
    /// What it does lands, and it sees an error.
    LostAnswer(u8, Pc),
    Crash(u8),
    PowerCut,
    ForeignCommit,
    /// Of the checkpoint, so many entries are left.
    Restore(usize),
}

impl Action {
    /// Whether the world can be relied on to do it.
    pub(crate) fn is_fault(self) -> bool {
        matches!(self, Self::LostAnswer(..) | Self::Crash(_) | Self::PowerCut | Self::ForeignCommit | Self::Restore(_))
    }
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Go(host, pc) => write!(f, "host {host}: {}", named(*pc)),
            Self::Plan(host, end) => write!(f, "host {host}: {} up to row {end}", Step::Plan),
            Self::Write(host, rejected) => write!(f, "host {host}: {}, rejected rows {rejected:#b}", Step::WriteFiles),
            Self::Restart(host) => write!(f, "host {host}: started again by a person"),
            Self::LostAnswer(host, pc) => write!(f, "host {host}: {} lands, the answer is lost", named(*pc)),
            Self::Crash(host) => write!(f, "host {host}: crash"),
            Self::PowerCut => f.write_str("power cut"),
            Self::ForeignCommit => f.write_str("foreign commit"),
            Self::Restore(entries) => write!(f, "a copy of the checkpoint with {entries} entries is put in its place"),
        }
    }
}

fn named(pc: Pc) -> String {
    match pc {
        Pc::At(step, phase) => format!("{step} ({phase:?})"),
        Pc::Down => "starts".to_owned(),
        Pc::Recover => "reads the checkpoint".to_owned(),
        Pc::Check => "compares the tables with it".to_owned(),
        Pc::Idle | Pc::Stopped => "rests".to_owned(),
    }
}

/// All worlds that may follow.
pub(crate) fn successors(world: &World, guards: Guards, out: &mut Vec<(Action, World)>) {
    for i in 0..world.hosts.len() as u8 {
        go(world, guards, i, out);
        if world.faults.crashes > 0 && world.hosts[i as usize].runs() {
            let mut next = *world;
            next.faults.crashes -= 1;
            next.leave(i, Pc::Down);
            out.push((Action::Crash(i), next));
        }
    }
    if world.faults.power_cuts > 0 {
        power_cut(world, out);
    }
    if world.faults.foreign_commits > 0 {
        let mut next = *world;
        next.faults.foreign_commits -= 1;
        next.table.push(Commit { batch: None, rows: 0 });
        out.push((Action::ForeignCommit, next));
    }
    if world.faults.restores > 0 && !world.hosts.iter().any(Host::runs) {
        restore(world, out);
    }
}

/// An older copy holds the entries that were written first: per batch its range, its outcome, its mark.
fn restore(world: &World, out: &mut Vec<(Action, World)>) {
    for left in 0..3 * BATCHES {
        let mut next = *world;
        next.faults.restores -= 1;
        next.restored = true;
        for n in 0..BATCHES {
            next.offsets[n] = next.offsets[n].filter(|_| 3 * n < left);
            next.outcomes[n] = next.outcomes[n].filter(|_| 3 * n + 1 < left);
            next.marks[n] = next.marks[n].filter(|_| 3 * n + 2 < left);
        }
        out.push((Action::Restore(left), next));
    }
}

fn go(world: &World, guards: Guards, i: u8, out: &mut Vec<(Action, World)>) {
    let host = world.hosts[i as usize];
    match host.pc {
        Pc::Idle => {}
        Pc::Down => out.push((Action::Go(i, host.pc), world.with(i, Host::resting(Pc::Recover)))),
        Pc::Stopped => out.push((Action::Restart(i), world.with(i, Host::resting(Pc::Recover)))),
        Pc::At(Step::Plan, _) => plan(world, guards, i, out),
        Pc::At(Step::WriteFiles, _) => write_files(world, guards, i, out),
        Pc::At(step, phase) => {
            if world.faults.lost_answers > 0
                && let Some(mut next) = lost_answer(world, guards, i, step, phase)
            {
                next.faults.lost_answers -= 1;
                out.push((Action::LostAnswer(i, host.pc), next));
            }
            let mut next = *world;
            next.act(guards, i, step, phase);
            // When the power stays on, nobody can tell whether something was synced.
            if next.faults.power_cuts == 0 && next.hosts[i as usize].pc == Pc::At(step, Phase::Sync) {
                next.act(guards, i, step, Phase::Sync);
            }
            out.push((Action::Go(i, host.pc), next));
        }
        Pc::Recover => out.push((Action::Go(i, host.pc), recover(world, guards, i))),
        Pc::Check => out.push((Action::Go(i, host.pc), check(world, guards, i))),
    }
}

/// Reads the checkpoint and decides with the real rules.
fn recover(world: &World, guards: Guards, i: u8) -> World {
    let mut next = *world;
    if guards.settle {
        next.settle_entries();
    }
    let mut host = Host::resting(Pc::Check);
    match next_step(&next.log_state()) {
        Ok(NextStep::Plan { batch, start }) => {
            host.batch = batch as u8;
            host.start = start.as_ref().map_or(0, rows_before);
            host.end = host.start;
        }
        Ok(NextStep::Rerun { batch, range, .. }) => {
            host.batch = batch as u8;
            (host.start, host.end) = (rows_before(&range.start), rows_before(&range.end));
        }
        Ok(NextStep::AdoptOutcome { batch, range, .. }) => {
            host.batch = batch as u8;
            (host.start, host.end) = (rows_before(&range.start), rows_before(&range.end));
            if let Some(Entry { value: Bound { accepted, rejected }, .. }) = next.outcomes[batch as usize] {
                (host.accepted, host.rejected, host.bound) = (accepted, rejected, true);
            }
        }
        Err(_) => host = Host::resting(Pc::Stopped),
    }
    next.with(i, host)
}

/// Compares the tables with the checkpoint, as it was read, by the real rules.
fn check(world: &World, guards: Guards, i: u8) -> World {
    let mut next = *world;
    if guards.settle {
        next.table.durable = next.table.len();
        next.quarantine.durable = next.quarantine.len();
    }
    let mut host = next.hosts[i as usize];
    let before = u64::from(host.batch).checked_sub(1);
    let this = Some(u64::from(host.batch));
    let logged = if host.end > host.start { this } else { before };
    let fits = check_table(before, logged, next.table.transaction()).and(check_quarantine(
        before,
        if host.bound { this } else { before },
        next.newest_rejected(host.batch),
        next.quarantine.transaction(),
    ));
    if fits.is_err() && guards.check_tables {
        next.leave(i, Pc::Stopped);
        return next;
    }
    let committed = next.table.transaction().is_some_and(|held| held >= i64::from(host.batch));
    let step = match (host.bound, host.end > host.start) {
        (true, _) => first_commit(&host, guards),
        (false, true) if committed && guards.skip_committed => Step::Mark,
        (false, true) => Step::WriteFiles,
        (false, false) => Step::Plan,
    };
    host.pc = first_phase(step);
    next.with(i, host)
}

/// Commits begin with a snapshot.
fn first_phase(step: Step) -> Pc {
    match step {
        Step::CommitQuarantine | Step::CommitTable => Pc::At(step, Phase::Snapshot),
        step => Pc::At(step, Phase::Act),
    }
}

/// The source may have any number of rows ready.
fn plan(world: &World, guards: Guards, i: u8, out: &mut Vec<(Action, World)>) {
    let host = world.hosts[i as usize];
    if host.start == ROWS {
        let mut next = *world;
        next.leave(i, Pc::Idle);
        out.push((Action::Go(i, host.pc), next));
    }
    for end in host.start + 1..=ROWS {
        let step = if guards.log_range { Step::LogRange } else { Step::WriteFiles };
        out.push((Action::Plan(i, end), world.with(i, Host { end, pc: Pc::At(step, Phase::Act), ..host })));
    }
}

/// Any rows may be rejected: today's component need not be yesterday's.
fn write_files(world: &World, guards: Guards, i: u8, out: &mut Vec<(Action, World)>) {
    let host = world.hosts[i as usize];
    for rejected in (0..=host.range()).filter(|set| set & !host.range() == 0) {
        let accepted = host.range() & !rejected;
        let host = Host { accepted, rejected, ..host };
        let step = match guards.outcome {
            Outcomes::Always => Step::LogOutcome,
            Outcomes::WhenRejected if rejected != 0 => Step::LogOutcome,
            _ => first_commit(&host, guards),
        };
        out.push((Action::Write(i, rejected), world.with(i, Host { pc: first_phase(step), ..host })));
    }
}

/// A quarantine without rows is left alone.
fn first_commit(host: &Host, guards: Guards) -> Step {
    match host.rejected {
        0 if guards.mark_last => Step::CommitTable,
        0 => Step::Mark,
        _ => Step::CommitQuarantine,
    }
}

/// The step lands, and the host tries it again: a put sees that it exists, a commit starts from a fresh snapshot.
fn lost_answer(world: &World, guards: Guards, i: u8, step: Step, phase: Phase) -> Option<World> {
    let mut next = *world;
    next.act(guards, i, step, phase);
    let landed = next.offsets != world.offsets
        || next.outcomes != world.outcomes
        || next.marks != world.marks
        || next.table.len() != world.table.len()
        || next.quarantine.len() != world.quarantine.len();
    let retry = match step {
        Step::CommitQuarantine | Step::CommitTable => Pc::At(step, Phase::Snapshot),
        _ => Pc::At(step, phase),
    };
    let host = Host { pc: retry, snapshot: 0, ..world.hosts[i as usize] };
    (landed && phase == Phase::Act).then(|| next.with(i, host))
}

/// Every file and commit that was not synced may be gone or not, each kind for itself.
fn power_cut(world: &World, out: &mut Vec<(Action, World)>) {
    let loose = u8::from(is_loose(&world.offsets))
        | u8::from(is_loose(&world.outcomes)) << 1
        | u8::from(is_loose(&world.marks)) << 2;
    for taken in (0..=loose).filter(|taken| taken & !loose == 0) {
        for table in world.table.durable..=world.table.len() {
            for quarantine in world.quarantine.durable..=world.quarantine.len() {
                let mut next = *world;
                next.faults.power_cuts -= 1;
                cut(&mut next.offsets, taken & 1 != 0);
                cut(&mut next.outcomes, taken & 2 != 0);
                cut(&mut next.marks, taken & 4 != 0);
                cut_log(&mut next.table, table);
                cut_log(&mut next.quarantine, quarantine);
                for i in 0..next.hosts.len() as u8 {
                    if next.hosts[i as usize].runs() {
                        next.leave(i, Pc::Down);
                    }
                }
                out.push((Action::PowerCut, next));
            }
        }
    }
}

fn is_loose<T>(entries: &Entries<T>) -> bool {
    entries.iter().flatten().any(|entry| !entry.durable)
}

/// What survives a power cut is on the disk.
fn cut<T>(entries: &mut Entries<T>, taken: bool) {
    for entry in entries {
        if taken && entry.as_ref().is_some_and(|e| !e.durable) {
            *entry = None;
        }
        if let Some(entry) = entry {
            entry.durable = true;
        }
    }
}

fn cut_log(log: &mut Log, len: u8) {
    log.truncate(len);
    log.durable = len;
}

impl World {
    fn with(&self, i: u8, host: Host) -> Self {
        let mut next = *self;
        next.hosts[i as usize] = host;
        next
    }

    /// The run ends; what it wrote belongs to nobody who lives.
    fn leave(&mut self, i: u8, pc: Pc) {
        self.hosts[i as usize] = Host::resting(pc);
        disown(&mut self.offsets, i);
        disown(&mut self.outcomes, i);
        disown(&mut self.marks, i);
    }

    fn settle_entries(&mut self) {
        settle(&mut self.offsets);
        settle(&mut self.outcomes);
        settle(&mut self.marks);
    }

    /// One phase of a step.
    fn act(&mut self, guards: Guards, i: u8, step: Step, phase: Phase) {
        let host = self.hosts[i as usize];
        match step {
            Step::CommitQuarantine | Step::CommitTable => self.commit(guards, i, step, phase),
            Step::LogRange => {
                let put = put(&mut self.offsets, &host, i, host.end, phase, guards);
                self.after_put(guards, i, step, put);
            }
            Step::LogOutcome => {
                let bound = Bound { accepted: host.accepted, rejected: host.rejected };
                let put = put(&mut self.outcomes, &host, i, bound, phase, guards);
                self.after_put(guards, i, step, put);
            }
            Step::Mark => {
                let put = put(&mut self.marks, &host, i, (), phase, guards);
                self.after_put(guards, i, step, put);
            }
            Step::Plan | Step::WriteFiles => unreachable!("they have choices"),
        }
    }

    fn after_put(&mut self, guards: Guards, i: u8, step: Step, put: Put) {
        match put {
            Put::Visible => self.hosts[i as usize].pc = Pc::At(step, Phase::Sync),
            Put::Done => self.follow(guards, i, step),
            Put::Held => self.leave(i, Pc::Stopped),
        }
    }

    fn commit(&mut self, guards: Guards, i: u8, step: Step, phase: Phase) {
        let mut host = self.hosts[i as usize];
        let (log, rows) = match step {
            Step::CommitQuarantine => (&mut self.quarantine, host.rejected),
            _ => (&mut self.table, host.accepted),
        };
        let batch = i64::from(host.batch);
        match phase {
            Phase::Snapshot if guards.transaction_check && log.transaction().is_some_and(|held| held >= batch) => {
                if guards.settle {
                    log.durable = log.len();
                }
                return self.follow(guards, i, step);
            }
            Phase::Snapshot => {
                host.snapshot = log.len();
                host.pc = Pc::At(step, Phase::Act);
            }
            Phase::Act if guards.tied_commit && log.len() != host.snapshot => {
                host.snapshot = 0;
                host.pc = Pc::At(step, Phase::Snapshot);
            }
            Phase::Act => {
                log.push(Commit { batch: Some(host.batch), rows });
                host.snapshot = 0;
                host.pc = Pc::At(step, Phase::Sync);
            }
            Phase::Sync => {
                if guards.sync_tables {
                    log.durable = log.len();
                }
                return self.follow(guards, i, step);
            }
        }
        self.hosts[i as usize] = host;
    }

    /// Goes to the step after one that is done.
    fn follow(&mut self, guards: Guards, i: u8, step: Step) {
        let host = &mut self.hosts[i as usize];
        host.snapshot = 0;
        let planned = Host { batch: host.batch + 1, start: host.end, end: host.end, ..Host::resting(host.pc) };
        let following = match step {
            Step::Plan => Step::LogRange,
            Step::LogRange => Step::WriteFiles,
            Step::WriteFiles => Step::LogOutcome,
            Step::LogOutcome => first_commit(host, guards),
            Step::CommitQuarantine if guards.mark_last => Step::CommitTable,
            Step::CommitTable if guards.mark_last => Step::Mark,
            Step::CommitQuarantine => Step::Mark,
            Step::Mark if !guards.mark_last => Step::CommitTable,
            Step::CommitTable | Step::Mark => {
                *host = planned;
                Step::Plan
            }
        };
        host.pc = first_phase(following);
    }
}

enum Put {
    /// Written, not durable yet.
    Visible,
    /// Ours, and durable.
    Done,
    /// Another run's.
    Held,
}

/// Put-if-absent. What exists is made durable before it is reported, and read back before it is believed.
fn put<T: Copy>(entries: &mut Entries<T>, host: &Host, i: u8, value: T, phase: Phase, guards: Guards) -> Put {
    let entry = &mut entries[host.batch as usize];
    match entry {
        None => {
            *entry = Some(Entry { owner: Owner::Host(i), value, durable: false });
            Put::Visible
        }
        Some(found) => {
            if guards.sync_entries {
                found.durable = true;
            }
            match phase {
                Phase::Sync => Put::Done,
                _ if found.owner == Owner::Host(i) || !guards.read_back => Put::Done,
                _ => Put::Held,
            }
        }
    }
}

fn settle<T>(entries: &mut Entries<T>) {
    entries.iter_mut().flatten().for_each(|entry| entry.durable = true);
}

fn disown<T>(entries: &mut Entries<T>, i: u8) {
    for entry in entries.iter_mut().flatten().filter(|entry| entry.owner == Owner::Host(i)) {
        entry.owner = Owner::Gone;
    }
}
