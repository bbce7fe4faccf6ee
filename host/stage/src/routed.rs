//! A stage with several components, each for its own schema versions: rows are split by version, each part goes to the
//! component that handles it, and what comes back is put into the order of the input again.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use arrow_select::interleave::interleave_record_batch;
use arrow_select::take::take_record_batch;
use crisol_plugin::SchemaVersions;

use crate::component::written_over;
use crate::version::{Found, Place};
use crate::{
    BatchContext, ComponentId, ComponentStage, Fate, Given, Rejection, RowWorker, Stage, StageError, StageOutput,
};

/// A component, and the schema versions that it handles.
#[derive(Debug, Clone)]
pub struct Route {
    /// Which versions.
    pub versions: SchemaVersions,
    /// What works on them.
    pub worker: Arc<dyn RowWorker>,
}

/// The stage.
#[derive(Debug)]
pub(crate) struct RoutedStage {
    name: String,
    place: Place,
    /// In the order in which they are asked: the first that handles a version gets it.
    routes: Vec<(SchemaVersions, ComponentStage)>,
    schema: SchemaRef,
}

/// Columns that any of the components gives. One that only some give can be null.
///
/// # Errors
/// Two components give a column as different types.
pub(crate) fn writes_of(routes: &[Route]) -> Result<SchemaRef, String> {
    let mut all: Vec<Arc<Field>> = Vec::new();
    for route in routes {
        let writes = route.worker.writes();
        for field in writes.fields() {
            match all.iter_mut().find(|known| known.name() == field.name()) {
                None => all.push(Arc::clone(field)),
                Some(known) if known.data_type() == field.data_type() => {
                    *known = Arc::new(known.as_ref().clone().with_nullable(known.is_nullable() || field.is_nullable()));
                }
                Some(known) => {
                    return Err(format!(
                        "its versions give column `{}` as `{}` and as `{}`",
                        field.name(),
                        known.data_type(),
                        field.data_type()
                    ));
                }
            }
        }
    }
    let everywhere =
        |field: &Arc<Field>| routes.iter().all(|route| route.worker.writes().field_with_name(field.name()).is_ok());
    let nullable = |field: Arc<Field>| {
        if everywhere(&field) { field } else { Arc::new(field.as_ref().clone().with_nullable(true)) }
    };
    Ok(Arc::new(Schema::new(all.into_iter().map(nullable).collect::<Vec<_>>())))
}

impl RoutedStage {
    /// A stage named `name` over rows of `input`; columns that `keeps` refuses do not come out.
    ///
    /// # Errors
    /// What does not hold; a contract's check finds it before.
    pub(crate) fn new(
        name: &str,
        place: Place,
        routes: &[Route],
        input: &Schema,
        keeps: impl Fn(&str) -> bool,
    ) -> Result<Self, String> {
        let all = written_over(input, writes_of(routes)?.as_ref());
        let kept = all.fields().iter().filter(|field| keeps(field.name())).cloned().collect::<Vec<_>>();
        let stages = routes.iter().map(|route| {
            let stage = ComponentStage::new(name, Arc::clone(&route.worker), input, &keeps)?;
            Ok((route.versions, stage))
        });
        let routes = stages.collect::<Result<_, String>>()?;
        Ok(Self { name: name.to_owned(), place, routes, schema: Arc::new(Schema::new(kept)) })
    }

    /// Rows by route, and those that none takes.
    fn split(&self, rows: &RecordBatch) -> Result<(Vec<Vec<u32>>, Vec<Rejection>), ArrowError> {
        let mut parts = vec![Vec::new(); self.routes.len()];
        let mut rejected = Vec::new();
        for (row, found) in (0_u32..).zip(self.place.read(rows)?) {
            match self.route(found) {
                Ok(route) => {
                    if let Some(part) = parts.get_mut(route) {
                        part.push(row);
                    }
                }
                Err((code, text)) => rejected.push(Rejection {
                    row,
                    fate: Fate::Quarantine,
                    code: code.into(),
                    text: text.into(),
                    component: None,
                }),
            }
        }
        Ok((parts, rejected))
    }

    fn route(&self, found: Found) -> Result<usize, (&'static str, String)> {
        match found {
            Found::Version(version) => {
                let route = self.routes.iter().position(|(versions, _)| versions.contains(version));
                route.ok_or_else(|| ("unsupported_schema_version", self.unsupported(version)))
            }
            Found::Missing(text) => Err(("schema_version_missing", text)),
            Found::Odd(text) => Err(("unsupported_schema_version", text)),
            Found::Corrupt(text) => Err(("corrupt_record", text)),
        }
    }

