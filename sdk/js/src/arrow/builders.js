// Columns in the making. Values are appended one after another; `finish` gives nodes and buffers in the order of a message.

import { Decimal, power } from "../decimal.js";
import { encodeAll } from "./text.js";

const EMPTY = new Uint8Array(0);

/** A builder for a type; `path` is what messages call the column. */
export function builderOf(type, path) {
  return new BUILDERS[type.kind](type, path);
}

/** Nulls are told apart from values here, and checked against the type. */
class Builder {
  constructor(type, path) {
    this.type = type;
    this.path = path;
    this.length = 0;
    this.nulls = [];
  }

  append(value) {
    if (value === null || value === undefined) {
      if (!this.type.nullable) throw new TypeError(`column \`${this.path}\` is never null, and a row without it came`);
      this.nulls.push(this.length);
      this.appendNothing();
    } else {
      this.appendValue(value);
    }
    this.length += 1;
  }

  /** A value of a column of the same type. */
  copy(column, row) {
    if (column.isNull(row)) {
      this.append(null);
    } else {
      this.copyValue(column, row);
      this.length += 1;
    }
  }

  copyValue(column, row) {
    this.appendValue(column.value(row));
  }

  finish(nodes, buffers) {
    nodes.push([this.length, this.nulls.length]);
    buffers.push(this.#validity());
    this.finishValues(nodes, buffers);
  }

  #validity() {
    if (this.nulls.length === 0) return EMPTY;
    const bits = new Uint8Array(Math.ceil(this.length / 8)).fill(255);
    for (const row of this.nulls) bits[row >> 3] &= ~(1 << (row & 7));
    return bits;
  }

  wrong(value) {
    const shown = typeof value === "string" ? JSON.stringify(value) : String(value?.constructor === Object ? JSON.stringify(value) : value);
    return new TypeError(`column \`${this.path}\`: ${shown} (${typeof value}) is no ${this.type.name}`);
  }
}

/** Values of one width; `fits` says which there are. */
class FixedBuilder extends Builder {
  values = [];

  appendValue(value) {
    if (!this.fits(value)) throw this.wrong(value);
    this.values.push(value);
  }

  copyValue(column, row) {
    this.values.push(column.values[row]);
  }

  appendNothing() {
    this.values.push(this.nothing);
  }

  finishValues(_, buffers) {
    buffers.push(new this.Values(this.values));
  }
}

const fixed = (Values, nothing, fits) =>
  class extends FixedBuilder {
    Values = Values;
    nothing = nothing;
    fits = fits;
  };

const whole = (Values, bits) => {
  const limit = 2 ** (bits - 1);
  return fixed(Values, 0, (value) => Number.isInteger(value) && value >= -limit && value < limit);
};
const long = fixed(BigInt64Array, 0n, (value) => typeof value === "bigint" && BigInt.asIntN(64, value) === value);
const float = (Values) => fixed(Values, 0, (value) => typeof value === "number");

class BooleanBuilder extends Builder {
  values = [];

  appendValue(value) {
    if (typeof value !== "boolean") throw this.wrong(value);
    this.values.push(value);
  }

  appendNothing() {
    this.values.push(false);
  }

  finishValues(_, buffers) {
    const bits = new Uint8Array(Math.ceil(this.length / 8));
    this.values.forEach((value, row) => {
      if (value) bits[row >> 3] |= 1 << (row & 7);
    });
    buffers.push(bits);
  }
}

class DecimalBuilder extends Builder {
  words = [];

  appendValue(value) {
    if (!(value instanceof Decimal)) throw this.wrong(value);
    const units = value.scale === this.type.scale ? value.units : this.#scaled(value);
    if (units >= this.#limit || units <= -this.#limit) throw this.wrong(value);
    this.#push(units);
  }

  #limit = power(this.type.precision);

  #scaled(value) {
    const scaled = value.round(this.type.scale);
    if (scaled.equals(value)) return scaled.units;
    throw new TypeError(`column \`${this.path}\`: ${value} has more than ${this.type.scale} places; round it`);
  }

