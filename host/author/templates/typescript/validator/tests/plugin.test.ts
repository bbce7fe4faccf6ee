import assert from "node:assert/strict";
import { test } from "node:test";

import { Decimal, decimal, nullable, string } from "crisol";
import { check } from "crisol/testing";

import stage from "../src/plugin.ts";

test("each rule is named", () => {
  const reads = { sku: nullable(string()), price: nullable(decimal(18, 2)) };
  const sales = [
    { sku: "a-1", price: Decimal.parse("1.50")! },
    { sku: "b-1", price: Decimal.parse("-1")! },
  ];
  const rejected = check(stage, reads, sales, { prefix: "a-" });
  assert.deepEqual(
    rejected.map(({ row, code, text }) => `${row} ${code}: ${text}`),
    ["1 price_below_zero: the price is below zero", "1 sku: the sku does not begin with a-"],
  );
});
