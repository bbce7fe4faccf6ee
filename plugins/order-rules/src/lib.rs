//! Rules over orders: the amount is positive, the currency is known, the event is not of a day to come.

use crisol_sdk::scan::equal;
use crisol_sdk::{About, Batch, Decimal, Failure, Rejection, Text, Timestamp, Validator, record, validator};
use serde::Deserialize;

/// How far a sender's clock may run ahead.
const AHEAD_US_MAX: i64 = 86_400_000_000;

/// Options of a contract.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Currencies that are accepted; all when absent.
    pub currencies: Option<Vec<String>>,
}

record! {
    /// What the rules look at.
    pub struct Order<'a> {
        pub event_ts: Option<Timestamp>,
        pub amount: Option<Decimal<18, 2>>,
        pub currency: Option<Text<'a>>,
    }
}

/// The rules.
#[derive(Debug)]
pub struct OrderRules {
    currencies: Option<Vec<String>>,
    latest: Timestamp,
}

impl Validator for OrderRules {
    type Options = Options;
    type Row<'a> = Order<'a>;
    const ABOUT: About = About::new("order-rules", env!("CARGO_PKG_VERSION")).reuse().options(
        r#"{
            "type": "object",
            "properties": {
                "currencies": {
                    "type": "array", "items": { "type": "string" }, "minItems": 1,
                    "description": "Currencies that are accepted; all when absent. A null currency passes."
                }
            },
            "additionalProperties": false
        }"#,
    );

    fn open(options: Options, batch: &Batch) -> Result<Self, Failure> {
        let latest = Timestamp { micros: batch.timestamp_us.saturating_add(AHEAD_US_MAX) };
        Ok(OrderRules { currencies: options.currencies, latest })
    }

    #[inline]
    fn check(&self, row: &Order<'_>, broken: &mut Vec<Rejection>) {
        if let Some(amount) = row.amount.filter(|a| *a <= Decimal::ZERO) {
            broken.push(not_positive(amount));
        }
        if let (Some(currency), Some(known)) = (&row.currency, &self.currencies)
            && !known.iter().any(|known| equal(known.as_bytes(), currency.as_bytes()))
        {
            broken.push(unknown(currency, known));
        }
        if let Some(event) = row.event_ts.filter(|e| *e > self.latest) {
            broken.push(in_future(event));
        }
    }
}

// Texts are made apart from the rules: a value that is shown has to lie in memory, for all rows.

#[cold]
fn not_positive(amount: Decimal<18, 2>) -> Rejection {
    Rejection::new("amount_not_positive", format!("amount is {amount}"))
}

#[cold]
fn unknown(currency: &str, known: &[String]) -> Rejection {
    Rejection::new("unknown_currency", format!("`{currency}` is none of {}", known.join(", ")))
}

#[cold]
fn in_future(event: Timestamp) -> Rejection {
    Rejection::new("event_in_future", format!("event_ts {event} is more than a day ahead"))
}

validator!(OrderRules, samples: "../tests/samples.json");

#[cfg(test)]
mod tests {
    use crisol_sdk::testing;

    use super::*;

    fn order(event: &str, amount: &str, currency: Option<&'static str>) -> Order<'static> {
        let (event_ts, amount) = (Timestamp::parse(event), Decimal::parse(amount));
        Order { event_ts, amount, currency: currency.map(Text::from) }
    }

    #[test]
    fn each_broken_rule_is_named_and_nulls_pass() -> Result<(), Failure> {
        let rows = [
            order("2026-03-14", "12.50", Some("EUR")),
            order("", "", None),
            order("2026-04-02", "0.01", None),
            order("2026-04-02T00:00:00.000001Z", "0", Some("PTS")),
        ];
        let rejected = testing::check::<OrderRules>(r#"{"currencies": ["EUR", "USD"]}"#, &rows)?;
        assert_eq!(
            testing::reasons(&rejected),
            [
                "3 amount_not_positive: amount is 0.00",
                "3 unknown_currency: `PTS` is none of EUR, USD",
                "3 event_in_future: event_ts 2026-04-02T00:00:00.000001Z is more than a day ahead",
            ]
        );
        Ok(())
    }

    #[test]
    fn without_options_any_currency_is_known() -> Result<(), Failure> {
        assert!(testing::check::<OrderRules>("", &[order("2026-03-14", "1", Some("PTS"))])?.is_empty());
        let error = testing::check::<OrderRules>(r#"{"currencys": []}"#, &[]).err();
        assert!(error.is_some_and(|e| e.code == "options" && e.text.contains("currencys")));
        Ok(())
    }
}
