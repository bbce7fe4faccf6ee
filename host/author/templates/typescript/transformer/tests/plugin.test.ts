import assert from "node:assert/strict";
import { test } from "node:test";

import { int, nullable, string } from "crisol";
import { transform } from "crisol/testing";

import stage from "../src/plugin.ts";

test("a sale of two is two rows", () => {
  const reads = { sku: nullable(string()), quantity: int() };
  const sales = [{ sku: "a-1", quantity: 2 }, { sku: null, quantity: 1 }];
  const { rows, rejected } = transform(stage, reads, sales);
  assert.deepEqual(rows, [
    { _row: 0, article: "A-1", number: 1 },
    { _row: 0, article: "A-1", number: 2 },
  ]);
  assert.deepEqual(rejected, [{ row: 1, code: "no_sku", text: "there is no sku", filtered: true }]);
});
