//! The bundled `orders` decoder with a defect: it traps on order `o-13`.
#![allow(clippy::panic, reason = "the defect")]

use crisol_sdk::{
    About, Batch, Decimal, Decoder, Failure, JsonRecord, NoOptions, Rejection, Text, Timestamp, decoder, record,
};

record! {
    /// An order.
    pub struct Order<'a> {
        pub order_id: Text<'a>,
        pub event_ts: Timestamp,
        pub amount: Decimal<18, 2>,
        pub schema_version: i32,
        pub customer_id: Option<Text<'a>>,
        pub country: Option<Text<'a>>,
        pub currency: Option<Text<'a>>,
    }
}

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
