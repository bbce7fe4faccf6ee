import assert from "node:assert/strict";
import { test } from "node:test";

import { Decimal, Rejection, bigint, decimal, float, formatDate, formatTimestamp, int, nullable, record } from "crisol";

import { quickly } from "../src/json/quick.js";
import { strictly } from "../src/json/strict.js";
import { Table } from "./table.js";

const { bin: _, ...fields } = Table.fields;
const All = record(fields);
const Strict = record({ id: bigint(), size: nullable(int()) });

const rejection = (text, row = All) => {
  try {
    assert.fail(`${text} gave ${row.fromJson(text)}`);
  } catch (thrown) {
    assert.ok(thrown instanceof Rejection, String(thrown));
    return thrown;
  }
};
const fault = (text, row) => {
  const { code, text: words } = rejection(text, row);
  assert.equal(code, "corrupt_record");
  return words;
};

test("each type is read in any order, and other fields are skipped", () => {
  const row = All.fromJson(
    ` {"s":"ñ","ts":"2026-03-14T09:26:53.589Z","x":{"y":[1,{"z":"}"}]},"b":true,"i8":-7,"i64":9007199254740993,
       "f64":1.5,"f32":0.1,"d38":123456789012345678.5,"d9":"12.5","day":"2026-03-14","ints":[1,null],
       "st":{"b":"c","z":0},"m":{"2":1,"1":null},"deep":[{"k":"x","v":[1]},null]} `,
  );
  assert.deepEqual([row.s, row.b, row.i8, row.i64, row.f64, row.f32], ["ñ", true, -7, 9007199254740993n, 1.5, Math.fround(0.1)]);
  assert.deepEqual([String(row.d38), String(row.d9)], ["123456789012345678.5000000000", "12.50"]);
  assert.deepEqual([formatTimestamp(row.ts), formatDate(row.day)], ["2026-03-14T09:26:53.589000Z", "2026-03-14"]);
  assert.deepEqual([row.ints, row.st, [...row.m]], [[1, null], { a: null, b: "c" }, [["2", 1n], ["1", null]]]);
  assert.deepEqual(row.deep, [{ k: "x", v: [1] }, null]);
  assert.equal(row.i32, null);
});

test("escapes are read, also in names", () => {
  assert.equal(All.fromJson('{"\\u0073":"a\\"b\\\\\\u00e9\\ud83d\\ude00"}').s, 'a"b\\é😀');
  assert.equal(fault('{"s":"a","\\u0073":"b"}'), "`s`: it is there twice");
});

test("a value of another type names field and cause", () => {
  for (const [text, expected] of [
    ['{"i32":"7"}', '`i32`: "7" is not an int'],
    ['{"i32":1.5}', "`i32`: 1.5 is not an int"],
    ['{"i32":1.0}', "`i32`: 1.0 is not an int"],
    ['{"i32":1e2}', "`i32`: 1e2 is not an int"],
    ['{"i32":3000000000}', "`i32`: 3000000000 is not an int"],
    ['{"i64":9223372036854775808}', "`i64`: 9223372036854775808 is not a bigint"],
    ['{"b":1}', "`b`: 1 is not a boolean"],
    ['{"s":{"a":1}}', '`s`: {"a":1} is not a string'],
    ['{"d9":"mucho"}', '`d9`: "mucho" is not a decimal(9,2)'],
    ['{"d9":12345678.0}', "`d9`: 12345678.0 is not a decimal(9,2)"],
    ['{"d9":9999999.995}', "`d9`: 9999999.995 is not a decimal(9,2)"],
    ['{"d9":[]}', "`d9`: [] is not a decimal(9,2)"],
    ['{"ts":"ayer"}', '`ts`: "ayer" is not a timestamp'],
    ['{"ts":1773480413}', "`ts`: 1773480413 is not a timestamp"],
    ['{"day":"2026-02-30"}', '`day`: "2026-02-30" is not a date'],
    ['{"ints":[1,"x"]}', '`ints[1]`: "x" is not an int'],
    ['{"ints":{}}', "`ints`: {} is not an array<int>"],
    ['{"st":{"a":true}}', "`st.a`: true is not an int"],
    ['{"st":{"a":1,"a":2}}', "`st.a`: it is there twice"],
    ['{"m":{"k":1,"k":2}}', '`m["k"]`: the key is there twice'],
    ['{"m":{"a\\"b":true}}', '`m["a\\"b"]`: true is not a bigint'],
    ['{"deep":[{"v":[false]}]}', "`deep[0].v[0]`: false is not a double"],
  ]) {
    assert.equal(fault(text), expected);
  }
  assert.ok(fault(`{"i32":"${"ñ".repeat(500)}"}`).length < 200);
});

