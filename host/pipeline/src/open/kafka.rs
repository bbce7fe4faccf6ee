//! The name that a Kafka client bears at the broker.

use crisol_checkpoint::Checkpoint;
use crisol_contract::KafkaSpec;
use sha2::{Digest, Sha256};

use crate::plan::StreamPlan;

const PREFIX: &str = "crisol-kafka-source";

/// The source with a consumer group of this run's own, as Spark names them, where no group is named (K-094). Nothing joins
/// the group: its name is for the broker's rules and logs.
pub(super) fn with_group(kafka: &KafkaSpec, plan: &StreamPlan, checkpoint: &Checkpoint) -> KafkaSpec {
    let mut kafka = kafka.clone();
    let prefix = kafka.group_id_prefix.as_deref().unwrap_or(PREFIX);
    let folder = Sha256::digest(plan.checkpoint.to_string_lossy().as_bytes());
    let hash: String = folder.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let group = format!("{prefix}-{}-{hash}-executor", checkpoint.run_id());
    kafka.client.entry("group.id".into()).or_insert(group);
    kafka
}
