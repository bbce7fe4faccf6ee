// Records: the columns of a row, by name and type.

import { quickly } from "./json/quick.js";
import { strictly } from "./json/strict.js";
import { checkedName } from "./types.js";

class Record {
  constructor(fields) {
    this.fields = Object.freeze({ ...fields });
    this.entries = Object.entries(this.fields);
    for (const [name] of this.entries) checkedName(name);
    this.types = this.entries.map(([, type]) => type);
    this.names = Object.keys(this.fields);
    this.hasIntegers = this.types.some(hasIntegers);
    this.binary = this.names.find((name) => hasBinary(this.fields[name]));
  }

  /** The row of a message that is one JSON object. Throws the rejection of one that is not, or does not fit. */
  fromJson(text) {
    if (this.binary) throw new TypeError(`\`${this.binary}\` is binary, which JSON does not have`);
    return quickly(text, this) ?? strictly(text, this);
  }

  /** The columns in the words of the interface. */
  columns() {
    return this.entries.map(([name, type]) => ({ name, type: type.name, nullable: type.nullable }));
  }
}

const inner = (type) => [type.element, type.key, type.value, ...Object.values(type.fields ?? {})].filter(Boolean);
const hasKind = (kinds) => (type) => kinds.includes(type.kind) || inner(type).some(hasKind(kinds));
const hasIntegers = hasKind(["tinyint", "smallint", "int", "bigint"]);
const hasBinary = hasKind(["binary"]);

/** The columns of a row: `record({ sku: string(), price: nullable(decimal(18, 2)) })`. */
export const record = (fields) => (fields instanceof Record ? fields : new Record(fields));
