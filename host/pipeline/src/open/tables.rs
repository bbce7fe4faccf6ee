//! A stream's table and quarantine: found as they lie there, made only when nothing else is in the stream's way.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use crisol_stage::{Chain, Origins, quarantine_schema};
use crisol_store::Store;
use crisol_table::{KeepFiles, Table, TableError, TableSpec, TableWriter, WriteMode};

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

/// The table of a stream, for slices of it to be replaced; `None` when there is none.
pub(super) async fn find_table_to_renew(plan: &StreamPlan, chain: &Chain) -> Result<Option<Table>, TableError> {
    find(&renewed_table_spec(plan, chain)).await
}

/// The table of a stream, as slices of it are replaced.
pub(super) struct RenewedTable {
    pub(super) plan: StreamPlan,
    pub(super) chain: Arc<Chain>,
    /// Where the streams below find what is written.
    pub(super) keeper: Option<Arc<dyn KeepFiles>>,
}

#[async_trait]
impl crisol_stream::Opener for RenewedTable {
    async fn find(&self) -> Result<Option<Arc<dyn TableWriter>>, TableError> {
        let Some(table) = find_table_to_renew(&self.plan, &self.chain).await? else { return Ok(None) };
        Ok(Some(Arc::new(match &self.keeper {
            Some(keeper) => table.handing_over(keeper.clone()),
            None => table,
        })))
    }

    /// It is there: its stream made it.
    async fn open_or_create(&self) -> Result<Arc<dyn TableWriter>, TableError> {
        let gone =
            || TableError::External { table: self.plan.table.name.clone(), what: "it is gone".into(), source: None };
        self.find().await?.ok_or_else(gone)
    }
}

/// The quarantine of a stream, as slices of it are replaced.
pub(super) struct RenewedQuarantine {
    pub(super) plan: StreamPlan,
    pub(super) origins: Origins,
}

#[async_trait]
impl crisol_stream::Opener for RenewedQuarantine {
    async fn find(&self) -> Result<Option<Arc<dyn TableWriter>>, TableError> {
        let table = find(&renewed_quarantine_spec(&self.plan, self.origins)).await?;
        Ok(table.map(|table| Arc::new(table) as Arc<dyn TableWriter>))
    }

    async fn open_or_create(&self) -> Result<Arc<dyn TableWriter>, TableError> {
        Ok(Arc::new(make(&renewed_quarantine_spec(&self.plan, self.origins)).await?))
    }
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

fn renewed_table_spec(plan: &StreamPlan, chain: &Chain) -> TableSpec {
    let spec = table_spec(plan, chain);
    let (named_by, newest_by) = match &spec.write {
        WriteMode::Upsert { keys, sequence_by, position } => (keys.clone(), [&sequence_by[..], position].concat()),
        WriteMode::ReplaceGroups { group_by } => (group_by.clone(), Vec::new()),
        WriteMode::ReplacePartitions => (spec.partition_by.clone(), Vec::new()),
        _ => (Origins::of_input(&chain.input_schema()).columns(), Vec::new()),
    };
    TableSpec { write: WriteMode::ReplaceNamed { named_by, newest_by, apart_from: Vec::new(), told: true }, ..spec }
}

/// A row that is refused again as it was stays as it is, whichever batch refused it.
fn renewed_quarantine_spec(plan: &StreamPlan, origins: Origins) -> TableSpec {
    let write = WriteMode::ReplaceNamed {
        named_by: origins.columns(),
        newest_by: Vec::new(),
        apart_from: ["batch", "batch_timestamp"].map(str::to_owned).to_vec(),
        told: false,
    };
    TableSpec { write, ..quarantine_spec(plan) }
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