  #push(units) {
    const small = Number(units);
    if (Number.isSafeInteger(small)) {
      const sign = small < 0 ? -1 : 0;
      this.words.push(small | 0, Math.floor(small / 0x100000000), sign, sign);
      return;
    }
    for (let shift = 0n; shift < 128n; shift += 32n) this.words.push(Number(BigInt.asIntN(32, units >> shift)));
  }

  copyValue({ words }, row) {
    const at = 4 * row;
    this.words.push(words[at], words[at + 1], words[at + 2], words[at + 3]);
  }

  appendNothing() {
    this.words.push(0, 0, 0, 0);
  }

  finishValues(_, buffers) {
    buffers.push(new Int32Array(this.words));
  }
}

class StringBuilder extends Builder {
  texts = [];

  appendValue(value) {
    if (typeof value !== "string") throw this.wrong(value);
    this.texts.push(value);
  }

  appendNothing() {
    this.texts.push("");
  }

  finishValues(_, buffers) {
    const offsets = new Int32Array(this.length + 1);
    const bytes = encodeAll(this.texts, offsets.subarray(1));
    buffers.push(offsets, bytes);
  }
}

class BinaryBuilder extends Builder {
  pieces = [];
  #ends = [0];

  appendValue(value) {
    if (!(value instanceof Uint8Array)) throw this.wrong(value);
    this.pieces.push(value);
    this.#ends.push(this.#ends.at(-1) + value.length);
  }

  appendNothing() {
    this.appendValue(EMPTY);
  }

  finishValues(_, buffers) {
    const bytes = new Uint8Array(this.#ends.at(-1));
    this.pieces.forEach((piece, i) => bytes.set(piece, this.#ends[i]));
    buffers.push(new Int32Array(this.#ends), bytes);
  }
}

class ArrayBuilder extends Builder {
  #elements = builderOf(this.type.element, `${this.path}.element`);
  #ends = [0];

  appendValue(value) {
    if (!Array.isArray(value)) throw this.wrong(value);
    for (const element of value) this.#elements.append(element);
    this.appendNothing();
  }

  copyValue({ offsets, elements }, row) {
    for (let i = offsets[row]; i < offsets[row + 1]; i += 1) this.#elements.copy(elements, i);
    this.appendNothing();
  }

  appendNothing() {
    this.#ends.push(this.#elements.length);
  }

  finishValues(nodes, buffers) {
    buffers.push(new Int32Array(this.#ends));
    this.#elements.finish(nodes, buffers);
  }
}

class StructBuilder extends Builder {
  #fields = Object.entries(this.type.fields).map(([name, type]) => [name, builderOf(type, `${this.path}.${name}`)]);

  appendValue(value) {
    if (typeof value !== "object") throw this.wrong(value);
    for (const [name, field] of this.#fields) field.append(value[name]);
  }

  copyValue({ fields }, row) {
    for (const [name, field] of this.#fields) field.copy(fields[name], row);
  }

  appendNothing() {
    for (const [, field] of this.#fields) field.append(null);
  }

  finishValues(nodes, buffers) {
    for (const [, field] of this.#fields) field.finish(nodes, buffers);
  }
}

class MapBuilder extends Builder {
  #keys = builderOf(this.type.key, `${this.path}.key`);
  #values = builderOf(this.type.value, `${this.path}.value`);
  #ends = [0];

  appendValue(value) {
    if (!(value instanceof Map)) throw this.wrong(value);
    for (const [key, element] of value) {
      this.#keys.append(key);
      this.#values.append(element);
    }
    this.appendNothing();
  }

  copyValue({ offsets, keys, values }, row) {
    for (let i = offsets[row]; i < offsets[row + 1]; i += 1) {
      this.#keys.copy(keys, i);
      this.#values.copy(values, i);
    }
    this.appendNothing();
  }

  appendNothing() {
    this.#ends.push(this.#keys.length);
  }

  finishValues(nodes, buffers) {
    buffers.push(new Int32Array(this.#ends), EMPTY);
    // The entries are a struct, which is never null.
    nodes.push([this.#keys.length, 0]);
    this.#keys.finish(nodes, buffers);
    this.#values.finish(nodes, buffers);
  }
}

const BUILDERS = {
  boolean: BooleanBuilder,
  tinyint: whole(Int8Array, 8),
  smallint: whole(Int16Array, 16),
  int: whole(Int32Array, 32),
  date: whole(Int32Array, 32),
  bigint: long,
  timestamp: long,
  float: float(Float32Array),
  double: float(Float64Array),
  decimal: DecimalBuilder,
  string: StringBuilder,
  binary: BinaryBuilder,
  array: ArrayBuilder,
  struct: StructBuilder,
  map: MapBuilder,
};
