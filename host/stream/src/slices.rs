//! Slices of a table: which of its rows are made anew, by a rebuild that a person asks for or after one of the table above.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::filter::filter_record_batch;
use crisol_checkpoint::{Position, Range};
use crisol_source::{Chunks, Source};
use crisol_stage::{BatchContext, Chain, ChunkOutput, Condition, Origins, TouchedGroups};
use crisol_table::{DELETED, TableWriter};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use serde::Serialize;
use tokio::task::spawn_blocking;

use crate::flow::{failed_stage, join, process};
use crate::{Failure, OpenTable};

/// How a table's rows belong together when some of them are made anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slices {
    /// Each by where it came from.
    Rows,
    /// By these key columns, of which the newest row stands.
    Keys(Vec<String>),
    /// By the groups that they are computed from.
    Groups(Vec<String>),
    /// By these partition columns, of which the last delivery stands. A rebuild of the table above cannot be followed: it is
    /// no delivery.
    Partitions {
        /// Partition columns.
        by: Vec<String>,
        /// What a person can do then.
        hint: String,
    },
    /// Not at all.
    None {
        /// Why.
        why: String,
        /// What a person can do after a rebuild of the table above.
        hint: String,
    },
}

/// What a stream needs to make slices of its table anew.
#[derive(Debug)]
pub struct Renewal {
    /// How its rows belong together.
    pub slices: Slices,
    /// The table, written by `replace_named`.
    pub table: OpenTable,
    /// Its quarantine, written the same way.
    pub quarantine: OpenTable,
}

/// How much a table holds of a slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SliceSize {
    /// Rows.
    pub rows: u64,
    /// Files with such rows.
    pub files: u64,
}

/// Rows that are made anew.
pub(crate) struct Meant {
    /// Rows of the table above whose results are replaced, wherever these stand now.
    pub(crate) origins: TouchedGroups,
    /// Keys, groups or partitions of the table.
    pub(crate) named: Option<TouchedGroups>,
    /// What was asked for, over the rows that the stages give.
    pub(crate) condition: Option<Condition>,
}

/// The stages and the table of a slice.
pub(crate) struct Slicing<'a> {
    pub(crate) chain: &'a Arc<Chain>,
    pub(crate) slices: &'a Slices,
    pub(crate) table: &'a dyn TableWriter,
    pub(crate) context: BatchContext,
    pub(crate) workers: usize,
}

