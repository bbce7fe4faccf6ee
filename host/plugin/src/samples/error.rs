//! Why a sample does not hold.

use crate::{CallError, PluginError};

/// Differences that a message names; the others are counted.
const DIFFERENCES_SHOWN: usize = 5;

/// Why a sample does not hold.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SampleFault {
    /// It cannot be given to a component of this kind, or its values do not fit its types.
    #[error("cannot be run: {what}")]
    Wrong {
        /// Which key, and what is wrong.
        what: String,
    },
    /// The component refuses its options or its columns.
    #[error("cannot be run: {0}")]
    Refused(PluginError),
    /// The component trapped, broke a limit or failed.
    #[error("fails: {0}")]
    Failed(CallError),
    /// Something else came out.
    #[error("does not hold: {}", text(.0))]
    Differs(Vec<Difference>),
    /// It holds, but all samples together took too long.
    #[error("is not done in time: all samples of a component together may take {limit_seconds} s")]
    Slow {
        /// The limit.
        limit_seconds: u64,
    },
}

/// One thing that came out otherwise; safe to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where in the sample: `given[1]`, `expect.rows[0].amount`.
    pub place: String,
    /// What should have come.
    pub expected: String,
    /// What came.
    pub got: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { place, expected, got } = self;
        write!(f, "`{place}`: expected {expected}, got {got}")
    }
}

fn text(differences: &[Difference]) -> String {
    let mut texts: Vec<String> = differences.iter().take(DIFFERENCES_SHOWN).map(ToString::to_string).collect();
    match differences.len() - texts.len() {
        0 => {}
        more => texts.push(format!("and {more} more")),
    }
    texts.join("; ")
}