test("what is no JSON object is a fault with its place", () => {
  for (const [text, part] of [
    ["", "the message is empty"],
    [" \n", "the message is empty"],
    ["[]", "not a JSON object"],
    ["null", "not a JSON object"],
    ["7", "not a JSON object"],
    ["{", "at character 2"],
    ['{"s":"ab', "not a JSON object"],
    ['{"i32":1,}', "expected a name at character 10"],
    ['{"i32":01}', "at character 9"],
    ['{"i32":1} x', "there is something after it at character 11"],
    ['{"i32":1}{"i32":2}', "something after it"],
    ['{"ñ":1,"i32":1 ', "at character 16"],
    ["{'i32':1}", "expected a name"],
    ['{"f64":NaN}', "`f64`: not a JSON object"],
    ['{"s":"\\ud800"}', "surrogate"],
    ['{"s":"a\nb"}', "not a JSON object"],
    ["\ufeff{}", "not a JSON object"],
    [`{"x":${"[".repeat(100_000)}1}`, "nested too deep"],
  ]) {
    assert.ok(fault(text).includes(part), `${text.slice(0, 50)}: ${fault(text)}`);
  }
});

test("a message is 200 levels deep at most, however it is written", () => {
  const Some = record({ n: nullable(int()), ints: Table.fields.ints });
  const arrays = (levels, within) => "[".repeat(levels) + within + "]".repeat(levels);
  const objects = (levels) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  for (const space of ["", " ", "  "]) {
    const message = (deep) => `{"n":7,${space}"x":${deep}}`;
    for (const deep of [arrays(200, ""), arrays(200, "1"), objects(200), `["${"[".repeat(300)}"]`, `"\\"${"[{".repeat(300)}"`, `[${"[],{},".repeat(300)}1]`]) {
      assert.equal(Some.fromJson(message(deep)).n, 7, deep.slice(0, 20));
    }
    for (const deep of [arrays(201, ""), arrays(201, "1"), arrays(202, ""), objects(201), arrays(10_000, ""), arrays(100_000, "1"), objects(10_000), `["]]]]\\"]",${arrays(200, "")}]`]) {
      assert.match(fault(message(deep), Some), /nested too deep/, deep.slice(0, 20));
    }
  }
  assert.match(fault(`{"ints":${arrays(10_000, "")}}`, Some), /nested too deep/);
});

test("a field that may not be null is wanted", () => {
  assert.deepEqual(Strict.fromJson('{"id":1}'), { id: 1n, size: null });
  for (const text of ["{}", '{"id":null}', '{"id": null, "size": 3}']) {
    const { code, text: words } = rejection(text, Strict);
    assert.deepEqual([code, words], ["not_null: id", "`id`: it is null or absent"]);
  }
});

/** Numbers that are the same again and again. */
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
}

const PLAIN = '{"s":"a longer text ñ","b":true,"i32":-12,"f64":0.5,"d9":12.50,"i64":77,"ts":"2026-03-14T09:26:53Z","st":{"a":1},"m":{"k":2}}';
const ODD = ['"', "\\", "{", "}", ",", ":", "0", "-", ".", "e", "\u0001", "null", " ", '"i32":1,', "ñ", "[", "9999999999", "1.0", "\\ud800"];

test("the short way gives what the long way gives, or nothing", () => {
  const random = numbers(7);
  let taken = 0;
  for (let round = 0; round < 20_000; round += 1) {
    let text = PLAIN;
    for (let change = random(3); change > 0; change -= 1) {
      const at = random(text.length + 1);
      text = text.slice(0, at) + ODD[random(ODD.length)] + text.slice(at + random(3));
    }
    const quick = quickly(text, All);
    if (quick === undefined) continue;
    taken += 1;
    assert.deepEqual(quick, strictly(text, All), text);
  }
  assert.ok(taken > 1_000, `${taken}`);
});

test("decimals are exact on the short way too", () => {
  const Price = record({ d: decimal(38, 4) });
  const random = numbers(11);
  for (let round = 0; round < 20_000; round += 1) {
    const whole = String(random(10 ** (1 + random(9))));
    const places = random(8);
    const text = places === 0 ? whole : `${whole}.${String(random(10 ** places)).padStart(places, "0")}`;
    const { d } = Price.fromJson(`{"d":${text}}`);
    assert.deepEqual(d, Decimal.parse(text, 4), text);
  }
  assert.equal(String(Price.fromJson('{"d":0.12344999999999999999}').d), "0.1234");
  assert.equal(String(Price.fromJson('{"d":2.00005}').d), "2.0001");
});

test("floats are rounded once", () => {
  const Narrow = record({ f: float() });
  for (const [text, expected] of [
    ["1.00000005960464477539062500001", 1.0000001],
    ["1.00000005960464477539062500000", 1],
    ["1.00000005960464477539062499999", 1],
    ["1.00000017881393432617187499999", 1.0000001],
    ["1.0000000596046448", 1.0000001],
    ["16777217", 16777216],
    ["16777217.0000000000000000001", 16777218],
    ["3.4028235677973366e38", 3.4028235e38],
    ["340282356779733661637539395458142568447", 3.4028235e38],
    ["340282356779733661637539395458142568448", Infinity],
    ["3.5e38", Infinity],
    ["1e400", Infinity],
    ["7.006492321624085e-46", 0],
    ["7.006492321624086e-46", 1e-45],
    ["1e-400", 0],
    ["0.1", 0.1],
    ["0", 0],
  ]) {
    for (const [sign, wanted] of [["", expected], ["-", -expected]]) {
      assert.equal(Narrow.fromJson(`{"f":${sign}${text}}`).f, Math.fround(wanted), sign + text);
      assert.equal(Narrow.fromJson(`{"f": ${sign}${text} , "x":1e0}`).f, Math.fround(wanted), sign + text);
    }
  }
});
