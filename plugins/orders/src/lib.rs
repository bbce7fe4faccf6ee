//! Decodes the JSON messages of `orders.v1`. Version 2 added `customer_id`, `country` and `currency`.

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
pub struct Orders;

impl Decoder for Orders {
    type Options = NoOptions;
    type Row<'a> = Order<'a>;
    const ABOUT: About = About::new("orders", env!("CARGO_PKG_VERSION")).schema_versions("1..2").reuse();

    fn open(_: NoOptions, _: &Batch) -> Result<Self, Failure> {
        Ok(Orders)
    }

    #[inline]
    fn decode<'a>(&self, message: &'a str) -> Result<Order<'a>, Rejection> {
        let order = Order::from_json(message)?;
        match order.schema_version {
            1 | 2 => Ok(order),
            other => Err(Rejection::new("unsupported_schema_version", format!("version {other}; 1 and 2 are known"))),
        }
    }
}

decoder!(Orders, samples: "../tests/samples.json");

#[cfg(test)]
mod tests {
    use crisol_sdk::testing::decode_texts;

    use super::*;

    #[test]
    fn both_versions_become_rows_and_others_are_rejected() -> Result<(), Failure> {
        let outcome = decode_texts::<Orders>(
            "{}",
            &[
                r#"{"order_id":"o-1","event_ts":"2026-03-14T09:26:53.589Z","amount":12.5,"schema_version":1}"#,
                r#"{"country":"ES","order_id":"o-2","event_ts":"2026-03-14","amount":7,"schema_version":2,"currency":"EUR"}"#,
                r#"{"order_id":"o-3","event_ts":"2026-03-14","amount":7,"schema_version":9}"#,
                r#"{"order_id":"o-4","event_ts":"2026-03-14","amount":"mucho","schema_version":1}"#,
            ],
        )?;
        assert_eq!(
            outcome.table(),
            [
                "o-1 | 2026-03-14T09:26:53.589Z | 12.50 | 1 | null | null | null",
                "o-2 | 2026-03-14T00:00:00Z | 7.00 | 2 | null | ES | EUR",
            ]
        );
        assert_eq!(
            outcome.reasons(),
            [
                "2 unsupported_schema_version: version 9; 1 and 2 are known",
                "3 corrupt_record: `amount`: \"mucho\" is not a decimal(18,2)",
            ]
        );
        Ok(())
    }
}
