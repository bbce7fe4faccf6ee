import assert from "node:assert/strict";
import { test } from "node:test";

import { Decimal, decimal, nullable, string } from "crisol";
import { rank } from "crisol/testing";

import stage from "../src/plugin.ts";

test("the dearest two stay", () => {
  const reads = { sku: string(), price: nullable(decimal(18, 2)) };
  const sale = (sku: string, price: string) => ({ sku, price: Decimal.parse(price)! });
  const kept = rank(stage, reads, [[sale("a", "1"), sale("b", "3"), sale("c", "2")]]);
  assert.deepEqual(kept, [{ place: 1, _row: 1 }, { place: 2, _row: 2 }]);
});
