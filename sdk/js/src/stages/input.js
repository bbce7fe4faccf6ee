// The rows of a message as objects.

import { readMessage } from "../arrow/read.js";
import { notNull } from "../rejection.js";

/** The rows as stages over columns see them. */
export const batchOf = (input) => ({ length: input.length, columns: input.columns });

/** A message of a record. */
export class Input {
  #columns;
  #names;
  #types;

  constructor(message, reads, more = []) {
    const { rows, columns } = readMessage(message, [...reads.types, ...more]);
    this.length = rows;
    this.#names = reads.names;
    this.#types = reads.types;
    this.#columns = columns;
  }

  /** The columns by name. */
  get columns() {
    return Object.fromEntries(this.#names.map((name, i) => [name, this.#columns[i]]));
  }

  /** A column after those of the record. */
  more(place = 0) {
    return this.#columns[this.#names.length + place];
  }

  /** A row; throws the rejection of one with a null where there may be none. */
  row(number) {
    const row = {};
    for (let i = 0; i < this.#names.length; i += 1) {
      const value = this.#columns[i].get(number);
      if (value === null && !this.#types[i].nullable) throw notNull(this.#names[i], "it is null");
      row[this.#names[i]] = value;
    }
    return row;
  }
}
