// Columns of a message: views of its bytes, without a copy. `get` gives a value, null where there is none.

import { Decimal } from "../decimal.js";
import { decodeAscii, decodeUtf8, isAscii } from "./text.js";

/** What all columns have. */
class Column {
  constructor(type, length, nulls, validity) {
    this.type = type;
    this.length = length;
    this.nullCount = nulls;
    /** A bit for each row, 0 where it is null; null when there are no nulls. */
    this.validity = nulls > 0 ? validity : null;
  }

  isNull(row) {
    return this.validity !== null && (this.validity[row >> 3] & (1 << (row & 7))) === 0;
  }

  get(row) {
    return this.isNull(row) ? null : this.value(row);
  }
}

/** Numbers, dates and timestamps: `values` is a typed array. */
export class FixedColumn extends Column {
  constructor(type, length, nulls, validity, values) {
    super(type, length, nulls, validity);
    this.values = values;
  }

  value(row) {
    return this.values[row];
  }
}

export class BooleanColumn extends Column {
  constructor(type, length, nulls, validity, bits) {
    super(type, length, nulls, validity);
    this.bits = bits;
  }

  value(row) {
    return (this.bits[row >> 3] & (1 << (row & 7))) !== 0;
  }
}

/** Exact decimals: `words` holds four words of 32 bits for each, the lowest first. */
export class DecimalColumn extends Column {
  constructor(type, length, nulls, validity, words) {
    super(type, length, nulls, validity);
    this.words = words;
  }

  value(row) {
    return new Decimal(this.units(row), this.type.scale);
  }

  /** The value in its smallest units. */
  units(row) {
    const { words } = this;
    const at = 4 * row;
    const low = words[at];
    const high = words[at + 1];
    // Nearly all values fit a float exactly, which is much faster than an integer of any size.
    if (words[at + 2] === high >> 31 && words[at + 3] === words[at + 2] && high < 0x200000 && high >= -0x200000) {
      return BigInt(high * 0x100000000 + (low >>> 0));
    }
    const upper = (BigInt(words[at + 3]) << 32n) | BigInt(words[at + 2] >>> 0);
    return (upper << 64n) | (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  }

  /** -1, 0 or 1, without making the value. */
  sign(row) {
    const { words } = this;
    const at = 4 * row;
    if (words[at + 3] < 0) return -1;
    return (words[at] | words[at + 1] | words[at + 2] | words[at + 3]) === 0 ? 0 : 1;
  }

  /** The sign of each row, whatever stands under a null: for rules over all rows. */
  signs() {
    const { words, length } = this;
    const signs = new Int8Array(length);
    for (let row = 0, at = 0; row < length; row += 1, at += 4) {
      const high = words[at + 3];
      signs[row] = high < 0 ? -1 : (high | words[at + 2] | words[at + 1] | words[at]) === 0 ? 0 : 1;
    }
    return signs;
  }
}

/** Values of any length: value `i` is `data` from `offsets[i]` to `offsets[i + 1]`. */
export class BinaryColumn extends Column {
  constructor(type, length, nulls, validity, offsets, data) {
    super(type, length, nulls, validity);
    this.offsets = offsets;
    this.data = data;
  }

  /** The bytes: a view. */
  value(row) {
    return this.bytes(row);
  }

  bytes(row) {
    return this.data.subarray(this.offsets[row], this.offsets[row + 1]);
  }
}

/** Texts, decoded when they are asked for. */
export class StringColumn extends BinaryColumn {
  /** All values as one text, when each character of it is a byte; null when not. */
  #whole;

  value(row) {
    if (this.#whole === undefined) this.#whole = wholeOf(this.data);
    const start = this.offsets[row];
    const end = this.offsets[row + 1];
    return this.#whole === null ? decodeUtf8(this.data.subarray(start, end)) : this.#whole.slice(start, end);
  }

  /** For each row 1 when its value is one of these texts, else 0. */
  among(texts) {
    const wanted = new Set(texts);
    const found = new Uint8Array(this.length);
    // An interpreter is quicker to cut a text and look it up than to compare its bytes.
    for (let row = 0; row < this.length; row += 1) if (wanted.has(this.value(row))) found[row] = 1;
    return found;
  }
}

const wholeOf = (data) => (isAscii(data) ? decodeAscii(data) : null);

/** Lists: value `i` is the elements from `offsets[i]` to `offsets[i + 1]`. */
export class ArrayColumn extends Column {
  constructor(type, length, nulls, validity, offsets, elements) {
    super(type, length, nulls, validity);
    this.offsets = offsets;
    this.elements = elements;
  }

  value(row) {
    const start = this.offsets[row];
    const end = this.offsets[row + 1];
    const values = new Array(end - start);
    for (let i = start; i < end; i += 1) values[i - start] = this.elements.get(i);
    return values;
  }
}

export class StructColumn extends Column {
  constructor(type, length, nulls, validity, fields) {
    super(type, length, nulls, validity);
    /** A column for each field, by name. */
    this.fields = fields;
    this.names = Object.keys(fields);
  }

  value(row) {
    const value = {};
    for (const name of this.names) value[name] = this.fields[name].get(row);
    return value;
  }
}

export class MapColumn extends Column {
  constructor(type, length, nulls, validity, offsets, keys, values) {
    super(type, length, nulls, validity);
    this.offsets = offsets;
    this.keys = keys;
    this.values = values;
  }

  value(row) {
    const value = new Map();
    for (let i = this.offsets[row]; i < this.offsets[row + 1]; i += 1) value.set(this.keys.get(i), this.values.get(i));
    return value;
  }
}
