//! A decoder called `orders` whose rows say which build made them. It is a template: a test writes a mark, and the schema
//! versions that the build handles, over those that stand in its bytes.

use std::hint::black_box;

use crisol_sdk::{
    About, Batch, Decimal, Decoder, Failure, JsonRecord, NoOptions, Rejection, Text, Timestamp, decoder, record,
};

/// The mark of the template.
pub const MARK: &str = "mark-0000000000000000";
/// The schema versions of the template.
pub const SCHEMA_VERSIONS: &str = "1000001..1000002";

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
        pub build: Option<Text<'a>>,
    }
}

/// The decoder.
#[derive(Debug)]
pub struct MarkedOrders;

impl Decoder for MarkedOrders {
    type Options = NoOptions;
    type Row<'a> = Order<'a>;
    const ABOUT: About = About::new("orders", "1.0.0").schema_versions(SCHEMA_VERSIONS);

    fn open(_: NoOptions, _: &Batch) -> Result<Self, Failure> {
        Ok(MarkedOrders)
    }

    fn decode<'a>(&self, message: &'a str) -> Result<Order<'a>, Rejection> {
        let order = Order::from_json(message)?;
        // Looked at when it runs: the compiler must not write the mark anywhere else.
        Ok(Order { build: Some(black_box(MARK).into()), ..order })
    }
}

decoder!(MarkedOrders);
