import assert from "node:assert/strict";
import { test } from "node:test";

import {
  Decimal,
  Failure,
  aggregator,
  bigint,
  columns,
  decimal,
  decoder,
  filter,
  int,
  nullable,
  option,
  ranker,
  record,
  reject,
  string,
  transformer,
  validator,
} from "crisol";
import { NOW, aggregate, check, decode, rank, transform } from "crisol/testing";

const about = { name: "tried", version: "1.2.3" };
const Sale = record({ sku: string(), price: nullable(decimal(18, 2)) });
const sale = (sku, price) => ({ sku, price: price === undefined ? null : Decimal.parse(price) });

test("a decoder gives rows and reasons, and is told of nulls and bytes that are no text", () => {
  const stage = decoder({ ...about, row: Sale, decode: (message) => Sale.fromJson(message) });
  const bytes = (...values) => new Uint8Array(values);
  const { rows, rejected } = decode(stage, [new TextEncoder().encode('{"sku":"ñ","price":1}'), null, bytes(0x22, 0xff), bytes(0xc3)]);
  assert.deepEqual(rows, [{ ...sale("ñ", "1.00"), _row: 0 }]);
  assert.deepEqual(rejected.map(({ row, code, text }) => [row, code, text]), [
    [1, "corrupt_record", "`payload` is null"],
    [2, "corrupt_record", "invalid UTF-8 at byte 2"],
    [3, "corrupt_record", "invalid UTF-8 at byte 1"],
  ]);
  assert.throws(() => stage.plan("{}", [{ name: "payload", type: "int", nullable: true }]), /`payload` is int, not string or binary/);
});

test("a transformer gives none, one or several rows, and a null where none may be is told", () => {
  const stage = transformer({
    ...about,
    reads: { n: int() },
    writes: { n: int() },
    transform({ n }) {
      if (n < 0) throw filter("negative", `it is ${n}`);
      return n === 1 ? { n: 10 } : Array.from({ length: n }, (_, i) => ({ n: i }));
    },
  });
  const { rows, rejected } = transform(stage, { n: nullable(int()) }, [2, 0, null, -1, 1].map((n) => ({ n })));
  assert.deepEqual(rows, [{ n: 0, _row: 0 }, { n: 1, _row: 0 }, { n: 10, _row: 4 }]);
  assert.deepEqual(rejected, [
    { row: 1, code: "filtered", text: "", filtered: true },
    { row: 2, code: "not_null: n", text: "`n`: it is null", filtered: false },
    { row: 3, code: "negative", text: "it is -1", filtered: true },
  ]);
});

const rules = (make) =>
  make({
    ...about,
    reads: Sale,
    options: { known: option.list(option.text(), { minItems: 1 }), limit: option.integer({ minimum: 1, default: 9 }) },
    open: ({ options, timestamp }) => ({ ...options, timestamp }),
  });

test("a validator tells of each rule that is broken, with options and the time of the batch", () => {
  const stage = rules((spec) =>
    validator({
      ...spec,
      check({ sku, price }, broken, { known, limit, timestamp }) {
        if (price?.sign < 0) broken.reject("negative");
        if (known && !known.includes(sku)) broken.filter("unknown", `${sku} of ${limit} at ${timestamp}`);
      },
    }),
  );
  const rejected = check(stage, Sale, [sale("a", "1"), sale("b", "-1"), sale("a")], { known: ["a"] });
  assert.deepEqual(rejected, [
    { row: 1, code: "negative", text: "", filtered: false },
    { row: 1, code: "unknown", text: `b of 9 at ${NOW}`, filtered: true },
  ]);
});

test("options that do not fit are refused, and their schema is told", () => {
  const stage = rules((spec) => validator({ ...spec, check() {} }));
  for (const [options, words] of [
    [{ knwon: [] }, "there is no option `knwon`; there are `known`, `limit`"],
    [{ known: "a" }, "`known`: it is not a list"],
    [{ known: [1] }, "`known`: it is not a text"],
    [{ known: [] }, "`known`: it has 0 items, at least 1 are wanted"],
    [{ limit: 0 }, "`limit`: 0 is less than 1"],
    [{ limit: 1.5 }, "`limit`: it is not a whole number"],
    [[], "they are no object"],
  ]) {
    assert.throws(() => check(stage, Sale, [], options), (error) => error.code === "options" && error.message.includes(words), words);
  }
  assert.deepEqual(JSON.parse(stage.describe()), {
    ...about,
    kind: "validator",
    schema_versions: "all",
    reuse: false,
    options: {
      type: "object",
      properties: {
        known: { type: "array", items: { type: "string" }, minItems: 1 },
        limit: { type: "integer", minimum: 1, default: 9 },
      },
      additionalProperties: false,
    },
  });
  assert.deepEqual(check(stage, Sale, [], {}), []);
});

test("a column that is absent or of another type is named", () => {
  const stage = validator({ ...about, reads: Sale, check() {} });
  const column = (name, type) => ({ name, type, nullable: true });
  const plan = (...input) => stage.plan("{}", input);
  assert.throws(() => plan(column("sku", "string")), (error) => error.code === "input" && /no column `price` among sku/.test(error.message));
  assert.throws(() => plan(column("price", "double"), column("sku", "string")), /column `price` is double, not decimal\(18,2\)/);
  assert.deepEqual(plan(column("price", "decimal(18, 2)"), column("more", "array<struct<`a b`:int>>"), column("sku", "STRING")).reads, ["sku", "price"]);
});

