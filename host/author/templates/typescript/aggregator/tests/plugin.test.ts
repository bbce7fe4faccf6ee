import assert from "node:assert/strict";
import { test } from "node:test";

import { Decimal, decimal, nullable } from "crisol";
import { aggregate } from "crisol/testing";

import stage from "../src/plugin.ts";

test("sales are counted", () => {
  const reads = { price: nullable(decimal(18, 2)) };
  const sale = (price: string | null) => ({ price: price === null ? null : Decimal.parse(price)! });
  const made = aggregate(stage, reads, [[sale("1"), sale("3"), sale(null)]]);
  assert.deepEqual(made, [{ sales: 3n, dearest: Decimal.parse("3.00"), _group: 0 }]);
});
