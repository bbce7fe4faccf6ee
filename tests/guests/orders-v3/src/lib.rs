//! Orders of schema version 3: with the channel through which they came.

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
        pub channel: Text<'a>,
    }
}

/// The decoder.
#[derive(Debug)]
pub struct Orders;

impl Decoder for Orders {
    type Options = NoOptions;
    type Row<'a> = Order<'a>;
    const ABOUT: About = About::new("orders", "3.0.0").schema_versions("3");

    fn open(_: NoOptions, _: &Batch) -> Result<Self, Failure> {
        Ok(Orders)
    }

    fn decode<'a>(&self, message: &'a str) -> Result<Order<'a>, Rejection> {
        Ok(Order::from_json(message)?)
    }
}

decoder!(Orders);
