import assert from "node:assert/strict";
import { test } from "node:test";

import { Decimal, dateOf, formatDate, formatTimestamp, parseDate, parseTimestamp } from "crisol";

const cents = (text) => Decimal.parse(text, 2)?.units;

test("decimals are read exactly and rounded half up", () => {
  for (const [text, units] of [
    ["0", 0n],
    ["12.5", 1250n],
    ["-0.01", -1n],
    ["12.345", 1235n],
    ["12.344999999999999999999", 1234n],
    ["-12.345", -1235n],
    ["0.005", 1n],
    ["0.0049", 0n],
    ["1e2", 10000n],
    ["1.5E-1", 15n],
    ["1e-400", 0n],
    ["0e999999999999", 0n],
    ["9999999999999999.99", 999999999999999999n],
    ["00000000000000000000001.00000000000000000000000", 100n],
    [`0.${"0".repeat(2000)}1e2001`, 100n],
    [`1${"0".repeat(2000)}e-2000`, 100n],
    [`-1${"0".repeat(2000)}e-2003`, 0n],
    [`-5${"0".repeat(2000)}e-2003`, -1n],
  ]) {
    assert.equal(cents(text), units, text);
  }
  assert.ok(Decimal.parse(`0.${"0".repeat(2000)}1e2001`).equals(Decimal.parse(`1${"0".repeat(2000)}e-2000`)));
  for (const text of ["", "-", ".", "1.", ".5", "1e", "1e+", "+1", "1_0", "mucho", "NaN", "1.2.3", " 1", "1\n"]) {
    assert.equal(cents(text), undefined, text);
  }
});

test("decimals are compared, added and shown without a float", () => {
  const [a, b] = [Decimal.parse("0.10"), Decimal.parse("0.2")];
  assert.equal(String(a.plus(b)), "0.30");
  assert.equal(String(a.minus(b)), "-0.10");
  assert.equal(String(a.times(b)), "0.020");
  assert.ok(a.compare(b) < 0 && b.compare(a) > 0 && a.equals(Decimal.parse("0.1")));
  assert.deepEqual([a.sign, Decimal.ZERO.sign, Decimal.parse("-0.5").sign], [1, 0, -1]);
  assert.deepEqual(["2.5", "-2.5", "2.49"].map((text) => String(Decimal.parse(text).round(0))), ["3", "-3", "2"]);
  assert.equal(String(Decimal.parse("1").round(3)), "1.000");
  assert.throws(() => a < b, /no number/);
  assert.equal(`${JSON.stringify({ a })} ${a}`, '{"a":"0.10"} 0.10');
});

test("timestamps are read in the usual forms, and others are refused", () => {
  const at = (text) => parseTimestamp(text);
  const moment = 1773480413000000n;
  for (const text of ["2026-03-14T09:26:53Z", "2026-03-14 09:26:53", "2026-03-14t09:26:53z", "2026-03-14T10:26:53+01:00", "2026-03-14T08:26:53-0100", "2026-03-14T10:26:53+01"]) {
    assert.equal(at(text), moment, text);
  }
  assert.equal(at("2026-03-14T09:26:53.589Z"), moment + 589000n);
  assert.equal(at("2026-03-14T09:26:53.000001999Z"), moment + 1n);
  assert.equal(at("2026-03-14"), 1773446400000000n);
  assert.equal(at("2026-03-14T09:26"), moment - 53000000n);
  assert.equal(at("0001-01-01T00:00:00Z"), -62135596800000000n);
  for (const text of ["", "ayer", "2026-02-29", "2026-13-01", "0000-01-01T00:00:00Z", "0000-01-01", "2026-03-14T24:00:00Z", "2026-03-14T24:00:00.000Z", "2026-02-30T00:00:00.000Z", "2026-03-14T09:60", "2026-03-14T09:26:60Z", "2026-03-14T09:26:53.Z", "2026-03-14T09:26:53Zx", "2026-03-14T09:26:53+19:00", "2026-03-14T09:26:53+1", "+2026-03-14", "2026-03-14T09:26:53.589+", "2026-03-14T09:26:53.1234567890Z"]) {
    assert.equal(at(text), undefined, text);
  }
});

test("days and moments are shown as they are read", () => {
  for (const text of ["0001-01-01", "1969-12-31", "1970-01-01", "2024-02-29", "2026-03-14", "9999-12-31"]) {
    assert.equal(formatDate(parseDate(text)), text);
    assert.equal(formatTimestamp(parseTimestamp(text)), `${text}T00:00:00Z`);
  }
  assert.equal(formatTimestamp(-1n), "1969-12-31T23:59:59.999999Z");
  assert.equal(formatTimestamp(parseTimestamp("2026-04-02T00:00:00.000001Z")), "2026-04-02T00:00:00.000001Z");
  assert.equal(dateOf(-1n), -1);
  assert.equal(parseDate("2026-02-30"), undefined);
  for (let days = -719162; days < 2932897; days += 9973) assert.equal(parseDate(formatDate(days)), days);
});
