//! A stream's table and quarantine: found as they lie there, made only when nothing else is in the stream's way.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use crisol_stage::{Chain, quarantine_schema};
use crisol_store::Store;
use crisol_table::{Table, TableError, TableSpec, TableWriter, WriteMode};

use crate::error;
use crate::plan::{PROVENANCE, StreamPlan};

/// The table of a stream, if there is one.
pub(super) async fn find_table(plan: &StreamPlan, chain: &Chain) -> Result<Option<Table>, TableError> {
    find(&table_spec(plan, chain)).await
}

/// The table of a stream; it is made when there is none.
pub(super) async fn make_table(plan: &StreamPlan, chain: &Chain) -> Result<Table, TableError> {
    make(&table_spec(plan, chain)).await
}

/// The quarantine of a stream, if there is one.
pub(super) async fn find_quarantine(plan: &StreamPlan) -> Result<Option<Table>, TableError> {
    find(&quarantine_spec(plan)).await
}

/// The quarantine of a stream, for rows to leave it; `None` when there is none.
pub(super) async fn find_quarantine_to_empty(plan: &StreamPlan) -> Result<Option<Table>, TableError> {
    find(&TableSpec { write: WriteMode::TakeOut, ..quarantine_spec(plan) }).await
}

/// The quarantine of a stream, as its stream reaches it.
pub(super) struct Quarantine(pub(super) StreamPlan);

#[async_trait]
impl crisol_stream::Opener for Quarantine {
    async fn find(&self) -> Result<Option<Arc<dyn TableWriter>>, TableError> {
        let table = find_quarantine(&self.0).await?;
        Ok(table.map(|table| Arc::new(table) as Arc<dyn TableWriter>))
    }

    async fn open_or_create(&self) -> Result<Arc<dyn TableWriter>, TableError> {
        Ok(Arc::new(make(&quarantine_spec(&self.0)).await?))
    }
}

async fn find(spec: &TableSpec) -> Result<Option<Table>, TableError> {
    // Opening a store makes its folder.
    if !Path::new(&spec.path).exists() {
        return Ok(None);
    }
    Table::open(spec, &store(spec)?).await
}

async fn make(spec: &TableSpec) -> Result<Table, TableError> {
    Table::open_or_create(spec, &store(spec)?).await
}

fn store(spec: &TableSpec) -> Result<Store, TableError> {
    crisol_store::open(&spec.path).map_err(|source| error::no_table_folder(&spec.name, source))
}

fn table_spec(plan: &StreamPlan, chain: &Chain) -> TableSpec {
    let table = &plan.table;
    TableSpec {
        name: table.name.clone(),
        path: table.path.clone(),
        schema: chain.table_schema(),
        partition_by: table.partition_by.clone(),
        write: write_mode(&table.write, chain),
        properties: table.properties.clone(),
    }
}

fn quarantine_spec(plan: &StreamPlan) -> TableSpec {
    TableSpec {
        name: format!("{}_quarantine", plan.table.name),
        path: plan.table.quarantine_path.clone(),
        schema: quarantine_schema(),
        partition_by: Vec::new(),
        write: WriteMode::Append,
        properties: BTreeMap::new(),
    }
}

/// The write mode of a contract, as the table room has it. Equal sequences are decided by the provenance that the table
/// keeps.
fn write_mode(write: &crisol_contract::WriteMode, chain: &Chain) -> WriteMode {
    use crisol_contract::WriteMode as Contract;
    match write {
        Contract::Append => WriteMode::Append,
        Contract::ReplacePartitions => WriteMode::ReplacePartitions,
        Contract::Upsert { keys, sequence_by, .. } => {
            let schema = chain.table_schema();
            let position = PROVENANCE.iter().filter(|name| schema.index_of(name).is_ok());
            WriteMode::Upsert {
                keys: keys.clone(),
                sequence_by: sequence_by.clone(),
                position: position.map(|name| (*name).to_owned()).collect(),
            }
        }
        Contract::ReplaceGroups { group_by } => WriteMode::ReplaceGroups { group_by: group_by.clone() },
    }
}
