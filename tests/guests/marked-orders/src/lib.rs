//! A decoder called `orders` whose rows say which build made them. It is a template: a test writes a mark, and the schema
//! versions that the build handles, over those that stand in its bytes. Messages make it trap, loop or ask for memory.

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
        if let Some((_, disaster)) = message.split_once("\"do\":\"") {
            happen(disaster.split('"').next().unwrap_or_default());
        }
        let order = Order::from_json(message)?;
        // Looked at when it runs: the compiler must not write the mark anywhere else.
        Ok(Order { build: Some(black_box(MARK).into()), ..order })
    }
}

#[allow(clippy::panic, reason = "the defect")]
fn happen(disaster: &str) {
    match disaster {
        "trap" => panic!("a message said so"),
        "loop" => {
            let mut count = 0_u64;
            loop {
                count = black_box(count.wrapping_add(1));
            }
        }
        "grow" => {
            let mut kept = Vec::new();
            loop {
                kept.push(black_box(vec![1_u8; 1 << 20]));
            }
        }
        _ => {}
    }
}

decoder!(MarkedOrders);