    fn unsupported(&self, version: u32) -> String {
        let served: Vec<String> = self.routes.iter().map(|(versions, _)| versions.to_string()).collect();
        format!("no component serves schema version {version}; served are {}", served.join(", "))
    }

    /// What one component made of its part, in the stage's columns and with the row numbers of the whole chunk.
    fn work(
        &self,
        route: usize,
        part: &[u32],
        rows: &RecordBatch,
        context: &BatchContext,
    ) -> Result<StageOutput, StageError> {
        let Some((_, stage)) = self.routes.get(route) else { return Err(self.internal("a route that is not there")) };
        let whole = part.len() == rows.num_rows();
        let own = if whole { rows.clone() } else { self.take(rows, part)? };
        let mut output = stage.process(&own, context)?;
        output.rows = self.align(&output.rows).map_err(|error| self.internal(error))?;
        let place = |row: u32| part.get(row as usize).copied().unwrap_or(row);
        output.origin.iter_mut().for_each(|row| *row = place(*row));
        for rejection in &mut output.rejected {
            rejection.row = place(rejection.row);
            rejection.component = Some(route);
        }
        Ok(output)
    }

    fn take(&self, rows: &RecordBatch, part: &[u32]) -> Result<RecordBatch, StageError> {
        take_record_batch(rows, &UInt32Array::from(part.to_vec())).map_err(|error| self.internal(error))
    }

    fn align(&self, rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let column = |field: &Arc<Field>| match rows.column_by_name(field.name()) {
            Some(column) => Arc::clone(column),
            None => new_null_array(field.data_type(), rows.num_rows()),
        };
        let columns = self.schema.fields().iter().map(column).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
    }

    fn internal(&self, error: impl std::fmt::Display) -> StageError {
        StageError::internal(&self.name, error)
    }
}

impl Stage for RoutedStage {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn components(&self) -> Vec<ComponentId> {
        self.routes.iter().flat_map(|(_, stage)| stage.components()).collect()
    }

    fn written(&self) -> Vec<SchemaRef> {
        self.routes.iter().flat_map(|(_, stage)| stage.written()).collect()
    }

    fn read(&self) -> Vec<SchemaRef> {
        self.routes.iter().flat_map(|(_, stage)| stage.read()).collect()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn given(&self, rows: &RecordBatch) -> Result<Option<Given>, StageError> {
        let (parts, _) = self.split(rows).map_err(|error| self.internal(error))?;
        let only = parts.iter().position(|part| !part.is_empty() && part.len() == rows.num_rows());
        match only.and_then(|route| self.routes.get(route)) {
            Some((_, stage)) => stage.given(rows),
            None => Ok(None),
        }
    }

    fn process(&self, rows: &RecordBatch, context: &BatchContext) -> Result<StageOutput, StageError> {
        let (parts, mut rejected) = self.split(rows).map_err(|error| self.internal(error))?;
        let used = parts.iter().enumerate().filter(|(_, part)| !part.is_empty());
        let outputs = used.map(|(route, part)| self.work(route, part, rows, context));
        let mut outputs = outputs.collect::<Result<Vec<_>, _>>()?;
        outputs.iter_mut().for_each(|output| rejected.append(&mut output.rejected));
        let (rows, origin) = match outputs.as_mut_slice() {
            [] => (RecordBatch::new_empty(self.schema()), Vec::new()),
            [only] => (only.rows.clone(), std::mem::take(&mut only.origin)),
            several => in_order(several).map_err(|error| self.internal(error))?,
        };
        Ok(StageOutput { rows, origin, rejected, rules: Vec::new() })
    }
}

/// Rows of several outputs in the order of the input rows that they came from; an input row is in one output only.
fn in_order(outputs: &[StageOutput]) -> Result<(RecordBatch, Vec<u32>), ArrowError> {
    let places = outputs
        .iter()
        .enumerate()
        .flat_map(|(output, rows)| rows.origin.iter().enumerate().map(move |(row, origin)| (*origin, (output, row))));
    let mut places: Vec<(u32, (usize, usize))> = places.collect();
    places.sort_by_key(|(origin, _)| *origin);
    let (origin, places): (Vec<u32>, Vec<(usize, usize)>) = places.into_iter().unzip();
    let batches: Vec<&RecordBatch> = outputs.iter().map(|output| &output.rows).collect();
    Ok((interleave_record_batch(&batches, &places)?, origin))
}
