//! What can go wrong with a table, and where.

/// Why a table could not be opened, written or committed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// What lies at the path is not this table (other columns, other partitioning, foreign features, no Delta table).
    #[error("table `{table}` at `{path}`: {what}")]
    Mismatch {
        /// Contract's name.
        table: String,
        /// Where.
        path: String,
        /// What differs.
        what: String,
        /// What a person can do.
        hint: String,
    },
    /// Rows cannot be stored as they are.
    #[error("table `{table}`: {what}")]
    Data {
        /// Contract's name.
        table: String,
        /// Which rows, and why.
        what: String,
    },
    /// Store or log did not do as asked; the state is as it was, or unknown and found out on the next try.
    #[error("table `{table}`: {what}")]
    External {
        /// Contract's name.
        table: String,
        /// What was tried.
        what: String,
        /// The error below.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

/// Which table an error is about.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) table: String,
    pub(crate) path: String,
}

impl Place {
    pub(crate) fn mismatch(&self, what: impl Into<String>, hint: impl Into<String>) -> TableError {
        TableError::Mismatch {
            table: self.table.clone(),
            path: self.path.clone(),
            what: what.into(),
            hint: hint.into(),
        }
    }

    pub(crate) fn data(&self, what: impl Into<String>) -> TableError {
        TableError::Data { table: self.table.clone(), what: what.into() }
    }

    pub(crate) fn unwritten(&self, source: serde_json::Error) -> TableError {
        self.external("cannot write the text of its commit", source)
    }

    pub(crate) fn external(
        &self,
        what: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> TableError {
        TableError::External { table: self.table.clone(), what: what.into(), source: Some(source.into()) }
    }
}
