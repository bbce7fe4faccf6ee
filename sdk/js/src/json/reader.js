// Walks through JSON text, one token after another, and says what is wrong with it and where.

import { reject } from "../rejection.js";

const STRING = /"[^"\\\0-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\0-\x1f]*)*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
const SPACES = [" ", "\t", "\n", "\r"];
const WORDS = { t: "true", f: "false", n: "null" };
const DEPTH_MAX = 200;
const SHOWN_CHARACTERS_MAX = 60;

/** What is wrong, and of which field. */
export class Fault {
  constructor(text, path = "") {
    this.text = text;
    this.path = path;
  }

  /** The same, of a field around it. */
  in(path) {
    this.path = this.path.startsWith("[") || this.path === "" ? path + this.path : `${path}.${this.path}`;
    return this;
  }

  rejection() {
    return reject("corrupt_record", this.path === "" ? this.text : `\`${this.path}\`: ${this.text}`);
  }
}

export class Reader {
  #text;
  #at = 0;

  constructor(text) {
    this.#text = text;
  }

  /** The next character that is no space, "" at the end. */
  peek() {
    while (SPACES.includes(this.#text[this.#at])) this.#at += 1;
    return this.#text[this.#at] ?? "";
  }

  /** Calls `value` with each name of an object, to read what it names. */
  object(value) {
    this.#expect("{");
    if (this.#eat("}")) return;
    do {
      if (this.peek() !== '"') throw this.wrong("expected a name");
      const name = this.string();
      this.#expect(":");
      value(name);
    } while (this.#eat(","));
    this.#expect("}", "`,` or `}`");
  }

  /** Calls `element` to read each element of an array. */
  array(element) {
    this.#expect("[");
    if (this.#eat("]")) return;
    do element();
    while (this.#eat(","));
    this.#expect("]", "`,` or `]`");
  }

  string() {
    const token = this.#match(STRING);
    if (token === null) throw this.wrong("a string that does not end, or is none");
    const text = token.includes("\\") ? JSON.parse(token) : token.slice(1, -1);
    if (token.includes("\\u") && !text.isWellFormed()) throw this.wrong("half of a surrogate pair");
    return text;
  }

  /** A number as it is written. */
  number() {
    const token = this.#match(NUMBER);
    if (token === null) throw this.wrong("expected a number");
    return token;
  }

  /** `true`, `false` or `null`. */
  word() {
    const word = WORDS[this.peek()];
    if (word === undefined || !this.#text.startsWith(word, this.#at)) throw this.wrong("expected a value");
    this.#at += word.length;
    return word;
  }

  /** Passes over a value; gives its text. */
  skip(depth = 0) {
    if (depth > DEPTH_MAX) throw this.wrong("it is nested too deep");
    const next = this.peek();
    const start = this.#at;
    if (next === "{") this.object(() => this.skip(depth + 1));
    else if (next === "[") this.array(() => this.skip(depth + 1));
    else if (next === '"') this.string();
    else if (next === "-" || (next >= "0" && next <= "9")) this.number();
    else this.word();
    return this.#text.slice(start, this.#at);
  }

  end() {
    if (this.peek() !== "") throw this.wrong("there is something after it");
  }

  wrong(what) {
    if (this.#text.trim() === "") return new Fault("the message is empty");
    return new Fault(`not a JSON object: ${what} at character ${[...this.#text.slice(0, this.#at)].length + 1}`);
  }

  #match(pattern) {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return null;
    this.#at = pattern.lastIndex;
    return found[0];
  }

  #eat(wanted) {
    if (this.peek() !== wanted) return false;
    this.#at += 1;
    return true;
  }

  #expect(wanted, called = `\`${wanted}\``) {
    if (!this.#eat(wanted)) throw this.wrong(`expected ${called}`);
  }
}

/** A piece of a message, cut to a length that can be shown. */
export function shown(text) {
  const characters = [...text.slice(0, 2 * SHOWN_CHARACTERS_MAX + 2)];
  return characters.length > SHOWN_CHARACTERS_MAX ? `${characters.slice(0, SHOWN_CHARACTERS_MAX).join("")}…` : text;
}
