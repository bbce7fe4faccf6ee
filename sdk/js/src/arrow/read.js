// A message as columns of types known beforehand.

import {
  ArrayColumn,
  BinaryColumn,
  BooleanColumn,
  DecimalColumn,
  FixedColumn,
  MapColumn,
  StringColumn,
  StructColumn,
} from "./columns.js";
import { openMessage } from "./message.js";

const VALUES = {
  tinyint: Int8Array,
  smallint: Int16Array,
  int: Int32Array,
  date: Int32Array,
  bigint: BigInt64Array,
  timestamp: BigInt64Array,
  float: Float32Array,
  double: Float64Array,
};

/** The rows of a message, and its columns in the order of `types`. They share the memory of `bytes`. */
export function readMessage(bytes, types) {
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  const message = openMessage(aligned);
  const reader = new Reader(aligned, message);
  return { rows: message.rows, columns: types.map((type) => reader.column(type)) };
}

/** Walks nodes and buffers in the order of the types. */
class Reader {
  #bytes;
  #nodes;
  #buffers;

  constructor(bytes, { nodes, buffers }) {
    this.#bytes = bytes;
    this.#nodes = nodes.values();
    this.#buffers = buffers.values();
  }

  column(type) {
    const [length, nulls] = this.#next(this.#nodes);
    const head = [type, length, nulls, this.#values(Uint8Array)];
    switch (type.kind) {
      case "boolean":
        return new BooleanColumn(...head, this.#values(Uint8Array));
      case "decimal":
        return new DecimalColumn(...head, this.#values(Int32Array));
      case "string":
        return new StringColumn(...head, this.#values(Int32Array), this.#values(Uint8Array));
      case "binary":
        return new BinaryColumn(...head, this.#values(Int32Array), this.#values(Uint8Array));
      case "array":
        return new ArrayColumn(...head, this.#values(Int32Array), this.column(type.element));
      case "struct":
        return new StructColumn(...head, this.#fields(type.fields));
      case "map":
        return this.#map(head, type);
      default:
        return new FixedColumn(...head, this.#values(VALUES[type.kind]));
    }
  }

  #fields(fields) {
    return Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, this.column(type)]));
  }

  #map(head, { key, value }) {
    const offsets = this.#values(Int32Array);
    // The entries are a struct, which is never null.
    this.#next(this.#nodes);
    this.#next(this.#buffers);
    return new MapColumn(...head, offsets, this.column(key), this.column(value));
  }

  #values(Values) {
    const [start, end] = this.#next(this.#buffers);
    const width = Values.BYTES_PER_ELEMENT;
    return new Values(this.#bytes.buffer, this.#bytes.byteOffset + start, Math.floor((end - start) / width));
  }

  #next(pieces) {
    const { value, done } = pieces.next();
    if (done) throw new Error("the message has fewer columns than it should");
    return value;
  }
}
