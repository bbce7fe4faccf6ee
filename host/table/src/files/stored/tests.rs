use std::path::PathBuf;
use std::sync::Mutex;

use arrow_array::{Decimal128Array, Float64Array, Int32Array, StringArray, TimestampMicrosecondArray};
use arrow_buffer::OffsetBuffer;
use arrow_cast::cast;
use arrow_schema::Field;
use proptest::prelude::*;

use super::super::tests::{layout, read};
use super::*;
use crate::files::Files;
use crate::{FileWriter, KeepFiles};

/// The rows of the files that were kept.
#[derive(Debug, Default)]
struct Keeper(Mutex<Vec<RecordBatch>>);

impl KeepFiles for Keeper {
    fn file_bytes_max(&self) -> usize {
        1 << 20
    }

    fn keep(&self, _file: PathBuf, rows: Vec<RecordBatch>, _bytes: usize) {
        self.0.lock().unwrap().extend(rows);
    }
}

/// Rows whose structs hold values also where they are null.
#[derive(Debug, Clone)]
struct Row {
    ratio: Option<f64>,
    at: Option<i64>,
    amount: Option<i128>,
    name: Option<String>,
    age: Option<i32>,
    who: bool,
    pet: bool,
    list: bool,
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let ratio = prop_oneof![Just(f64::NAN), Just(-0.0), Just(0.0), Just(f64::NEG_INFINITY), any::<f64>()];
    let at = prop_oneof![Just(-1), Just(i64::MIN), any::<i64>()];
    let amount = prop_oneof![Just(10_i128.pow(38) - 1), Just(-1), -(10_i128.pow(38) - 1)..10_i128.pow(38)];
    let row = (
        proptest::option::of(ratio),
        proptest::option::of(at),
        proptest::option::of(amount),
        proptest::option::of("[a-c]{0,2}"),
        proptest::option::of(any::<i32>()),
        any::<(bool, bool, bool)>(),
    );
    let row = row.prop_map(|(ratio, at, amount, name, age, (who, pet, list))| Row {
        ratio,
        at,
        amount,
        name,
        age,
        who,
        pet,
        list,
    });
    proptest::collection::vec(row, 1..20)
}

fn structs(fields: Vec<(&str, ArrayRef)>, valid: impl Iterator<Item = bool>) -> StructArray {
    let (fields, columns): (Vec<_>, Vec<_>) =
        fields.into_iter().map(|(name, column)| (Field::new(name, column.data_type().clone(), true), column)).unzip();
    StructArray::new(fields.into(), columns, Some(valid.collect()))
}

/// A struct in a struct, and each row's struct once more as the only value of a list.
fn batch(rows: &[Row]) -> RecordBatch {
    let names: ArrayRef = Arc::new(StringArray::from_iter(rows.iter().map(|row| row.name.clone())));
    let ages: ArrayRef = Arc::new(Int32Array::from_iter(rows.iter().map(|row| row.age)));
    let pets: ArrayRef =
        Arc::new(structs(vec![("name", names.clone()), ("age", ages.clone())], rows.iter().map(|row| row.pet)));
    let who: ArrayRef =
        Arc::new(structs(vec![("name", names), ("age", ages), ("pet", pets)], rows.iter().map(|row| row.who)));
    let item = Arc::new(Field::new("element", who.data_type().clone(), true));
    let list = ListArray::new(
        item,
        OffsetBuffer::from_lengths(rows.iter().map(|_| 1)),
        Arc::clone(&who),
        Some(rows.iter().map(|row| row.list).collect()),
    );
    let amounts = Decimal128Array::from_iter(rows.iter().map(|row| row.amount));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("ratio", Arc::new(Float64Array::from_iter(rows.iter().map(|row| row.ratio)))),
        ("at", Arc::new(TimestampMicrosecondArray::from_iter(rows.iter().map(|row| row.at)).with_timezone("UTC"))),
        ("amount", Arc::new(amounts.with_precision_and_scale(38, 10).unwrap())),
        ("who", who),
        ("list", Arc::new(list)),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true))).unwrap()
}

/// Everything that an expression can get at: the column, the fields of its structs, the values of its lists.
fn within(column: &ArrayRef) -> Vec<ArrayRef> {
    let inner: Vec<ArrayRef> = match column.data_type() {
        DataType::Struct(_) => column.as_struct().columns().to_vec(),
        DataType::List(_) => column.as_list::<i32>().iter().flatten().collect(),
        _ => Vec::new(),
    };
    std::iter::once(Arc::clone(column)).chain(inner.iter().flat_map(within)).collect()
}

/// By their bits, as text: what is not a number equals nothing.
fn bits(column: &ArrayRef) -> Vec<String> {
    match column.data_type() {
        DataType::Float64 => {
            let values = column.as_primitive::<arrow_array::types::Float64Type>();
            values.iter().map(|value| format!("{:?}", value.map(f64::to_bits))).collect()
        }
        _ => vec![format!("{column:?}")],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn d089_kept_rows_are_those_of_the_file_also_beneath_nulls(rows in rows()) {
        let (rows, folder, keeper) = (batch(&rows), tempfile::tempdir().unwrap(), Arc::new(Keeper::default()));
        let layout = layout(folder.path(), &rows, &[]).handing_over(keeper.clone());
        let mut files = Box::new(Files::new(Arc::new(layout)).unwrap());
        files.write(&rows).unwrap();
        let files = files.finish().unwrap();
        let (read, kept) = (read(folder.path(), &files[0]), keeper.0.lock().unwrap().clone());
        prop_assert_eq!((read.len(), kept.len()), (1, 1));
        for (read, kept) in read[0].columns().iter().zip(kept[0].columns()) {
            let read = cast(read, kept.data_type()).unwrap();
            let (read, kept) = (within(&read), within(kept));
            prop_assert_eq!(read.len(), kept.len());
            for (read, kept) in read.iter().zip(&kept) {
                prop_assert_eq!(bits(read), bits(kept));
            }
        }
    }
}
