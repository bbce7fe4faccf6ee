use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::*;
use crate::{ComponentId, ComponentStage, Stage, StageError, StageOutput};

/// Traps where a number is negative, gives up by itself at 13, gives the others twice.
#[derive(Debug, Default)]
struct Picky {
    calls: AtomicUsize,
    /// Calls that fail whatever the rows.
    tired: usize,
}

impl RowWorker for Picky {
    fn id(&self) -> ComponentId {
        ComponentId { name: "picky".into(), version: "1.0.0".into(), digest: "native".into() }
    }

    fn reads(&self) -> Vec<String> {
        vec!["n".into()]
    }

    fn writes(&self) -> SchemaRef {
        Arc::new(Schema::new(vec![Field::new("twice", DataType::Int64, false)]))
    }

    fn call(&self, rows: &RecordBatch, _timestamp_us: i64) -> Result<WorkerOutput, WorkerError> {
        let numbers = rows.column(0).as_primitive::<Int64Type>().values();
        let trap = |what: String| WorkerError { poison_code: Some("plugin_trap"), what };
        if self.calls.fetch_add(1, Ordering::Relaxed) < self.tired {
            return Err(trap("tired".into()));
        }
        if let Some(bad) = numbers.iter().find(|number| **number < 0) {
            return Err(trap(format!("it trapped at {bad}")));
        }
        if numbers.contains(&13) {
            return Err("no thirteens".into());
        }
        let twice: ArrayRef = Arc::new(numbers.iter().map(|number| Some(2 * number)).collect::<Int64Array>());
        let rows = RecordBatch::try_new(self.writes(), vec![twice]).map_err(|error| error.to_string())?;
        let origin = (0..rows.num_rows() as u32).collect();
        Ok(WorkerOutput { rows: Some((rows, origin)), rejected: Vec::new() })
    }
}

fn rows(numbers: impl IntoIterator<Item = i64>) -> RecordBatch {
    let numbers: ArrayRef = Arc::new(numbers.into_iter().map(Some).collect::<Int64Array>());
    RecordBatch::try_from_iter_with_nullable([("n", numbers, false)]).unwrap()
}

fn process(worker: Picky, rows: &RecordBatch, poison: &PoisonSearch) -> Result<StageOutput, StageError> {
    let stage = ComponentStage::new("s", Arc::new(worker), rows.schema_ref(), |_| true).unwrap();
    stage.process(rows, &BatchContext { batch: 1, timestamp_us: 0, poison: poison.clone() })
}

fn twice(output: &StageOutput) -> Vec<i64> {
    output.rows.column_by_name("twice").unwrap().as_primitive::<Int64Type>().values().to_vec()
}

#[test]
fn the_guilty_rows_stand_alone_and_the_others_go_on_in_order() {
    let guilty = [0_u32, 7, 8, 4_095, 9_999];
    let numbers =
        (0..10_000_u32).map(|row| if guilty.contains(&row) { -i64::from(row) - 1 } else { i64::from(row) + 100 });
    let (input, search) = (rows(numbers), PoisonSearch::new(Some(10_000)));
    let output = process(Picky::default(), &input, &search).unwrap();
    let others: Vec<u32> = (0..10_000).filter(|row| !guilty.contains(row)).collect();
    assert_eq!(output.origin, others);
    assert_eq!(twice(&output), others.iter().map(|row| 2 * (i64::from(*row) + 100)).collect::<Vec<_>>());
    let told: Vec<(u32, &str, String)> =
        output.rejected.iter().map(|one| (one.row, one.code.as_ref(), one.text.to_string())).collect();
    let expected = guilty.map(|row| (row, "plugin_trap", format!("it trapped at {}", -i64::from(row) - 1)));
    assert_eq!(told, expected);
    assert!(search.settle(10_000).is_ok());
}

#[test]
fn when_all_rows_are_guilty_there_are_no_rows() {
    let output = process(Picky::default(), &rows([-1, -2, -3]), &PoisonSearch::new(None)).unwrap();
    assert_eq!((output.rows.num_rows(), output.rejected.len()), (0, 3));
    assert!(output.rows.column_by_name("twice").is_some());
}

#[test]
fn a_call_that_fails_for_no_row_costs_no_row() {
    let output = process(Picky { tired: 1, ..Picky::default() }, &rows([1, 2, 3]), &PoisonSearch::new(None)).unwrap();
    assert_eq!((twice(&output), output.rejected.len()), (vec![2, 4, 6], 0));
}

#[test]
fn a_single_row_is_tried_again_before_it_is_refused() {
    let output = process(Picky { tired: 1, ..Picky::default() }, &rows([1]), &PoisonSearch::new(None)).unwrap();
    assert_eq!((twice(&output), output.rejected.len()), (vec![2], 0));
    let output = process(Picky::default(), &rows([-1]), &PoisonSearch::new(None)).unwrap();
    assert_eq!((output.rows.num_rows(), output.rejected.len()), (0, 1));
}

#[test]
fn a_component_that_gives_up_by_itself_blames_no_row() {
    let error = process(Picky::default(), &rows([1, 13, -1]), &PoisonSearch::new(None)).unwrap_err().to_string();
    assert!(error.contains("no thirteens"), "{error}");
}

#[test]
fn one_percent_of_a_batch_or_a_hundred_rows_may_be_poison() {
    let found = |poison: i64, rows_in: u64| {
        let search = PoisonSearch::new(None);
        let input = rows((0..poison).map(|row| -1 - row));
        process(Picky::default(), &input, &search).unwrap();
        search.settle(rows_in)
    };
    assert!(found(100, 100).is_ok());
    let error = found(101, 10_000).unwrap_err();
    assert_eq!(
        error,
        "components failed on 101 rows of 10000; 100 may go to quarantine for that, the greater of 1 % of a batch and 100; the first: \
         `picky@1.0.0`: it trapped at -1"
    );
    assert!(found(200, 20_000).is_ok());
    assert!(found(201, 20_000).is_err());
}

#[test]
fn a_batch_whose_size_is_known_is_given_up_at_the_first_row_too_many() {
    let worker = Arc::new(Picky::default());
    let input = rows((0..4_096).map(|row| -1 - row));
    let stage =
        ComponentStage::new("s", Arc::clone(&worker) as Arc<dyn RowWorker>, input.schema_ref(), |_| true).unwrap();
    let context = BatchContext { batch: 1, timestamp_us: 0, poison: PoisonSearch::new(Some(4_096)) };
    let error = stage.process(&input, &context).unwrap_err().to_string();
    assert!(error.contains("components failed on 101 rows so far"), "{error}");
    assert!(worker.calls.load(Ordering::Relaxed) < 300, "not all rows were tried");
}

#[test]
fn the_search_ends_when_its_time_is_over() {
    let search = PoisonSearch { time_max: Duration::from_nanos(1), ..PoisonSearch::new(None) };
    let error = process(Picky::default(), &rows([1, 2, -3]), &search).unwrap_err().to_string();
    assert!(error.contains("took more than 0 s of this batch; 0 were found"), "{error}");
}

#[test]
fn old_rows_do_not_count() {
    let search = PoisonSearch::new(Some(200));
    let output = process(Picky::default(), &rows((0..200).map(|row| -1 - row)), &search.among_old_rows()).unwrap();
    assert_eq!(output.rejected.len(), 200);
    assert!(search.settle(0).is_ok());
}
