//! The rules over orders of `plugins/order-rules`, in the way of columns: to measure the two ways beside each other.

#![cfg_attr(test, allow(clippy::unwrap_used))]

use crisol_sdk::arrow::{Array, Decimal128Array, RecordBatch, SchemaRef, StringArray, TimestampMicrosecondArray};
use crisol_sdk::columns::{Validator, read};
use crisol_sdk::scan::equal;
use crisol_sdk::value::Value;
use crisol_sdk::{About, Batch, Column, Decimal, Failure, Fate, Rejections, Text, Timestamp, types, validator};
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

/// The rules.
#[derive(Debug)]
pub struct OrderRules {
    currencies: Option<Vec<String>>,
    latest: Timestamp,
}

/// What the rules look at.
struct Orders<'a> {
    events: &'a TimestampMicrosecondArray,
    amounts: &'a Decimal128Array,
    currencies: &'a StringArray,
}

impl Validator for OrderRules {
    type Options = Options;
    const ABOUT: About = About::new("order-rules-columns", env!("CARGO_PKG_VERSION")).reuse().options(
        r#"{
            "type": "object",
            "properties": { "currencies": { "type": "array", "items": { "type": "string" }, "minItems": 1 } },
            "additionalProperties": false
        }"#,
    );

    fn reads(_: &Options, input: &[Column]) -> Result<Vec<String>, Failure> {
        let wanted = [
            ("event_ts", Timestamp::data_type()),
            ("amount", Decimal::<18, 2>::data_type()),
            ("currency", Text::data_type()),
        ];
        for (name, data_type) in &wanted {
            let found = input.iter().find(|column| column.name == *name);
            if found.is_none_or(|column| column.data_type != *data_type) {
                let wanted = types::name(data_type).unwrap_or_default();
                return Err(Failure::input(format!("there is no column `{name}` of type {wanted}")));
            }
        }
        Ok(wanted.map(|(name, _)| name.to_string()).to_vec())
    }

    fn open(options: Options, _: &SchemaRef, batch: &Batch) -> Result<Self, Failure> {
        let latest = Timestamp { micros: batch.timestamp_us.saturating_add(AHEAD_US_MAX) };
        Ok(OrderRules { currencies: options.currencies, latest })
    }

    fn check(&mut self, rows: &RecordBatch) -> Result<Rejections, Failure> {
        let orders = Orders {
            events: read::<Timestamp>(rows, "event_ts")?,
            amounts: read::<Decimal<18, 2>>(rows, "amount")?,
            currencies: read::<Text<'_>>(rows, "currency")?,
        };
        let mut broken = Rejections::default();
        for (row, doubtful) in self.doubtful(&orders).iter().enumerate() {
            if *doubtful {
                self.check_row(&orders, row, &mut broken);
            }
        }
        Ok(broken)
    }
}

impl OrderRules {
    /// Rows that may break a rule, whatever their nulls: one column after another.
    fn doubtful(&self, orders: &Orders<'_>) -> Vec<bool> {
        let (amounts, events) = (orders.amounts.values(), orders.events.values());
        let mut doubtful: Vec<bool> = amounts.iter().map(|units| *units <= 0).collect();
        for (doubtful, micros) in doubtful.iter_mut().zip(events) {
            *doubtful |= *micros > self.latest.micros;
        }
        if let Some(known) = &self.currencies {
            let (bytes, offsets) = (orders.currencies.value_data(), orders.currencies.value_offsets());
            for (doubtful, ends) in doubtful.iter_mut().zip(offsets.windows(2)) {
                let currency = if let [start, end] = *ends { bytes.get(start as usize..end as usize) } else { None };
                *doubtful |= !known.iter().any(|known| equal(known.as_bytes(), currency.unwrap_or_default()));
            }
        }
        doubtful
    }

    fn check_row(&self, orders: &Orders<'_>, row: usize, broken: &mut Rejections) {
        let mut push = |code, text: String| broken.push(row as i32, Fate::Quarantine, code, &text);
        let amount = Decimal::<18, 2>::of_units(orders.amounts.value(row));
        if orders.amounts.is_valid(row) && amount <= Decimal::ZERO {
            push("amount_not_positive", format!("amount is {amount}"));
        }
        let currency = orders.currencies.value(row);
        if let Some(known) = &self.currencies
            && orders.currencies.is_valid(row)
            && !known.iter().any(|known| known == currency)
        {
            push("unknown_currency", format!("`{currency}` is none of {}", known.join(", ")));
        }
        let event = Timestamp { micros: orders.events.value(row) };
        if orders.events.is_valid(row) && event > self.latest {
            push("event_in_future", format!("event_ts {event} is more than a day ahead"));
        }
    }
}

validator!(columns OrderRules);

#[cfg(test)]
mod tests {
    use crisol_plugin_order_rules as rows;
    use crisol_sdk::Record;
    use crisol_sdk::rows::Checking;
    use crisol_sdk::testing::{NOW_US, input, reasons, validator};
    use proptest::prelude::*;

    use super::*;

    fn order() -> impl Strategy<Value = rows::Order<'static>> {
        let micros = prop_oneof![Just(None), (-2_i64..3).prop_map(|d| Some(NOW_US + AHEAD_US_MAX + d))];
        let units = prop_oneof![Just(None), (-2_i128..3).prop_map(Some)];
        let currency = prop_oneof![Just(None), "EUR|USD|EU|€|".prop_map(Some)];
        (micros, units, currency).prop_map(|(micros, units, currency)| rows::Order {
            event_ts: micros.map(|micros| Timestamp { micros }),
            amount: units.map(Decimal::of_units),
            currency: currency.map(Into::into),
        })
    }

    proptest! {
        #[test]
        fn the_rows_way_says_the_same(orders in prop::collection::vec(order(), 0..60), with: bool) {
            let mut builders = <rows::Order<'_> as Record>::builders(0);
            orders.iter().for_each(|order| <rows::Order<'_> as Record>::append(Some(order), &mut builders));
            let columns = <rows::Order<'_> as Record>::finish(builders);
            let names = ["event_ts", "amount", "currency"];
            let batch = input(&names.into_iter().zip(columns).collect::<Vec<_>>()).unwrap();
            let options = if with { r#"{"currencies": ["EUR", "USD"]}"# } else { "{}" };
            let said = reasons(&validator::<OrderRules>(options, &batch).unwrap());
            prop_assert_eq!(said, reasons(&validator::<Checking<rows::OrderRules>>(options, &batch).unwrap()));
        }
    }
}