const groups = [[sale("a", "1"), sale("b", "3"), sale("c")], [sale("d")], [sale("e", "2"), sale("f", "2")]];

test("a ranker is given whole groups, however their rows come", () => {
  const stage = ranker({
    ...about,
    reads: Sale,
    writes: { place: int(), of: int() },
    rank(group, keep) {
      for (let row = group.length - 1; row >= 0; row -= 2) keep(row, { place: row, of: group.length });
    },
  });
  assert.deepEqual(
    rank(stage, Sale, groups).map(({ place, of, _row }) => [place, of, _row]),
    [[2, 3, 2], [0, 3, 0], [0, 1, 3], [1, 2, 5]],
  );
  const strict = ranker({ ...about, reads: { price: decimal(18, 2) }, writes: { place: int() }, rank() {} });
  assert.throws(() => rank(strict, Sale, groups), (error) => error instanceof Failure && error.code === "input" && /`price`: it is null/.test(error.message));
});

const writes = { rows: bigint(), total: nullable(decimal(18, 2)) };
const EXPECTED = [
  { rows: 3n, total: Decimal.parse("4.00"), _group: 0 },
  { rows: 2n, total: Decimal.parse("4.00"), _group: 2 },
];

test("an aggregator makes one row of a group or none, over rows", () => {
  const stage = aggregator({
    ...about,
    reads: Sale,
    writes,
    start: () => ({ rows: 0n, total: null }),
    add(folded, { price }) {
      folded.rows += 1n;
      if (price) folded.total = folded.total?.plus(price) ?? price;
    },
    finish: (folded) => (folded.total ? folded : null),
  });
  assert.deepEqual(aggregate(stage, Sale, groups), EXPECTED);
});

test("and over columns", () => {
  const stage = columns.aggregator({
    ...about,
    reads: Sale,
    writes,
    start: () => ({ rows: 0, units: null }),
    add(folded, { columns: { price } }, start, end) {
      folded.rows += end - start;
      for (let row = start; row < end; row += 1) if (!price.isNull(row)) folded.units = (folded.units ?? 0n) + price.units(row);
    },
    finish({ rows, units }, out) {
      if (units === null) return false;
      out.columns.rows.append(BigInt(rows));
      out.columns.total.append(new Decimal(units, 2));
      return true;
    },
  });
  assert.deepEqual(aggregate(stage, Sale, groups), EXPECTED);
});

test("a rejection stops a group stage wherever it is thrown, also before any row", () => {
  const refuse = () => {
    throw reject("bad", "too bad");
  };
  const refused = (error) => error instanceof Failure && error.code === "input" && /too bad/.test(error.message);
  const folding = { ...about, reads: Sale, writes: {}, start: () => 0, add() {}, finish() {} };
  for (const make of [aggregator, columns.aggregator]) {
    for (const part of ["open", "start", "add", "finish"]) {
      assert.throws(() => aggregate(make({ ...folding, [part]: refuse }), Sale, groups), refused, part);
    }
  }
  for (const make of [ranker, columns.ranker]) {
    for (const part of ["open", "rank"]) {
      assert.throws(() => rank(make({ ...about, reads: Sale, writes: {}, rank() {}, [part]: refuse }), Sale, groups), refused, part);
    }
  }
});

test("stages over columns find their columns from input and options", () => {
  const stage = columns.transformer({
    ...about,
    options: { drop: option.text({ required: true }) },
    reads: (input, { drop }) => Object.fromEntries(Object.entries(input).filter(([name]) => name !== drop)),
    writes: (input, { drop }) => Object.fromEntries(Object.entries(input).filter(([name]) => name !== drop)),
    push({ length, columns: read }, out) {
      for (let row = 0; row < length; row += 1) {
        if (read.sku.value(row) === "") out.reject(row, "empty", "no sku");
        else {
          for (const [name, column] of Object.entries(read)) out.columns[name].copy(column, row);
          out.row(row);
        }
      }
    },
  });
  const { rows, rejected } = transform(stage, Sale, [sale("a", "1"), sale("")], { drop: "price" });
  assert.deepEqual(rows, [{ sku: "a", _row: 0 }]);
  assert.deepEqual(rejected, [{ row: 1, code: "empty", text: "no sku", filtered: false }]);
  assert.throws(() => transform(stage, Sale, []), /`drop` is missing/);
});

test("a stage that lacks a part is refused when it is made", () => {
  assert.throws(() => decoder({ ...about, row: Sale }), /a decoder needs `decode`/);
  assert.throws(() => record({ 1: int() }), /cannot be the name of a field/);
  const odd = transformer({ ...about, reads: { n: int() }, writes: { n: int() }, transform: () => ({ n: "x" }) });
  assert.throws(() => transform(odd, { n: int() }, [{ n: 1 }]), /column `n`: "x" \(string\) is no int/);
  assert.ok(reject("a", "b").filtered === false);
});
