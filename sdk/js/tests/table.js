// Columns of all types, and rows of them.

import * as crisol from "crisol";

const { nullable, Decimal } = crisol;

export const Table = crisol.record({
  b: nullable(crisol.boolean()),
  i8: nullable(crisol.tinyint()),
  i16: nullable(crisol.smallint()),
  i32: nullable(crisol.int()),
  i64: nullable(crisol.bigint()),
  f32: nullable(crisol.float()),
  f64: nullable(crisol.double()),
  d9: nullable(crisol.decimal(9, 2)),
  d38: nullable(crisol.decimal(38, 10)),
  s: nullable(crisol.string()),
  bin: nullable(crisol.binary()),
  day: nullable(crisol.date()),
  ts: nullable(crisol.timestamp()),
  ints: nullable(crisol.array(crisol.int())),
  texts: nullable(crisol.array(crisol.string())),
  st: nullable(crisol.struct({ a: crisol.int(), b: crisol.string() })),
  m: nullable(crisol.map(crisol.string(), crisol.bigint())),
  deep: nullable(crisol.array(crisol.struct({ k: crisol.string(), v: crisol.array(crisol.double()) }))),
});

export const FULL = {
  b: true,
  i8: -128,
  i16: 32767,
  i32: -2147483648,
  i64: 9223372036854775807n,
  f32: 1.5,
  f64: -0.1,
  d9: Decimal.parse("-9999999.99"),
  d38: Decimal.parse("-1234567890123456789012345678.0123456789"),
  s: "ñandú 😀",
  bin: new Uint8Array([0, 255, 1]),
  day: -1,
  ts: -62135596800000000n,
  ints: [1, null, 3],
  texts: ["a", null, "é"],
  st: { a: 1, b: null },
  m: new Map([["k", 1n], ["z", null]]),
  deep: [{ k: "x", v: [1.5, null] }, null, { k: null, v: null }, { k: "y", v: [] }],
};

export const EMPTY = Object.fromEntries(Table.names.map((name) => [name, null]));
export const BARE = { ...EMPTY, b: false, s: "", bin: new Uint8Array(0), ints: [], m: new Map(), deep: [], d9: Decimal.parse("0.00"), i64: -(2n ** 63n) };
