// What is common to the sections of a WebAssembly file: an id, a length, and contents that start with a count.

/** Reads the contents of a section. */
export class Reader {
  #bytes;
  #at = 0;

  constructor(bytes) {
    this.#bytes = bytes;
  }

  byte() {
    return this.#bytes[this.#at++];
  }

  /** An unsigned number in LEB128. */
  number() {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (!(byte & 128)) return value;
    }
  }

  text() {
    const length = this.number();
    this.#at += length;
    return new TextDecoder().decode(this.#bytes.subarray(this.#at - length, this.#at));
  }

  get at() {
    return this.#at;
  }
}

/** An unsigned number in LEB128. */
export function number(value) {
  return value < 128 ? [value] : [(value & 127) | 128, ...number(Math.floor(value / 128))];
}

/** A text with its length before it. */
export function text(value) {
  const bytes = new TextEncoder().encode(value);
  return [...number(bytes.length), ...bytes];
}

/** Where the sections of a file stand: from `head` to `end`, their contents from `start` on. */
export function sections(bytes) {
  const found = [];
  for (let head = 8; head < bytes.length; head = found.at(-1).end) {
    const reader = new Reader(bytes.subarray(head + 1, head + 11));
    const length = reader.number();
    const start = head + 1 + reader.at;
    found.push({ id: bytes[head], head, start, end: start + length });
  }
  return found;
}

/** A file of its first bytes and its sections. */
export function write(head, parts) {
  return Buffer.concat([head, ...parts]);
}
