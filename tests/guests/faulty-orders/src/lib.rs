//! The bundled `orders` decoder with a defect: it traps on order `o-13`.
#![allow(clippy::panic, reason = "the defect")]

use crisol_plugin_orders::Order;
use crisol_sdk::{About, Batch, Decoder, Failure, JsonRecord, NoOptions, Rejection, decoder};

/// The decoder.
#[derive(Debug)]
pub struct FaultyOrders;

impl Decoder for FaultyOrders {
    type Options = NoOptions;
    type Row<'a> = Order<'a>;
    const ABOUT: About = About::new("orders", "9.9.9").schema_versions("1..2");

    fn open(_: NoOptions, _: &Batch) -> Result<Self, Failure> {
        Ok(FaultyOrders)
    }

    fn decode<'a>(&self, message: &'a str) -> Result<Order<'a>, Rejection> {
        assert!(!message.contains("\"o-13\""), "thirteen brings bad luck");
        Ok(Order::from_json(message)?)
    }
}

decoder!(FaultyOrders);
