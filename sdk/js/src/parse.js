// Type names of contracts, `array<struct<sku:string,qty:int>>`, into types.

import * as types from "./types.js";

const WORDS = {
  string: "string",
  binary: "binary",
  boolean: "boolean",
  byte: "tinyint",
  tinyint: "tinyint",
  short: "smallint",
  smallint: "smallint",
  int: "int",
  integer: "int",
  long: "bigint",
  bigint: "bigint",
  float: "float",
  real: "float",
  double: "double",
  date: "date",
  timestamp: "timestamp",
};

/** The type that a text names. */
export function parseType(text) {
  const parser = new Parser(text);
  const type = parser.type();
  parser.end();
  return type;
}

class Parser {
  #text;
  #rest;

  constructor(text) {
    this.#text = text;
    this.#rest = text;
  }

  type() {
    const word = this.#take(/^\s*([\p{L}\p{N}_]*)/u).toLowerCase();
    if (Object.hasOwn(WORDS, word)) return types[WORDS[word]]();
    switch (word) {
      case "decimal":
        return this.#decimal();
      case "array":
        return types.array(this.#within(() => this.type()));
      case "struct":
        return types.struct(Object.fromEntries(this.#within(() => this.#fields())));
      case "map":
        return types.map(...this.#within(() => [this.type(), this.#expect(",") ?? this.type()]));
      default:
        throw this.#wrong("a type");
    }
  }

  end() {
    if (this.#rest.trim() !== "") throw this.#wrong("the end");
  }

  #decimal() {
    if (!this.#eat("(")) return types.decimal(10, 0);
    const precision = Number(this.#take(/^\s*([0-9]+)/));
    const scale = this.#eat(",") ? Number(this.#take(/^\s*([0-9]+)/)) : 0;
    this.#expect(")");
    return types.decimal(precision, scale);
  }

  #within(inner) {
    this.#expect("<");
    const found = inner();
    this.#expect(">");
    return found;
  }

  #fields() {
    const fields = [];
    do {
      const name = this.#eat("`") ? this.#take(/^((?:[^`]|``)*)`/).replaceAll("``", "`") : this.#take(/^\s*([\p{L}\p{N}_]+)/u);
      this.#eat(":");
      fields.push([name, this.type()]);
    } while (this.#eat(","));
    return fields;
  }

  #take(pattern) {
    const found = pattern.exec(this.#rest);
    if (!found) throw this.#wrong("a name or a number");
    this.#rest = this.#rest.slice(found[0].length);
    return found[1];
  }

  #eat(wanted) {
    const rest = this.#rest.trimStart();
    if (!rest.startsWith(wanted)) return false;
    this.#rest = rest.slice(wanted.length);
    return true;
  }

  #expect(wanted) {
    if (!this.#eat(wanted)) throw this.#wrong(`\`${wanted}\``);
  }

  #wrong(wanted) {
    return new RangeError(`\`${this.#text}\`: expected ${wanted} at character ${this.#text.length - this.#rest.length + 1}`);
  }
}
