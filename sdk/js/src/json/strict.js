// The long way: any message, with numbers as they are written, and what is wrong said.

import { Decimal, power } from "../decimal.js";
import { parseFloat32 } from "../float.js";
import { notNull } from "../rejection.js";
import { parseDate, parseTimestamp } from "../time.js";
import { Fault, Reader, shown } from "./reader.js";

const LONG_MAX = 2n ** 63n;

/** The row of a message; throws the rejection of one that does not fit. */
export function strictly(text, record) {
  let row;
  try {
    const reader = new Reader(text);
    row = fieldsOf(reader, record.fields);
    reader.end();
  } catch (fault) {
    throw fault instanceof Fault ? fault.rejection() : fault;
  }
  for (const [name, type] of record.entries) {
    if (row[name] === null && !type.nullable) throw notNull(name, "it is null or absent");
  }
  return row;
}

/** The fields of an object, null where one is absent. */
function fieldsOf(reader, fields) {
  const row = {};
  const seen = new Set();
  for (const name in fields) row[name] = null;
  reader.object((name) => {
    if (!Object.hasOwn(fields, name)) return void reader.skip();
    within(name, () => {
      if (seen.has(name)) throw new Fault("it is there twice");
      seen.add(name);
      row[name] = valueOf(reader, fields[name]);
    });
  });
  return row;
}

function within(path, read) {
  try {
    return read();
  } catch (fault) {
    throw fault instanceof Fault ? fault.in(path) : fault;
  }
}

function valueOf(reader, type) {
  const next = reader.peek();
  if (next === "n") return reader.word() && null;
  const read = READERS[next === "-" || (next >= "0" && next <= "9") ? "0" : next];
  const value = read?.(reader, type);
  if (value === undefined) throw new Fault(`${shown(reader.skip())} is not ${called(type)}`);
  return value;
}

const called = ({ name }) => `${/^[ai]/.test(name) ? "an" : "a"} ${name}`;

/** By the first character of a value: what reads it, and gives `undefined`, without a step, for other types. */
const READERS = {
  "{": (reader, type) => (type.kind === "struct" ? fieldsOf(reader, type.fields) : type.kind === "map" ? mapOf(reader, type) : undefined),
  "[": (reader, type) => (type.kind === "array" ? arrayOf(reader, type) : undefined),
  '"': (reader, type) => scalarOf(reader, type, TEXTS, () => reader.string(), (text) => `"${shown(text)}"`),
  0: (reader, type) => scalarOf(reader, type, NUMBERS, () => reader.number(), shown),
  t: booleanOf,
  f: booleanOf,
};

function scalarOf(reader, type, kinds, read, show) {
  const parse = kinds[type.kind];
  if (parse === undefined) return undefined;
  const text = read();
  const value = parse(text, type);
  if (value === undefined) throw new Fault(`${show(text)} is not ${called(type)}`);
  return value;
}

function booleanOf(reader, type) {
  return type.kind === "boolean" ? reader.word() === "true" : undefined;
}

function decimalOf(text, { precision, scale }) {
  const value = Decimal.parse(text, scale);
  const limit = power(precision);
  return value !== undefined && value.units < limit && value.units > -limit ? value : undefined;
}

const WHOLE = /^-?[0-9]+$/;
const whole = (bits) => (text) => {
  const value = WHOLE.test(text) ? Number(text) + 0 : NaN;
  return value >= -(2 ** (bits - 1)) && value < 2 ** (bits - 1) ? value : undefined;
};

function longOf(text) {
  const value = WHOLE.test(text) ? BigInt(text) : LONG_MAX;
  return value >= -LONG_MAX && value < LONG_MAX ? value : undefined;
}

const TEXTS = { string: (text) => text, decimal: decimalOf, date: parseDate, timestamp: parseTimestamp };
const NUMBERS = {
  decimal: decimalOf,
  tinyint: whole(8),
  smallint: whole(16),
  int: whole(32),
  bigint: longOf,
  float: parseFloat32,
  double: Number,
};

function arrayOf(reader, { element }) {
  const elements = [];
  reader.array(() => elements.push(within(`[${elements.length}]`, () => valueOf(reader, element))));
  return elements;
}

/** Names in JSON are texts, so keys must be. */
function mapOf(reader, { key, value }) {
  if (key.kind !== "string") return undefined;
  const found = new Map();
  reader.object((name) =>
    within(`[${JSON.stringify(name)}]`, () => {
      if (found.has(name)) throw new Fault("the key is there twice");
      found.set(name, valueOf(reader, value));
    }),
  );
  return found;
}
