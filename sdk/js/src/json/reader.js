// Walks through JSON text, one token after another, and says what is wrong with it and where.

import { reject } from "../rejection.js";
import { isTooDeep } from "./depth.js";

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
const WORDS = { t: "true", f: "false", n: "null" };
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
  /** Arrays and objects around what is read. */
  #around = 0;

  constructor(text) {
    this.#text = text;
  }

  /** The next character that is no space, "" at the end. */
  peek() {
    const text = this.#text;
    let code = text.charCodeAt(this.#at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++this.#at);
    return text[this.#at] ?? "";
  }

  /** Calls `value` with each name of an object, to read what it names. */
  object(value) {
    if (this.#enter("{", "}")) return;
    do {
      if (this.peek() !== '"') throw this.wrong("expected a name");
      const name = this.string();
      this.#expect(":");
      value(name);
    } while (this.#eat(","));
    this.#leave("}");
  }

  /** Calls `element` to read each element of an array. */
  array(element) {
    if (this.#enter("[", "]")) return;
    do element();
    while (this.#eat(","));
    this.#leave("]");
  }

  string() {
    const end = this.#closing();
    const token = this.#text.slice(this.#at, end + 1);
    const text = end < 0 ? undefined : unescaped(token);
    if (text === undefined) throw this.wrong("a string that does not end, or is none");
    this.#at = end + 1;
    if (token.includes("\\u") && !text.isWellFormed()) throw this.wrong("half of a surrogate pair");
    return text;
  }

  /** Where the string ends that starts here: at a quote after an even number of backslashes. */
  #closing() {
    let end = this.#at;
    let before;
    do {
      end = this.#text.indexOf('"', end + 1);
      for (before = end - 1; this.#text[before] === "\\"; ) before -= 1;
    } while (end >= 0 && (end - before) % 2 === 0);
    return end;
  }

  /** A number as it is written. */
  number() {
    NUMBER.lastIndex = this.#at;
    if (!NUMBER.test(this.#text)) throw this.wrong("expected a number");
    const token = this.#text.slice(this.#at, NUMBER.lastIndex);
    this.#at = NUMBER.lastIndex;
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
  skip() {
    const next = this.peek();
    const start = this.#at;
    if (next === "{") this.object(() => this.skip());
    else if (next === "[") this.array(() => this.skip());
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

  /** Enters an array or object, or passes over one without anything in it. */
  #enter(open, close) {
    this.#expect(open);
    if (isTooDeep(this.#around)) throw this.wrong("it is nested too deep");
    if (this.#eat(close)) return true;
    this.#around += 1;
    return false;
  }

  #leave(close) {
    this.#expect(close, `\`,\` or \`${close}\``);
    this.#around -= 1;
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

/** The text of a string in quotes; `undefined` when it is none. The runtime's own parser is the fastest judge of it. */
function unescaped(token) {
  try {
    return JSON.parse(token);
  } catch {
    return undefined;
  }
}

/** A piece of a message, cut to a length that can be shown. */
export function shown(text) {
  const characters = [...text.slice(0, 2 * SHOWN_CHARACTERS_MAX + 2)];
  return characters.length > SHOWN_CHARACTERS_MAX ? `${characters.slice(0, SHOWN_CHARACTERS_MAX).join("")}…` : text;
}
