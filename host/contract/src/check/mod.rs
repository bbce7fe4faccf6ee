//! Checks across contracts, and of one table contract as a whole. Contracts may still be faulty here: a check stays
//! silent about what was reported when they were read.

mod columns;
mod links;
mod memory;
mod modes;
mod places;

use std::path::PathBuf;

use crate::ingestion::{IngestionContract, SourceSpec};
use crate::placeholder::Lookup;
use crate::problem::{Code, Problem};
use crate::project::Paths;
use crate::read::Report;
use crate::table::{TableContract, Upstream};
use crate::text::File;

/// A contract that was read, its file, and for ingestion contracts where it points to.
#[derive(Debug)]
pub(crate) struct Parsed<'a, T> {
    pub(crate) contract: T,
    pub(crate) file: &'a File,
    pub(crate) destination: Option<PathBuf>,
}

/// All contracts.
#[derive(Debug)]
pub(crate) struct Contracts<'a> {
    pub(crate) ingestions: Vec<Parsed<'a, IngestionContract>>,
    pub(crate) tables: Vec<Parsed<'a, TableContract>>,
    /// Files of table contracts that could not be read: what points to them is not wrong for that.
    pub(crate) unread: Vec<PathBuf>,
}

impl<T> Parsed<'_, T> {
    fn problem(&self, key: &str, code: Code, message: impl Into<String>) -> Problem {
        self.file.problem(key, code, message)
    }
}

impl Contracts<'_> {
    fn table(&self, name: &str) -> Option<&TableContract> {
        self.tables.iter().map(|table| &table.contract).find(|table| table.name == name)
    }

    fn source(&self, ingestion: &str) -> Option<&SourceSpec> {
        let mut all = self.ingestions.iter().map(|ingestion| &ingestion.contract);
        all.find(|contract| contract.name == ingestion).map(|contract| &contract.source)
    }

    /// The source at the top of a table's chain and whether its provenance still reaches the table's input.
    fn root_source(&self, table: &TableContract) -> Option<(&SourceSpec, bool)> {
        let (mut table, mut reaches) = (table, true);
        for _ in 0..=self.tables.len() {
            match &table.from {
                Upstream::Ingestion(name) => return self.source(name).map(|source| (source, reaches)),
                Upstream::Table(name) => table = self.table(name)?,
                Upstream::External(_) | Upstream::None => return None,
            }
            reaches &= table.keeps_provenance();
        }
        None
    }
}

/// Links contracts to each other and checks them; the tables end up upstream before downstream.
/// `memory` is what all instances of components together may use, where that is said.
pub(crate) fn check(
    contracts: &mut Contracts<'_>,
    paths: &Paths,
    memory: Option<u64>,
    lookup: &dyn Lookup,
    report: &Report,
) {
    links::names(contracts, report);
    links::destinations(contracts, report);
    links::upstreams(contracts, report);
    links::order(contracts, report);
    places::checkpoints(contracts, paths, report);
    places::overlaps(contracts, paths, lookup, report);
    columns::check(contracts, report);
    modes::check(contracts, report);
    memory::check(contracts, memory, report);
    for table in &contracts.tables {
        for (key, message) in crate::unsupported::unsupported(&table.contract) {
            report.push(table.problem(&key, Code::NotSupported, message));
        }
    }
}
