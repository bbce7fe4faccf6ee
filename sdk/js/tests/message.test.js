import assert from "node:assert/strict";
import { test } from "node:test";

import { bigint, decimal, Decimal, int, nullable, record, string, tinyint } from "crisol";

import { builderOf } from "../src/arrow/builders.js";
import { openMessage } from "../src/arrow/message.js";
import { readMessage } from "../src/arrow/read.js";
import { finish } from "../src/arrow/write.js";
import { BARE, EMPTY, FULL, Table } from "./table.js";

const written = (fields, rows) => {
  const builders = record(fields).entries.map(([name, type]) => builderOf(type, name));
  for (const row of rows) builders.forEach((builder) => builder.append(row[builder.path]));
  return finish(builders);
};

const read = (fields, bytes) => {
  const { types, names } = record(fields);
  const { rows, columns } = readMessage(bytes, types);
  return Array.from({ length: rows }, (_, row) => Object.fromEntries(names.map((name, i) => [name, columns[i].get(row)])));
};

test("all types come back as they were written, in any order of nulls", () => {
  for (const rows of [[], [FULL], [EMPTY], [FULL, EMPTY, BARE], [EMPTY, ...Array(20).fill(FULL), BARE, ...Array(9).fill(EMPTY), FULL]]) {
    assert.deepEqual(read(Table.fields, written(Table.fields, rows)), rows);
  }
});

test("columns are copied value by value", () => {
  const rows = [EMPTY, FULL, BARE, FULL];
  const { columns } = readMessage(written(Table.fields, rows), Table.types);
  const builders = Table.entries.map(([name, type]) => builderOf(type, name));
  for (const row of [3, 0, 2]) builders.forEach((builder, i) => builder.copy(columns[i], row));
  assert.deepEqual(read(Table.fields, finish(builders)), [FULL, EMPTY, BARE]);
});

test("a message that does not lie at a multiple of 8 is read all the same", () => {
  const bytes = written(Table.fields, [FULL]);
  const moved = new Uint8Array(bytes.length + 3);
  moved.set(bytes, 3);
  assert.deepEqual(read(Table.fields, moved.subarray(3)), [FULL]);
});

test("buffers lie at multiples of 8, one after another", () => {
  const { buffers, rows } = openMessage(written(Table.fields, [FULL, BARE, EMPTY]));
  assert.equal(rows, 3);
  buffers.reduce((end, [start, next]) => {
    assert.ok(start % 8 === 0 && start >= end && next >= start, `${start} after ${end}`);
    return next;
  }, 0);
});

test("columns are views of the message", () => {
  const fields = { n: int(), big: bigint() };
  const bytes = written(fields, [{ n: 7, big: 8n }]);
  const { columns } = readMessage(bytes, record(fields).types);
  assert.equal(columns[0].values.buffer, bytes.buffer);
  assert.deepEqual([...columns[1].values], [8n]);
});

test("decimals of any size are exact", () => {
  const fields = { d: decimal(38, 3) };
  const units = [0n, 1n, -1n, 2n ** 31n, -(2n ** 31n), 2n ** 32n - 1n, 2n ** 53n, -(2n ** 53n), 2n ** 63n, -(2n ** 63n), 2n ** 64n, 10n ** 38n - 1n, 1n - 10n ** 38n];
  const rows = units.map((value) => ({ d: new Decimal(value, 3) }));
  const bytes = written(fields, rows);
  assert.deepEqual(read(fields, bytes), rows);
  const [column] = readMessage(bytes, record(fields).types).columns;
  assert.deepEqual(units.map((_, row) => column.sign(row)), units.map((value) => (value < 0n ? -1 : value > 0n ? 1 : 0)));
});

test("rules over a whole column give what each value gives", () => {
  const fields = { s: nullable(string()), d: nullable(decimal(38, 2)) };
  const texts = ["EUR", "", null, "USD", "EU", "EURO", "ñ"];
  const rows = texts.map((s, i) => ({ s, d: new Decimal(BigInt(i - 3) * 10n ** 30n, 2) }));
  const [s, d] = readMessage(written(fields, rows), record(fields).types).columns;
  assert.deepEqual([...s.among(["USD", "EUR", "ñ"])], [1, 0, 0, 1, 0, 0, 1]);
  assert.deepEqual([...d.signs()], [-1, -1, -1, 0, 1, 1, 1]);
  assert.deepEqual([...s.among([])], texts.map(() => 0));
});

test("what does not fit its column is refused by name", () => {
  for (const [type, value, words] of [
    [tinyint(), 128, "`x`: 128 (number) is no tinyint"],
    [int(), 1.5, "is no int"],
    [int(), 1n, "is no int"],
    [bigint(), 1, "is no bigint"],
    [bigint(), 2n ** 63n, "is no bigint"],
    [string(), 5, "is no string"],
    [decimal(4, 2), 1.5, "is no decimal(4,2)"],
    [decimal(4, 2), Decimal.parse("100"), "is no decimal(4,2)"],
    [decimal(4, 2), Decimal.parse("1.005"), "1.005 has more than 2 places; round it"],
    [int(), null, "`x` is never null"],
  ]) {
    assert.throws(() => written({ x: type }, [{ x: value }]), (error) => error.message.includes(words), words);
  }
  assert.deepEqual(read({ x: decimal(4, 2) }, written({ x: decimal(4, 2) }, [{ x: Decimal.parse("1") }])), [{ x: Decimal.parse("1.00") }]);
});

test("texts that are not ASCII keep their places, and halves of surrogates are replaced", () => {
  const fields = { s: nullable(string()) };
  const rows = ["a", "ñ", null, "", "😀x", "z"].map((s) => ({ s }));
  assert.deepEqual(read(fields, written(fields, rows)), rows);
  assert.deepEqual(read(fields, written(fields, [{ s: "a\ud800" }])), [{ s: "a\ufffd" }]);
});
