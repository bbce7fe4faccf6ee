//! Any bytes as a message of a component: a whole batch comes of them, or an error.

use std::sync::Arc;

use arrow_array::Array as _;
use arrow_schema::{Field, Schema, SchemaRef};
use crisol_ipc::{Limits, Rejections, decode, encode, rejections_schema, types};

/// Columns of all shapes; each is a schema of its own, then all together, then that of rejections.
const TYPES: [&str; 8] = [
    "string",
    "binary",
    "boolean",
    "bigint",
    "decimal(18,2)",
    "array<string>",
    "map<string,array<decimal(38,4)>>",
    "struct<sku:string,qty:int,inner:struct<a:boolean,b:array<struct<c:timestamp>>>>",
];
/// The first byte chooses among so many schemas.
pub(crate) const SCHEMAS: usize = TYPES.len() + 2;

pub(crate) fn schema(choice: u8) -> SchemaRef {
    let field = |name: &str| Field::new(name, types::parse(name).expect("a type"), choice & 0x80 != 0);
    match usize::from(choice & 0x7f) % SCHEMAS {
        at if at < TYPES.len() => Arc::new(Schema::new(vec![field(TYPES[at])])),
        at if at == TYPES.len() => Arc::new(Schema::new(TYPES.map(field).to_vec())),
        _ => rejections_schema(),
    }
}

/// Panics when something is accepted that is not whole.
pub(crate) fn run(data: &[u8]) {
    let Some((choice, message)) = data.split_first() else { return };
    let schema = schema(*choice);
    let limits = Limits { rows_max: 10_000, bytes_max: 1 << 20 };
    let Ok(batch) = decode(message.to_vec(), &schema, &limits) else { return };
    assert!(batch.num_rows() <= limits.rows_max);
    for column in batch.columns() {
        column.to_data().validate_full().expect("a whole column");
        assert_eq!(column.len(), batch.num_rows());
    }
    let sent = encode(&batch).expect("what was decoded can be sent");
    let again = decode(sent, &schema, &Limits::default()).expect("what was sent can be decoded");
    assert_eq!(format!("{again:?}"), format!("{batch:?}"));
    let _ = Rejections::read(&batch);
}
