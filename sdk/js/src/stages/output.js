// What comes of the rows of a message.

import { builderOf } from "../arrow/builders.js";
import { buildersOf, finish } from "../arrow/write.js";
import { record } from "../record.js";
import { int, string, tinyint } from "../types.js";

const REJECTED = record({ row: int(), kind: tinyint(), code: string(), text: string() });
const QUARANTINE = 0;
const FILTER = 1;

/** Rows that do not go on. */
export class Rejections {
  #columns = buildersOf(REJECTED);

  /** To quarantine; a validator may tell of several rules that a row breaks. */
  reject(row, code, text = "") {
    this.#push(row, QUARANTINE, code, text);
  }

  /** Dropped on purpose, and counted. */
  filter(row, code, text = "") {
    this.#push(row, FILTER, code, text);
  }

  put(row, { code, text, filtered }) {
    this.#push(row, filtered ? FILTER : QUARANTINE, code, text);
  }

  #push(row, kind, code, text) {
    const { row: rows, kind: kinds, code: codes, text: texts } = this.#columns;
    rows.append(row);
    kinds.append(kind);
    codes.append(code);
    texts.append(text);
  }

  /** The message, null when there are none. */
  message() {
    return this.#columns.row.length === 0 ? null : finish(Object.values(this.#columns));
  }
}

/** Rows of a record, each with the number of what it came from: `index` is `_row` or `_group`. */
export class Rows {
  constructor(writes, index = "_row") {
    /** Builders of the columns, by name. */
    this.columns = buildersOf(writes);
    this.builders = Object.values(this.columns);
    this.names = writes.names;
    this.index = builderOf(int(), index);
  }

  /** Values without a row are something, too: `message` tells of them. */
  get isEmpty() {
    return this.index.length === 0 && this.builders.every(({ length }) => length === 0);
  }

  put(number, row) {
    const { builders, names } = this;
    for (let i = 0; i < names.length; i += 1) builders[i].append(row[names[i]]);
    this.index.append(number);
  }

  message() {
    return finish([...this.builders, this.index]);
  }

  /** Only the columns, as a host sends them. */
  messageWithoutIndex() {
    return finish(this.builders);
  }
}
