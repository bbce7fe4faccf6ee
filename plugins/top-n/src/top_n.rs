//! The component: what it reads and writes, and the ranking of groups.

use std::ops::Range;
use std::sync::Arc;

use arrow_row::RowConverter;
use crisol_sdk::arrow::{ArrayRef, Int32Array, RecordBatch, SchemaRef};
use crisol_sdk::columns::{Ranked, Ranker};
use crisol_sdk::{About, Batch, Column, Failure, Plan};

use crate::options::{Options, SCHEMA};
use crate::order::{Order, keys};
use crate::position::{Function, Position};
use crate::sort::Sorter;

/// The ranker.
#[derive(Debug)]
pub struct TopN {
    n: i32,
    filter: Function,
    functions: Vec<Function>,
    order: Order,
    converter: RowConverter,
}

impl Ranker for TopN {
    type Options = Options;
    const ABOUT: About = About::new("top-n", env!("CARGO_PKG_VERSION")).options(SCHEMA).reuse();

    fn plan(options: &Options, input: &[Column]) -> Result<Plan, Failure> {
        let (_, order) = bind(options, input)?;
        Ok(Plan { reads: order.reads(), writes: options.writes(input)? })
    }

    fn open(options: Options, input: &SchemaRef, _: &Batch) -> Result<Self, Failure> {
        let input: Vec<Column> =
            input.fields().iter().map(|field| Column::new(field.name(), field.data_type().clone())).collect();
        let (functions, order) = bind(&options, &input)?;
        let converter = order.converter()?;
        Ok(TopN { n: options.n, filter: options.function, functions, order, converter })
    }

    fn rank(&mut self, rows: &RecordBatch, groups: &[Range<usize>]) -> Result<Ranked, Failure> {
        let keys = keys(&self.converter, rows)?;
        let mut kept = Kept { rows: Vec::new(), positions: vec![Vec::new(); self.functions.len()] };
        let mut sorter = Sorter::default();
        for group in groups {
            self.rank_group(sorter.sorted(group.clone(), &keys), &mut kept)?;
        }
        let columns = kept.positions.into_iter().map(|positions| Arc::new(Int32Array::from(positions)) as ArrayRef);
        Ok(Ranked { columns: columns.collect(), rows: kept.rows })
    }
}

/// Rows that stay, and their positions by each function.
struct Kept {
    rows: Vec<usize>,
    positions: Vec<Vec<i32>>,
}

impl TopN {
    /// Takes the rows of a group in order, each with whether it is a peer of the one before it.
    fn rank_group(&self, sorted: impl Iterator<Item = (usize, bool)>, kept: &mut Kept) -> Result<(), Failure> {
        let total = is_total(&self.functions);
        let mut position = Position::default();
        for (row, peer) in sorted {
            if peer && total {
                return Err(self.not_total());
            }
            position.advance(peer);
            if position.by(self.filter) <= self.n {
                kept.rows.push(row);
                self.functions.iter().zip(&mut kept.positions).for_each(|(f, column)| column.push(position.by(*f)));
            } else if !total {
                // Positions only grow; a total order is checked to the end, so that it fails on the first day.
                return Ok(());
            }
        }
        Ok(())
    }

    fn not_total(&self) -> Failure {
        let text = format!(
            "two rows of a group tie in {}, so `row_number` is not determined; add columns to `order_by` until no two rows tie",
            self.order
        );
        Failure::new("order_not_total", text)
    }
}

/// The functions and the order.
fn bind(options: &Options, input: &[Column]) -> Result<(Vec<Function>, Order), Failure> {
    let functions: Vec<Function> = options.positions()?.into_iter().map(|(function, _)| function).collect();
    let order = Order::bind(&options.order_by, is_total(&functions), input)?;
    Ok((functions, order))
}

/// Only `row_number` tells peers apart.
fn is_total(functions: &[Function]) -> bool {
    functions.contains(&Function::RowNumber)
}
