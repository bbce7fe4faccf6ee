//! How components are started; one instantiation, and calls of it on rows.

mod groups;

use wasmtime::Store;
use wasmtime::component::{InstancePre, ResourceAny};

use crate::Kind;
use crate::bindings::{
    Column, Grouping, GroupingPre, Judging, JudgingPre, Message, Output, Transforming, TransformingPre,
};
use crate::failure::Stop;
use crate::output::Answer;
use crate::state::State;

/// A component that is ready to be instantiated.
pub(crate) enum Blueprint {
    /// Kinds that work on rows.
    Rows(RowBlueprint),
    /// Rankers and aggregators.
    Groups(GroupingPre<State>),
}

/// A row component that is ready to be instantiated.
pub(crate) enum RowBlueprint {
    /// Decoders and transformers.
    Transform(TransformingPre<State>),
    /// Validators.
    Verdicts(JudgingPre<State>),
}

impl Blueprint {
    pub(crate) fn new(kind: Kind, pre: &InstancePre<State>) -> wasmtime::Result<Self> {
        let pre = pre.clone();
        Ok(match kind {
            Kind::Decoder | Kind::Transformer => Self::Rows(RowBlueprint::Transform(TransformingPre::new(pre)?)),
            Kind::Validator => Self::Rows(RowBlueprint::Verdicts(JudgingPre::new(pre)?)),
            Kind::Ranker | Kind::Aggregator => Self::Groups(GroupingPre::new(pre)?),
        })
    }
}

impl std::fmt::Debug for Blueprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Rows(RowBlueprint::Transform(_)) => "Transform",
            Self::Rows(RowBlueprint::Verdicts(_)) => "Verdicts",
            Self::Groups(_) => "Group",
        })
    }
}

/// What a session is opened with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening<'a> {
    pub(crate) options: &'a str,
    pub(crate) input: &'a [Column],
    pub(crate) timestamp_us: i64,
}

enum Guest {
    Transform(Transforming),
    Verdicts(Judging),
    Groups(Grouping),
}

/// A store, the instance in it, and the session that is open in the instance.
pub(crate) struct Instance {
    pub(crate) store: Store<State>,
    guest: Option<Guest>,
    session: Option<(ResourceAny, i64)>,
    pub(crate) calls: u32,
}

impl Instance {
    /// An empty store: the instance is made by the first call, under its limits.
    pub(crate) fn new(store: Store<State>) -> Self {
        Self { store, guest: None, session: None, calls: 0 }
    }

    /// One message, one answer. After an error the instance is not to be used again.
    pub(crate) fn call(
        &mut self,
        blueprint: &RowBlueprint,
        opening: Opening<'_>,
        message: &Message,
    ) -> Result<Answer, Stop> {
        self.calls += 1;
        let guest = match self.guest.take() {
            Some(guest) => guest,
            None => instantiate(blueprint, &mut self.store)?,
        };
        let session = self.open(&guest, opening)?;
        let answer = push(&guest, &mut self.store, session, message)?;
        self.guest = Some(guest);
        Ok(answer)
    }

    /// The session of this batch; that of another batch is closed.
    fn open(&mut self, guest: &Guest, opening: Opening<'_>) -> Result<ResourceAny, Stop> {
        if let Some((session, timestamp_us)) = self.session.take() {
            if timestamp_us == opening.timestamp_us {
                self.session = Some((session, timestamp_us));
                return Ok(session);
            }
            session.resource_drop(&mut self.store)?;
        }
        let Opening { options, input, timestamp_us } = opening;
        let store = &mut self.store;
        let session = match guest {
            Guest::Transform(guest) => {
                guest.crisol_stage_transform().session().call_open(store, options, input, timestamp_us)??
            }
            Guest::Verdicts(guest) => {
                guest.crisol_stage_verdicts().session().call_open(store, options, input, timestamp_us)??
            }
            Guest::Groups(_) => return Err(no_rows()),
        };
        self.session = Some((session, timestamp_us));
        Ok(session)
    }
}

fn instantiate(blueprint: &RowBlueprint, store: &mut Store<State>) -> wasmtime::Result<Guest> {
    Ok(match blueprint {
        RowBlueprint::Transform(pre) => Guest::Transform(pre.instantiate(store)?),
        RowBlueprint::Verdicts(pre) => Guest::Verdicts(pre.instantiate(store)?),
    })
}

fn push(guest: &Guest, store: &mut Store<State>, session: ResourceAny, message: &Message) -> Result<Answer, Stop> {
    match guest {
        Guest::Transform(guest) => {
            let Output { rows, rejected } =
                guest.crisol_stage_transform().session().call_push(store, session, message)??;
            Ok(Answer { rows: Some(rows), rejected })
        }
        Guest::Verdicts(guest) => {
            let rejected = guest.crisol_stage_verdicts().session().call_check(store, session, message)??;
            Ok(Answer { rows: None, rejected })
        }
        Guest::Groups(_) => Err(no_rows()),
    }
}

fn no_rows() -> Stop {
    wasmtime::format_err!("a component for groups is at work, not one for rows").into()
}

impl std::fmt::Debug for Instance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Instance").field("calls", &self.calls).finish_non_exhaustive()
    }
}
