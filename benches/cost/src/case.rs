//! One component over one input, both ways.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use crisol_ipc::{Fate, GROUP, Limits, ROW, Rejections, decode, rejections_schema, with_index};
use crisol_plugin::{GroupStage, Kind, RowOutput, RowStage};
use crisol_sdk::Column;

use crate::native::{Given, Native};
use crisol_cost::Error;
use crisol_cost::data::NOW_US;

/// A component as the host calls it.
#[derive(Debug)]
pub(crate) enum Stage {
    Rows(RowStage),
    Groups(GroupStage),
}

/// What came of the input, in a form that both ways can be brought to.
#[derive(Debug, Default, PartialEq)]
struct Answer {
    rows: Vec<RecordBatch>,
    index: Vec<u32>,
    rejected: Vec<(u32, bool, String, String)>,
}

/// One component, its options and its input: the rows of each call.
#[derive(Debug)]
pub(crate) struct Case {
    name: String,
    stage: Stage,
    native: Native,
    options: String,
    columns: Vec<Column>,
    batches: Vec<RecordBatch>,
}

impl Case {
    pub(crate) fn new(
        name: &str,
        stage: Stage,
        native: Native,
        options: String,
        batches: Vec<RecordBatch>,
    ) -> Result<Self, Error> {
        let names = match &stage {
            Stage::Rows(stage) => stage.reads(),
            Stage::Groups(stage) => stage.reads(),
        };
        let schema = batches.first().ok_or("a case needs rows")?.schema();
        let mut columns = Vec::new();
        for name in names {
            let field = schema.field_with_name(name)?;
            let column = Column::new(name, field.data_type().clone());
            columns.push(if field.is_nullable() { column } else { column.not_null() });
        }
        Ok(Self { name: name.to_string(), stage, native, options, columns, batches })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    pub(crate) fn rows_a_call(&self) -> usize {
        self.batches.first().map_or(0, RecordBatch::num_rows)
    }

    pub(crate) fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// The input as messages.
    pub(crate) fn messages(&self) -> Result<Vec<Vec<u8>>, Error> {
        Ok(self.batches.iter().map(crisol_ipc::encode).collect::<Result<_, _>>()?)
    }

    /// The schema of messages of rows; `None` from a validator.
    pub(crate) fn answers(&self) -> Option<SchemaRef> {
        match &self.stage {
            Stage::Rows(stage) if stage.component().kind() == Kind::Validator => None,
            Stage::Rows(stage) => Some(with_index(&stage.writes(), ROW)),
            Stage::Groups(stage) => {
                let index = if stage.component().kind() == Kind::Ranker { ROW } else { GROUP };
                Some(with_index(&stage.writes(), index))
            }
        }
    }

    /// The input, read from messages: as near to the processor as they are.
    pub(crate) fn input(&self, messages: Vec<Vec<u8>>) -> Result<Vec<RecordBatch>, Error> {
        let schema = self.batches.first().ok_or("a case needs rows")?.schema();
        Ok(messages
            .into_iter()
            .map(|message| decode(message, &schema, &Limits::default()))
            .collect::<Result<_, _>>()?)
    }

    /// Rows of the case through the component, as the host does it.
    pub(crate) fn sandbox(&self, input: &[RecordBatch]) -> Result<impl Sized, Error> {
        self.answer_of(input)
    }

    /// The same with one row: what each call costs whatever its rows.
    pub(crate) fn sandbox_one_row(&self) -> Result<impl Sized, Error> {
        let first = self.batches.first().ok_or("a case needs rows")?;
        self.answer_of(&[first.slice(0, 1)])
    }

    /// All of it through the same source in this process.
    pub(crate) fn native(&self, messages: Vec<Vec<u8>>) -> Result<Given, Error> {
        Ok((self.native)(&self.options, &self.columns, messages)?)
    }

    /// Both ways give the same.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let sandbox = self.sandboxed()?;
        let native = self.read(self.native(self.messages()?)?)?;
        if sandbox == native { Ok(()) } else { Err(format!("`{}`: native code gives other rows", self.name).into()) }
    }

    fn answer_of(&self, batches: &[RecordBatch]) -> Result<(Vec<RowOutput>, Vec<crisol_plugin::GroupAnswer>), Error> {
        let (mut rows, mut groups) = (Vec::new(), Vec::new());
        match &self.stage {
            Stage::Rows(stage) => {
                for batch in batches {
                    rows.push(stage.call(batch, NOW_US)?);
                }
            }
            Stage::Groups(stage) => {
                let mut session = stage.session(NOW_US)?;
                for batch in batches {
                    groups.extend(session.push(batch)?);
                }
                groups.extend(session.finish()?);
            }
        }
        Ok((rows, groups))
    }

    fn sandboxed(&self) -> Result<Answer, Error> {
        let (rows, groups) = self.answer_of(&self.batches)?;
        let mut answer = Answer::default();
        for output in rows {
            if let Some(rows) = output.rows {
                answer.rows.push(rows);
                answer.index.extend(output.origin);
            }
            answer.rejected.extend(output.rejected.into_iter().map(|r| (r.row, r.filter, r.code, r.text)));
        }
        for given in groups {
            answer.rows.push(given.rows);
            answer.index.extend(given.index);
        }
        Ok(answer)
    }

    fn read(&self, given: Given) -> Result<Answer, Error> {
        let mut answer = Answer::default();
        if let Some(schema) = self.answers() {
            for message in given.rows {
                let mut rows = decode(message, &schema, &Limits::default())?;
                let index = rows.remove_column(rows.num_columns() - 1);
                let index = arrow_array::cast::AsArray::as_primitive::<arrow_array::types::Int32Type>(&index);
                answer.index.extend(index.values().iter().map(|row| *row as u32));
                answer.rows.push(rows);
            }
        }
        for message in given.rejected {
            for r in Rejections::read(&decode(message, &rejections_schema(), &Limits::default())?)? {
                answer.rejected.push((r.row as u32, r.kind == Fate::Filter, r.code, r.text));
            }
        }
        Ok(answer)
    }
}