impl Slicing<'_> {
    pub(crate) fn origins(&self) -> Origins {
        Origins::of_input(&self.chain.input_schema())
    }

    /// No origins yet.
    pub(crate) fn no_origins(&self) -> Result<TouchedGroups, Failure> {
        let origins = self.origins();
        TouchedGroups::by(&origins.columns(), &origins.schema()).map_err(defect)
    }

    fn nothing(&self) -> Result<Meant, Failure> {
        let named = match self.slices {
            Slices::Rows | Slices::None { .. } => None,
            Slices::Keys(names) | Slices::Partitions { by: names, .. } => {
                Some(TouchedGroups::by(names, &self.table.incoming()).map_err(defect)?)
            }
            Slices::Groups(_) => {
                self.chain.grouping().map(|grouping| grouping.touched()).transpose().map_err(failed_stage)?
            }
        };
        Ok(Meant { origins: self.no_origins()?, named, condition: None })
    }

    /// What a condition over the table means: rows that it is true for as they are, and as the stages of today make them of
    /// what lies above before `end`. Rows that a later batch brought stay out.
    pub(crate) async fn of_condition(
        &self,
        condition: &Condition,
        source: &mut dyn Source,
        end: &Position,
    ) -> Result<Meant, Failure> {
        let (found, origins, context) = (self.nothing()?, self.origins(), self.context.clone());
        let old = condition.clone();
        let mut found = fold_held(self.table, found, move |found, _, rows| {
            let rows = filter_record_batch(rows, &old.holds(rows, &context).map_err(failed_stage)?).map_err(defect)?;
            match &mut found.named {
                Some(named) => named.add(&rows),
                None => found.origins.add(&origins.of(&rows).map_err(defect)?),
            }
            .map_err(defect)
        })
        .await?;
        let new = condition.over(&self.chain.accepted_schema()).map_err(failed_stage)?;
        if let Slices::Partitions { .. } = self.slices {
            return Ok(Meant { condition: Some(new), ..found });
        }
        let mut present = self.no_origins()?;
        let mut outputs = self.outputs(source.read_before(end).await?);
        while let Some((rows, output)) = outputs.try_next().await? {
            let holds = new.holds(&output.accepted, &self.context).map_err(failed_stage)?;
            let accepted = filter_record_batch(&output.accepted, &holds).map_err(defect)?;
            if let Some(named) = &mut found.named {
                named.add(&accepted).map_err(defect)?;
                continue;
            }
            present.add(&origins.of(&accepted).map_err(defect)?).map_err(defect)?;
            let known = found.origins.select(&origins.of(&rows).map_err(defect)?).map_err(defect)?;
            present.add(&known).map_err(defect)?;
        }
        Ok(Meant { origins: present, ..found })
    }

    /// What a rebuild of the table above touches: the results of the rows that it took out, and of those that it brought.
    pub(crate) async fn of_rebuilt(&self, source: &mut dyn Source, range: &Range) -> Result<Meant, Failure> {
        let origins = self.origins();
        let mut found = self.nothing()?;
        let mut chunks = rebuilt(source, range).await?;
        while let Some(rows) = chunks.try_next().await? {
            for gone in [true, false] {
                let input = self.input_of(&rows, gone)?;
                let places = origins.of(&self.as_present(&input)?).map_err(defect)?;
                found.origins.add(&places).map_err(defect)?;
                if let Some(named) = &mut found.named {
                    named.add(&self.process(input).await?.accepted).map_err(defect)?;
                }
            }
        }
        if !matches!(self.slices, Slices::Keys(_)) || origins == Origins::Values {
            return Ok(found);
        }
        // The stages may have made other keys of these rows when they came.
        fold_held(self.table, found, move |found, _, rows| {
            let touched = found.origins.holds(&origins.of(rows).map_err(defect)?).map_err(defect)?;
            let Some(named) = &mut found.named else { return Ok(()) };
            named.add(&filter_record_batch(rows, &touched).map_err(defect)?).map_err(defect)
        })
        .await
    }

    /// How much the table holds of a slice.
    pub(crate) async fn size(&self, meant: Meant) -> Result<(Meant, SliceSize), Failure> {
        let origins = self.origins();
        let start = (meant, SliceSize::default(), None);
        let (meant, size, _) = fold_held(self.table, start, move |(meant, size, last), file, rows| {
            let holds = match &meant.named {
                Some(named) => named.holds(rows),
                None => origins.of(rows).and_then(|told| meant.origins.holds(&told)),
            };
            let rows = holds.map_err(defect)?.true_count() as u64;
            size.rows += rows;
            if rows > 0 && last.replace(file) != Some(file) {
                size.files += 1;
            }
            Ok(())
        })
        .await?;
        Ok((meant, size))
    }

    async fn process(&self, rows: RecordBatch) -> Result<ChunkOutput, Failure> {
        let (chain, context) = (Arc::clone(self.chain), self.context.clone());
        let span = 0..rows.num_rows() as u64;
        join(spawn_blocking(move || process(&chain, &rows, span, &context))).await?.map(|(_, output)| output)
    }

    /// Chunks with what the stages make of them, in order.
    pub(crate) fn outputs(&self, chunks: Chunks) -> BoxStream<'static, Result<(RecordBatch, ChunkOutput), Failure>> {
        let (chain, context) = (Arc::clone(self.chain), self.context.clone());
        let worked = chunks.map(move |chunk| {
            let (chain, context) = (Arc::clone(&chain), context.clone());
            async move {
                let rows = chunk?;
                let work = spawn_blocking(move || {
                    let (_, output) = process(&chain, &rows, 0..rows.num_rows() as u64, &context)?;
                    Ok((rows, output))
                });
                join(work).await?
            }
        });
        worked.buffered(self.workers + 2).boxed()
    }

    /// The rows of a rebuild that went, or that came, as the stages take them.
    pub(crate) fn input_of(&self, rows: &RecordBatch, gone: bool) -> Result<RecordBatch, Failure> {
        input_of(rows, gone, &self.chain.input_schema()).map_err(defect)
    }

    /// Rows as they were when they came.
    fn as_present(&self, rows: &RecordBatch) -> Result<RecordBatch, Failure> {
        let Ok(at) = rows.schema().index_of(DELETED) else { return Ok(rows.clone()) };
        let mut columns = rows.columns().to_vec();
        columns[at] = Arc::new(BooleanArray::from(vec![false; rows.num_rows()]));
        RecordBatch::try_new(rows.schema(), columns).map_err(defect)
    }
}

