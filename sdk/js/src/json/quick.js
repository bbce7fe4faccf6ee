// The short way for usual messages: the runtime's own parser, which is much faster than one of our own could be here. Its
// numbers are floats and it does not tell of names that are there twice. A message that it writes as it was read has neither
// lost digits nor names; one of others in which that could matter takes the long way, and so does each that is wrong.

import { Decimal, power } from "../decimal.js";
import { floatOf } from "../float.js";
import { parseDate, parseTimestamp } from "../time.js";
import { isDeep } from "./depth.js";

/** Numbers of 16 digits or with an exponent, halves of surrogates, space before a colon. */
const ODD = /[0-9][0-9.]{15}|[:,[\s]-?[0-9.]+[eE]|\\u[dD]|"\s+:/;
/** Numbers that a float holds as whole ones, and are not written so. */
const WRITTEN_AS_FRACTION = /\.0+[,}\]\s]/;
/** A float of so many digits is what was written. */
const DIGITS_MAX = 1e15;
const WRONG = Symbol("wrong");

/** The row, or `undefined`: the long way says more. */
export function quickly(text, record) {
  const found = parse(text);
  if (typeof found !== "object" || found === null || Array.isArray(found)) return undefined;
  if (!isWritten(text, found) && !isHarmless(text, found, record)) return undefined;
  const row = {};
  for (const [name, type] of record.entries) {
    const value = valueOf(found[name], type);
    if (value === WRONG) return undefined;
    row[name] = value;
  }
  return row;
}

function parse(text) {
  if (isDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the message is what the runtime would write, but for the space that other writers put between fields. */
function isWritten(text, found) {
  // Halves of surrogates are written, too, and are no text.
  if (text.includes("\\ud")) return false;
  const written = JSON.stringify(found);
  return text === written || (text.length > written.length && text.replaceAll('": ', '":').replaceAll(', "', ',"') === written);
}

function isHarmless(text, found, { hasIntegers }) {
  if (ODD.test(text) || (hasIntegers && WRITTEN_AS_FRACTION.test(text))) return false;
  return names(found) === text.split('":').length - 1;
}

/** How many names there are, in all objects of a value; none is there twice if the text has as many. */
function names(value) {
  let count = 0;
  const isList = Array.isArray(value);
  for (const name in value) {
    if (!isList) count += 1;
    const inner = value[name];
    if (typeof inner === "object" && inner !== null) count += names(inner);
  }
  return count;
}

/** A value of a type from what the parser gave, null when there is none. */
function valueOf(value, type) {
  if (value === null || value === undefined) return type.nullable ? null : WRONG;
  const wanted = VALUES[type.kind];
  return wanted(value, type) ?? WRONG;
}

const whole = (bits) => (value) => {
  const limit = 2 ** (bits - 1);
  return Number.isInteger(value) && value >= -limit && value < limit ? value + 0 : undefined;
};
const text = (parse) => (value) => (typeof value === "string" ? parse(value) : undefined);
const only = (kind) => (value) => (typeof value === kind ? value : undefined);

const VALUES = {
  string: only("string"),
  boolean: only("boolean"),
  double: only("number"),
  float: (value) => (typeof value === "number" ? floatOf(value) : undefined),
  tinyint: whole(8),
  smallint: whole(16),
  int: whole(32),
  bigint: (value) => (Number.isInteger(value) && Math.abs(value) < DIGITS_MAX ? BigInt(value) : undefined),
  date: text(parseDate),
  timestamp: text(parseTimestamp),
  decimal: decimalOf,
  array: arrayOf,
  struct: structOf,
  map: mapOf,
};

function decimalOf(value, { precision, scale }) {
  const decimal = typeof value === "number" ? ofFloat(value, scale) : typeof value === "string" ? Decimal.parse(value, scale) : undefined;
  if (decimal === undefined) return undefined;
  const limit = power(precision);
  return decimal.units < limit && decimal.units > -limit ? decimal : undefined;
}

function ofFloat(value, scale) {
  const factor = 10 ** scale;
  const units = Math.round(value * factor);
  // No other number of so few digits is this float.
  if (Math.abs(units) < DIGITS_MAX && units / factor === value) return new Decimal(BigInt(units), scale);
  return Decimal.parse(String(value), scale);
}

function arrayOf(value, { element }) {
  if (!Array.isArray(value)) return undefined;
  const elements = value.map((inner) => valueOf(inner, element));
  return elements.includes(WRONG) ? undefined : elements;
}

const isObject = (value) => typeof value === "object" && !Array.isArray(value);

function structOf(value, { fields }) {
  if (!isObject(value)) return undefined;
  const found = {};
  for (const name in fields) {
    found[name] = valueOf(value[name], fields[name]);
    if (found[name] === WRONG) return undefined;
  }
  return found;
}

/** Names that look like numbers have lost their place. */
function mapOf(value, { key, value: type }) {
  if (!isObject(value) || key.kind !== "string") return undefined;
  const found = new Map();
  for (const name in value) {
    const inner = valueOf(value[name], type);
    if (inner === WRONG || /^[0-9]/.test(name)) return undefined;
    found.set(name, inner);
  }
  return found;
}
