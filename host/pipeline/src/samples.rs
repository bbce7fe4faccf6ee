//! Rows in quarantine as samples: tests for the plugin that refused them.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampMicrosecondType};
use crisol_plugin::{CallError, Expect, ExpectedRejection, Sample};
use crisol_stage::{BatchContext, Chain, Given, PoisonSearch, restored_rows};
use crisol_stream::Selection;
use serde_json::{Map, Value};

use crate::quarantine::newest_refused;
use crate::{Engine, EngineError, open};

impl Engine {
    /// The newest rows of a table's quarantine that are meant, each as a sample for the tests of the plugin that refused
    /// it: with what the plugin is given of it today, and the rejection that stands in the quarantine.
    ///
    /// # Errors
    /// No stream of the engine fills the table, its contract or components are refused, or no one plugin refused a row.
    pub async fn refused_samples(
        &self,
        table: &str,
        selection: &Selection,
        limit: usize,
    ) -> Result<Vec<Value>, EngineError> {
        let Some(plan) = self.streams.iter().find(|stream| stream.table.name == table) else {
            let known = self.streams.iter().map(|stream| stream.table.name.clone()).collect();
            return Err(EngineError::UnknownStream { name: table.into(), known });
        };
        let found = newest_refused(plan, selection, limit).await;
        let found = found.map_err(|failure| EngineError::opening(&plan.name, failure))?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let (chain, input) = open::chain(self, plan).await?;
        let refuse = |(what, hint): (String, &str)| EngineError::NotASample {
            table: table.to_owned(),
            what,
            hint: hint.to_owned(),
        };
        let work = move || {
            let mut samples = Samples::default();
            for rows in &found {
                let restored = restored_rows(rows, &input).map_err(|error| (error.to_string(), COLUMNS_HINT))?;
                for row in 0..rows.num_rows() {
                    samples.add(&chain, &rows.slice(row, 1), &restored.slice(row, 1))?;
                }
            }
            Ok(samples.written)
        };
        tokio::task::spawn_blocking(work).await.map_err(EngineError::internal)?.map_err(refuse)
    }
}

const COLUMNS_HINT: &str = "the columns that the stream reads have changed since; write the sample by hand";
const STAGE_HINT: &str = "choose other rows with `--stage` or `--code`; `host quarantine list` tells both";

/// Samples of one component.
#[derive(Default)]
struct Samples {
    component: Option<String>,
    written: Vec<Value>,
}

/// Why a row is no sample, and what a person can do.
type Refusal = (String, &'static str);

impl Samples {
    /// A row of the quarantine, and the input row that it was.
    fn add(&mut self, chain: &Chain, refused: &RecordBatch, input: &RecordBatch) -> Result<(), Refusal> {
        let Some(reason) = Reason::of(refused) else {
            return Err(("the quarantine has not the columns of this release".into(), STAGE_HINT));
        };
        let context = BatchContext { batch: 0, timestamp_us: reason.timestamp_us, poison: PoisonSearch::new(None) };
        let given = chain.given(input, &reason.stage, &context);
        let given = given.map_err(|what| (format!("{}: {what}", reason.name), STAGE_HINT))?;
        let component = given.component.name.clone();
        match &self.component {
            Some(other) if *other != component => {
                return Err((format!("they were refused by several plugins, `{other}` and `{component}`"), STAGE_HINT));
            }
            _ => self.component = Some(component),
        }
        self.written.push(reason.sample(&given).to_json());
        Ok(())
    }
}

/// Who refused a row, and why.
struct Reason {
    name: String,
    stage: String,
    code: String,
    timestamp_us: i64,
}

impl Reason {
    fn of(refused: &RecordBatch) -> Option<Self> {
        let text = |name| Some(refused.column_by_name(name)?.as_string_opt::<i32>()?.value(0).to_owned());
        let times = refused.column_by_name("batch_timestamp")?.as_primitive_opt::<TimestampMicrosecondType>()?;
        let code = text("code")?;
        Some(Self {
            name: format!("{code}: {}", place(refused)?),
            stage: text("stage")?,
            code,
            timestamp_us: times.value(0),
        })
    }

    /// What must become of a row that broke its plugin, only a person can say: nothing is expected of it then.
    fn sample(&self, given: &Given) -> Sample {
        let options = match serde_json::from_str(&given.options) {
            Ok(Value::Object(options)) => options,
            _ => Map::new(),
        };
        let broke_it = CallError::POISON_CODES.contains(&self.code.as_str());
        let rejected = (!broke_it).then(|| ExpectedRejection { row: 0, code: self.code.clone(), text: None });
        let expect = Expect { rejected: rejected.into_iter().collect(), ..Expect::default() };
        Sample::of(&self.name, options, self.timestamp_us, &given.rows, expect)
    }
}

/// Where the row came from.
fn place(refused: &RecordBatch) -> Option<String> {
    let text = |name| refused.column_by_name(name)?.as_string_opt::<i32>()?.iter().next()?.map(ToOwned::to_owned);
    let number = |name| refused.column_by_name(name)?.as_primitive_opt::<Int64Type>()?.iter().next()?;
    let partition = || refused.column_by_name("partition")?.as_primitive_opt::<Int32Type>()?.iter().next()?;
    Some(match (text("topic"), text("file_path"), number("file_row")) {
        (Some(topic), ..) => {
            format!(
                "{topic}, partition {}, offset {}",
                partition().unwrap_or_default(),
                number("offset").unwrap_or_default()
            )
        }
        (None, Some(file), Some(row)) => format!("{file}, row {row}"),
        (None, Some(file), None) => file,
        _ => format!("batch {}", number("batch")?),
    })
}
