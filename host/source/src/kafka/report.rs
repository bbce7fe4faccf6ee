//! Tells a consumer group how far the stream is, so that usual lag monitors see it. The group is never asked.

use std::sync::{Mutex, PoisonError};

use crisol_checkpoint::KafkaPosition;
use crisol_contract::KafkaSpec;
use rdkafka::{Offset, TopicPartitionList};

use super::client::Broker;
use super::config::Role;
use super::limit::entries;

/// Reports to one group.
pub(super) struct Reporter {
    group: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    broker: Option<Broker>,
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
        let mut list = TopicPartitionList::new();
        for (topic, partition, at) in entries(positions) {
            list.add_partition_offset(topic, partition, Offset::Offset(at)).map_err(|error| error.to_string())?;
        }
        if list.count() == 0 {
            return Ok(());
        }
        let broker = match state.broker.take() {
            Some(broker) => broker,
            None => Broker::connect(spec, Role::Reporter { group: &self.group }).map_err(|error| error.to_string())?,
        };
        let result = broker.report(&list).map_err(|error| error.to_string());
        state.broker = Some(broker);
        result
    }
}
