//! What is measured: each bundled component, in calls of two sizes.

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};
use crisol_plugin::{Component, Engine, Limits};
use crisol_plugin_aggregate::Aggregate;
use crisol_plugin_json::Json;
use crisol_plugin_order_rules::OrderRules;
use crisol_plugin_orders::Orders;
use crisol_plugin_top_n::TopN;
use crisol_sdk::raw::groups::{AggregateSession, RankSession};
use crisol_sdk::rows::{Checking, Decoding};
use crisol_sdk::types;
use serde_json::{Value, json};

use crate::case::{Case, Stage};
use crate::native::{Native, groups, rows, verdicts};
use crisol_cost::{Error, data};

/// The bundled components.
pub(crate) const NAMES: [&str; 5] = ["json", "orders", "order-rules", "top-n", "aggregate"];
/// Rows of a call.
const SIZES: [usize; 2] = [8_192, 16_384];
/// Rows of a session of groups, as the host cuts them.
const SESSION_ROWS: usize = 65_536;

/// All cases, with the components of a folder.
pub(crate) fn all(plugins: &Path, engine: &Engine, cache: &Path) -> Result<Vec<Case>, Error> {
    let mut components = Vec::new();
    for name in NAMES {
        components.push(Arc::new(Component::load(&plugins.join(format!("{name}.wasm")), engine, Some(cache))?));
    }
    let [json, orders, rules, top_n, aggregate] = components.as_slice() else { return Err("there are five".into()) };
    let mut cases = Vec::new();
    for size in SIZES {
        let (flat, nested) = (data::payloads(size, false)?, data::payloads(size, true)?);
        cases.push(by_row("json, flat", json, columns(false), rows::<Json>, flat.clone())?);
        cases.push(by_row("json, nested", json, columns(true), rows::<Json>, nested)?);
        cases.push(by_row("orders", orders, json!({}), rows::<Decoding<Orders>>, flat)?);
        let known = json!({ "currencies": ["EUR", "USD", "GBP"] });
        cases.push(by_row("order-rules", rules, known, verdicts::<Checking<OrderRules>>, data::orders(size)?)?);
        let best = json!({ "n": 3, "order_by": ["amount desc", "order_id"] });
        cases.push(by_group("top-n", top_n, best, groups::<RankSession<TopN>>, size)?);
        let measures =
            json!({ "measures": { "orders": "count(*)", "revenue": "sum(amount)", "largest": "max(amount)" } });
        cases.push(by_group("aggregate", aggregate, measures, groups::<AggregateSession<Aggregate>>, size)?);
    }
    Ok(cases)
}

fn columns(nested: bool) -> Value {
    let mut columns = vec![
        json!({ "name": "order_id", "type": "string" }),
        json!({ "name": "event_ts", "type": "timestamp" }),
        json!({ "name": "amount", "type": "decimal(18,2)" }),
        json!({ "name": "schema_version", "type": "int" }),
    ];
    if nested {
        let customer = "struct<id:bigint,name:string,email:string,tier:string>";
        columns.push(json!({ "name": "customer", "type": customer }));
        columns.push(json!({ "name": "items", "type": "array<struct<sku:string,qty:int,price:decimal(18,2)>>" }));
    }
    json!({ "columns": columns })
}

fn by_row(
    name: &str,
    component: &Arc<Component>,
    options: Value,
    native: Native,
    rows: RecordBatch,
) -> Result<Case, Error> {
    let text = options.to_string();
    let options = options.as_object().ok_or("options are an object")?;
    let stage = component.row_stage(options, &rows.schema(), &Limits::default())?;
    Case::new(name, Stage::Rows(stage), native, text, vec![rows])
}

fn by_group(
    name: &str,
    component: &Arc<Component>,
    options: Value,
    native: Native,
    size: usize,
) -> Result<Case, Error> {
    let input = Schema::new(vec![
        Field::new("order_id", DataType::Utf8, true),
        Field::new("amount", types::parse("decimal(18,2)")?, true),
    ]);
    let text = options.to_string();
    let options = options.as_object().ok_or("options are an object")?;
    let stage = component.group_stage(options, &input, &Limits::default())?;
    let batches = (0..SESSION_ROWS).step_by(size).map(|first| data::grouped(first, size, stage.reads()));
    let batches = batches.collect::<Result<_, _>>()?;
    Case::new(name, Stage::Groups(stage), native, text, batches)
}
