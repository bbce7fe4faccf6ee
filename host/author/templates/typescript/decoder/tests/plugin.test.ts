import assert from "node:assert/strict";
import { test } from "node:test";

import { Decimal, parseTimestamp } from "crisol";
import { decode } from "crisol/testing";

import stage from "../src/plugin.ts";

test("messages become rows", () => {
  const message = '{"sku": "a-1", "sold_at": "2026-03-14T09:26:53Z", "price": 12.5}';
  const { rows, rejected } = decode(stage, [message, "no JSON"]);
  const sold_at = parseTimestamp("2026-03-14T09:26:53Z");
  assert.deepEqual(rows, [{ _row: 0, sku: "a-1", sold_at, price: Decimal.parse("12.50") }]);
  assert.deepEqual(rejected.map(({ row, code }) => [row, code]), [[1, "corrupt_record"]]);
});
