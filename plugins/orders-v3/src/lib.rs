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

decoder!(Orders, samples: "../tests/samples.json");

#[cfg(test)]
mod tests {
    use crisol_sdk::testing::decode_texts;

    use super::*;

    #[test]
    fn an_order_has_its_channel_and_one_without_is_rejected() -> Result<(), Failure> {
        let outcome = decode_texts::<Orders>(
            "{}",
            &[
                r#"{"order_id":"o-1","event_ts":"2026-03-29T09:26:53.589Z","amount":12.5,"schema_version":3,"country":"ES","channel":"web"}"#,
                r#"{"order_id":"o-2","event_ts":"2026-03-29","amount":7,"schema_version":3}"#,
            ],
        )?;
        assert_eq!(outcome.table(), ["o-1 | 2026-03-29T09:26:53.589Z | 12.50 | 3 | null | ES | null | web"]);
        assert_eq!(outcome.reasons(), ["1 not_null: channel: `channel`: it is null or absent"]);
        Ok(())
    }
}
