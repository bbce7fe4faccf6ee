import assert from "node:assert/strict";
import { test } from "node:test";

import { Decimal, decimal, nullable, parseTimestamp, string, timestamp } from "crisol";
import { check, NOW } from "crisol/testing";
import rowsWay from "order-rules-javascript/src/plugin.js";

import stage from "../src/plugin.js";

const Order = { event_ts: nullable(timestamp()), amount: nullable(decimal(18, 2)), currency: nullable(string()) };
const KNOWN = { currencies: ["EUR", "USD", "€uro"] };
const LATEST = NOW + 86_400_000_000n;

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
  assert.deepEqual(check(stage, Order, []), []);
  assert.throws(() => check(stage, Order, [], { currencys: [] }), /no option `currencys`/);
});

test("what stands under a null is no value", () => {
  const bad = { event_ts: LATEST + 1n, amount: cents(-1n), currency: "PTS" };
  const none = { event_ts: null, amount: null, currency: null };
  assert.equal(check(stage, Order, [bad, none], KNOWN).length, 3);
  assert.deepEqual(check(withoutValues(stage), Order, [bad, none], KNOWN), []);
});

test("the rows way says the same", () => {
  const one = drawer(1);
  const rows = Array.from({ length: 6_000 }, () => ({
    event_ts: one([null, -1n, NOW, LATEST, LATEST + 1n, LATEST + 2n ** 40n]),
    amount: one([null, 1n, 0n, -1n, 1n - 2n ** 32n, 2n ** 32n, 2n ** 31n, 10n ** 18n - 1n, 1n - 10n ** 18n].map(cents)),
    currency: one([null, "EUR", "USD", "€uro", "", "PTS", "€", "EU", "EURO"]),
  }));
  for (const options of [{}, KNOWN]) {
    const told = check(rowsWay, Order, rows, options);
    assert.ok(told.length > 1_000);
    assert.deepEqual(check(stage, Order, rows, options), told);
  }
});

const cents = (units) => (units === null ? null : new Decimal(units, 2));

/** The stage, given messages of two orders in which the first, too, was made null: its values are still there. */
function withoutValues(stage) {
  const session = (inner) => ({
    check(bytes) {
      const body = 8 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
      // Bits of validity have 8 bytes, two moments 16, two amounts 32.
      for (const at of [body, body + 24, body + 64]) {
        assert.equal(bytes[at] & 3, 1);
        bytes[at] = 0;
      }
      return inner.check(bytes);
    },
  });
  return { ...stage, open: (...opened) => session(stage.open(...opened)) };
}

/** Draws of lists, the same ones for the same seed. */
function drawer(seed) {
  let state = seed;
  return (list) => {
    state = (state * 48_271) % 2_147_483_647;
    return list[state % list.length];
  };
}
