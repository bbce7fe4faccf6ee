//! The memory of one instance against that of all of them.

use super::Contracts;
use crate::problem::Code;
use crate::read::Report;

/// No instance may use more than all together; where the host's total is not said it follows the stages.
pub(super) fn check(contracts: &Contracts<'_>, total: Option<u64>, report: &Report) {
    let Some(total) = total else { return };
    for table in &contracts.tables {
        for (at, stage) in table.contract.stages.iter().enumerate() {
            let own = stage.limits.memory_bytes_max;
            if own <= total {
                continue;
            }
            let message = format!("one instance may use {own} bytes, more than the {total} of all instances together");
            let problem = table.problem(&format!("stages[{at}].limits.memory_bytes_max"), Code::Conflict, message);
            report.push(problem.hinting("lower it, or raise `limits.total_memory_bytes_max` of crisol.toml"));
        }
    }
}
