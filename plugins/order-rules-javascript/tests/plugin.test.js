import assert from "node:assert/strict";
import { test } from "node:test";

import { Decimal, decimal, nullable, parseTimestamp, string, timestamp } from "crisol";
import { check } from "crisol/testing";

import stage from "../src/plugin.js";

const Order = { event_ts: nullable(timestamp()), amount: nullable(decimal(18, 2)), currency: nullable(string()) };
const order = (event, amount, currency = null) => ({
  event_ts: event && parseTimestamp(event),
  amount: amount && Decimal.parse(amount),
  currency,
});

test("each broken rule is named, and nulls pass", () => {
  const rows = [
    order("2026-03-14", "12.50", "EUR"),
    order(null, null),
    order("2026-04-02", "0.01"),
    order("2026-04-02T00:00:00.000001Z", "0", "PTS"),
  ];
  assert.deepEqual(
    check(stage, Order, rows, { currencies: ["EUR", "USD"] }).map(({ row, code, text }) => `${row} ${code}: ${text}`),
    [
      "3 amount_not_positive: amount is 0.00",
      "3 unknown_currency: `PTS` is none of EUR, USD",
      "3 event_in_future: event_ts 2026-04-02T00:00:00.000001Z is more than a day ahead",
    ],
  );
});

test("without options any currency is known", () => {
  assert.deepEqual(check(stage, Order, [order("2026-03-14", "1", "PTS")]), []);
  assert.throws(() => check(stage, Order, [], { currencys: [] }), /no option `currencys`/);
});
