//! What can go wrong in this room.

/// Why a chunk could not be worked on, or a chain not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StageError {
    /// The component trapped, ran out of a limit, or returned what does not hold.
    #[error("stage `{stage}`: component `{component}` ({digest}): {what}")]
    Plugin {
        /// Which stage.
        stage: String,
        /// Name and version of the component.
        component: String,
        /// Its digest.
        digest: String,
        /// The trap, limit (with its value and how to raise it) or wrong answer, with the guest's own words.
        what: String,
    },
    /// A rule with `on_violation: fail`, a rule that cannot be evaluated, or `on_rejected: fail`.
    #[error("stage `{stage}`: {what}")]
    Refused {
        /// Which stage or rule.
        stage: String,
        /// The row and the reason.
        what: String,
    },
    /// A [`Condition`](crate::Condition) cannot be evaluated for a row.
    #[error("the condition `{text}` cannot be evaluated: {what}")]
    Condition {
        /// The condition.
        text: String,
        /// What went wrong.
        what: String,
    },
    /// The contract asks for what cannot be. Only [`Chain::build`](crate::Chain::build) gives it.
    #[error("`{key}`: {what}")]
    Config {
        /// Path of the key in the table contract, `expectations[0].condition`.
        key: String,
        /// What is wrong.
        what: String,
        /// What a person can do.
        hint: String,
    },
    /// A defect of the host.
    #[error("internal error in stage `{stage}`: {what}")]
    Internal {
        /// Which stage.
        stage: String,
        /// What was found.
        what: String,
    },
}

impl StageError {
    /// A problem at a key of the contract.
    pub(crate) fn config(key: impl Into<String>, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Config { key: key.into(), what: what.into(), hint: hint.into() }
    }

    /// What should not be possible.
    pub(crate) fn internal(stage: &str, what: impl std::fmt::Display) -> Self {
        Self::Internal { stage: stage.to_owned(), what: what.to_string() }
    }

    /// The same error, saying which rows were worked on.
    pub(crate) fn at_rows(self, rows: &str) -> Self {
        match self {
            Self::Plugin { stage, component, digest, what } => {
                Self::Plugin { stage, component, digest, what: format!("{what} ({rows})") }
            }
            Self::Refused { stage, what } => Self::Refused { stage, what: format!("{what} ({rows})") },
            Self::Internal { stage, what } => Self::Internal { stage, what: format!("{what} ({rows})") },
            other @ (Self::Config { .. } | Self::Condition { .. }) => other,
        }
    }
}
