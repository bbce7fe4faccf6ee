// The stages of docs/plugin-javascript.md do what it says.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as crisol from "crisol";
import { check, decode, rank, transform } from "crisol/testing";

const { Decimal, decimal, int, nullable, string } = crisol;
const guide = readFileSync(new URL("../../../docs/plugin-javascript.md", import.meta.url), "utf8");
const price = (text) => text && Decimal.parse(text);

/** The stage of that name, as the guide writes it. */
function stage(name) {
  const code = [...guide.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code).find((code) => code.includes(`name: "${name}"`));
  const body = code.replace(/^import .*$/m, "").replace("export default", "return");
  return new Function(...Object.keys(crisol), body)(...Object.values(crisol));
}

test("the decoder", () => {
  const message = (sku) => `{"sku": "${sku}", "at": "2026-03-14T09:26:53Z"}`;
  const { rows, rejected } = decode(stage("sales"), [message("a-1"), message(""), "no JSON"]);
  assert.deepEqual(rows.map(({ sku, price }) => [sku, price]), [["a-1", null]]);
  assert.deepEqual(rejected.map(({ row, code }) => [row, code]), [[1, "no_sku"], [2, "corrupt_record"]]);
});

test("the transformer", () => {
  const { rows, rejected } = transform(stage("articles"), { sku: nullable(string()), quantity: int() }, [{ sku: "a", quantity: 2 }, { sku: null, quantity: 1 }]);
  assert.deepEqual(rows, [{ article: "A", number: 1, _row: 0 }, { article: "A", number: 2, _row: 0 }]);
  assert.deepEqual(rejected.map(({ row, code }) => [row, code]), [[1, "no_sku"]]);
});

test("the validator over columns", () => {
  const reads = { amount: nullable(decimal(18, 2)), currency: nullable(string()) };
  const rows = [["1", "EUR"], ["0", "USD"], [null, null], ["-1", "GBP"]].map(([amount, currency]) => ({ amount: price(amount), currency }));
  assert.deepEqual(
    check(stage("rules"), reads, rows).map(({ row, code, text }) => [row, code, text]),
    [[1, "amount_not_positive", "amount is 0.00"], [3, "amount_not_positive", "amount is -1.00"], [3, "unknown_currency", "GBP"]],
  );
});

test("the ranker over columns", () => {
  const groups = [["1", "-2", null, "-3"], [null], ["-1"]].map((prices) => prices.map((text) => ({ price: price(text) })));
  assert.deepEqual(rank(stage("returns"), { price: nullable(decimal(18, 2)) }, groups), [
    { sales: 4, _row: 1 },
    { sales: 4, _row: 3 },
    { sales: 1, _row: 5 },
  ]);
});
