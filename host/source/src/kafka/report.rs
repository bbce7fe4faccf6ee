//! Tells a consumer group how far the stream is, so that usual lag monitors see it. The group is never asked.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crisol_checkpoint::KafkaPosition;
use crisol_contract::KafkaSpec;
use rdkafka::consumer::{CommitMode, Consumer};
use rdkafka::error::KafkaResult;
use rdkafka::{Offset, TopicPartitionList};

use super::client::Broker;
use super::config::Role;
use super::limit::entries;

/// How long a batch waits for the answer; a later one tells more anyway.
const WAIT: Duration = Duration::from_secs(1);

/// Reports to one group.
pub(super) struct Reporter {
    group: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    broker: Option<Arc<Broker>>,
    /// The answer to a report that did not come in time.
    late: Option<Receiver<KafkaResult<()>>>,
    /// Whether a failure was told: monitoring that does not work is no reason to stop, nor to say so for each batch.
    told: bool,
}

impl Reporter {
    pub(super) fn new(group: String) -> Self {
        Self { group, state: Mutex::default() }
    }

    /// Commits the positions to the group, which must have no members of its own.
    pub(super) fn report(&self, spec: &KafkaSpec, positions: &KafkaPosition) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match self.try_report(&mut state, spec, positions) {
            Ok(()) => state.told = false,
            Err(reason) if !state.told => {
                state.told = true;
                tracing::warn!(group = self.group, "positions could not be reported to the consumer group: {reason}");
            }
            Err(_) => {}
        }
    }

    fn try_report(&self, state: &mut State, spec: &KafkaSpec, positions: &KafkaPosition) -> Result<(), String> {
        let list = listed(positions).map_err(|error| error.to_string())?;
        if list.count() == 0 {
            return Ok(());
        }
        if let Some(late) = &state.late
            && matches!(late.try_recv(), Err(TryRecvError::Empty))
        {
            return Err("the broker has not answered the last report yet".into());
        }
        state.late = None;
        let broker = match &state.broker {
            Some(broker) => Arc::clone(broker),
            None => {
                let made = Broker::connect(spec, Role::Reporter { group: &self.group });
                let made = Arc::new(made.map_err(|error| error.to_string())?);
                state.broker = Some(Arc::clone(&made));
                made
            }
        };
        let answer = commit(broker, list);
        match answer.recv_timeout(WAIT) {
            Ok(result) => result.map_err(|error| error.to_string()),
            Err(RecvTimeoutError::Timeout) => {
                state.late = Some(answer);
                Err(format!("no answer within {} s", WAIT.as_secs()))
            }
            Err(RecvTimeoutError::Disconnected) => Err("the reporting thread ended".into()),
        }
    }
}

/// librdkafka's commit has no deadline of its own, so it waits on a thread that nobody has to wait for.
fn commit(broker: Arc<Broker>, positions: TopicPartitionList) -> Receiver<KafkaResult<()>> {
    let (send, answer) = channel();
    std::thread::spawn(move || {
        // Whoever asked may have gone.
        let _ = send.send(broker.consumer().commit(&positions, CommitMode::Sync));
    });
    answer
}

fn listed(positions: &KafkaPosition) -> KafkaResult<TopicPartitionList> {
    let mut list = TopicPartitionList::new();
    for (topic, partition, at) in entries(positions) {
        list.add_partition_offset(topic, partition, Offset::Offset(at))?;
    }
    Ok(list)
}