/// The rows of a range that is known to be a rebuild.
pub(crate) async fn rebuilt(source: &mut dyn Source, range: &Range) -> Result<Chunks, Failure> {
    let none = || Failure::Internal { what: "a range was a rebuild, and is none any more".into() };
    source.read_rebuilt(range).await?.ok_or_else(none)
}

pub(crate) fn input_of(rows: &RecordBatch, gone: bool, input: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let absent = || ArrowError::SchemaError(format!("rows of a rebuild have no column `{DELETED}`"));
    let deleted = rows.column_by_name(DELETED).and_then(|column| column.as_boolean_opt()).ok_or_else(absent)?;
    let wanted: BooleanArray = deleted.iter().map(|deleted| Some(deleted == Some(gone))).collect();
    let rows = filter_record_batch(rows, &wanted)?;
    let columns = input.fields().iter().map(|field| rows.schema().index_of(field.name()));
    let columns = columns.map(|at| at.map(|at| Arc::clone(rows.column(at)))).collect::<Result<Vec<ArrayRef>, _>>()?;
    RecordBatch::try_new(Arc::clone(input), columns)
}

/// Goes through all rows that a table holds, with the number of their file.
pub(crate) async fn fold_held<T: Send + 'static>(
    table: &dyn TableWriter,
    mut state: T,
    take: impl Fn(&mut T, usize, &RecordBatch) -> Result<(), Failure> + Send + 'static,
) -> Result<T, Failure> {
    let files = table.held().await?;
    let work = spawn_blocking(move || {
        for (at, file) in files.into_iter().enumerate() {
            for rows in file.rows()? {
                take(&mut state, at, &rows?)?;
            }
        }
        Ok(state)
    });
    join(work).await?
}

pub(crate) fn defect(error: ArrowError) -> Failure {
    Failure::Internal { what: format!("the rows of a slice: {error}") }
}

#[cfg(test)]
mod tests {
    use arrow_array::Int64Array;
    use arrow_schema::{DataType, Field, Schema};

    use super::*;

    #[test]
    fn rows_that_went_and_rows_that_came_are_told_apart_and_take_the_columns_of_the_input() {
        let rows = RecordBatch::try_from_iter([
            ("n", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef),
            (DELETED, Arc::new(BooleanArray::from(vec![true, false, true]))),
        ])
        .unwrap();
        let input: SchemaRef = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, true)]));
        let of = |gone| input_of(&rows, gone, &input).unwrap();
        assert_eq!(of(true)["n"].as_primitive::<arrow_array::types::Int64Type>().values(), &[1, 3]);
        assert_eq!(of(false)["n"].as_primitive::<arrow_array::types::Int64Type>().values(), &[2]);
        assert_eq!(of(false).num_columns(), 1);
    }
}
