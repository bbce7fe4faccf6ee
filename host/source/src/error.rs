//! Why a source could not do what was asked.

/// Why a source could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The contract asks for something that does not hold (missing topic, no such folder, wrong position).
    #[error("{what}")]
    Config {
        /// What is wrong, naming topic, partition or path.
        what: String,
        /// What a person can do.
        hint: String,
    },
    /// Rows that should be read are gone (K-065, K-012, D-127).
    #[error("data loss: {what}")]
    DataLoss {
        /// Topic, partition, from, until, earliest; or table and version.
        what: String,
        /// What a person can do.
        hint: String,
    },
    /// A row or file cannot be read at all.
    #[error("{what}")]
    Data {
        /// File and row, or partition and offset, and why.
        what: String,
        /// What a person can do, where more is known than `what` says.
        hint: Option<String>,
    },
    /// Another host writes to the same checkpoint; this one must stop.
    #[error("{what}")]
    Concurrent {
        /// Which entry was taken.
        what: String,
    },
    /// Broker, disk or store did not answer; the same call may succeed later.
    #[error("{what}")]
    External {
        /// What was tried, for how long, and what came back.
        what: String,
        /// The error below.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

impl SourceError {
    /// What a person can do, where there is something to say.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Config { hint, .. } | Self::DataLoss { hint, .. } => Some(hint),
            Self::Data { hint, .. } => hint.as_deref(),
            _ => None,
        }
    }

    pub(crate) fn config(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Config { what: what.into(), hint: hint.into() }
    }

    pub(crate) fn data_loss(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::DataLoss { what: what.into(), hint: hint.into() }
    }

    pub(crate) fn data(what: impl Into<String>) -> Self {
        Self::Data { what: what.into(), hint: None }
    }

    pub(crate) fn data_with(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Data { what: what.into(), hint: Some(hint.into()) }
    }

    pub(crate) fn external(what: impl Into<String>) -> Self {
        Self::External { what: what.into(), source: None }
    }

    /// The text of the error below is part of `what`, since not every reader of an error follows its sources.
    pub(crate) fn caused(
        what: impl std::fmt::Display,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let cause = cause.into();
        Self::External { what: format!("{what}: {cause}"), source: Some(cause) }
    }
}
