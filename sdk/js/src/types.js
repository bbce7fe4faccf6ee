// Column types, in the words of contracts. A type is a plain object: its `kind`, its canonical `name`, whether it is
// `nullable`, and what it is made of.

const DEPTH_MAX = 16;
const PRECISION_MAX = 38;

const simple = (kind) => {
  const type = Object.freeze({ kind, name: kind, nullable: false });
  return () => type;
};

export const boolean = simple("boolean");
export const tinyint = simple("tinyint");
export const smallint = simple("smallint");
export const int = simple("int");
export const bigint = simple("bigint");
export const float = simple("float");
export const double = simple("double");
export const string = simple("string");
export const binary = simple("binary");
export const date = simple("date");
export const timestamp = simple("timestamp");

/** An exact number of `precision` digits, `scale` of them after the point. */
export function decimal(precision, scale = 0) {
  const name = `decimal(${precision},${scale})`;
  if (!Number.isInteger(precision) || precision < 1 || precision > PRECISION_MAX) {
    throw new RangeError(`${name}: the precision must be 1 to ${PRECISION_MAX}`);
  }
  if (!Number.isInteger(scale) || scale < 0 || scale > precision) {
    throw new RangeError(`${name}: the scale must be 0 to ${precision}, the precision`);
  }
  return Object.freeze({ kind: "decimal", name, nullable: false, precision, scale });
}

/** A list; its elements may be null. */
export function array(element) {
  return deep({ kind: "array", name: `array<${element.name}>`, nullable: false, element: nullable(element) });
}

/** Named fields; each may be null. */
export function struct(fields) {
  const entries = Object.entries(fields).map(([name, type]) => [checkedName(name), nullable(type)]);
  if (entries.length === 0) throw new RangeError("a struct has at least one field");
  const name = `struct<${entries.map(([field, type]) => `${quoted(field)}:${type.name}`).join(",")}>`;
  return deep({ kind: "struct", name, nullable: false, fields: Object.fromEntries(entries) });
}

/** Keys, never null, and values, which may be. */
export function map(key, value) {
  if (key.kind === "map") throw new RangeError("a map cannot be the key of a map");
  const name = `map<${key.name},${value.name}>`;
  return deep({ kind: "map", name, nullable: false, key: required(key), value: nullable(value) });
}

/** The same type, and null. */
export function nullable(type) {
  return type.nullable ? type : Object.freeze({ ...type, nullable: true });
}

/** A name that a property of an object may have without losing its place. */
export function checkedName(name) {
  if (/^[0-9]+$/.test(name) || name === "__proto__") {
    throw new RangeError(`\`${name}\` cannot be the name of a field here: JavaScript gives such properties another place`);
  }
  return name;
}

const required = (type) => (type.nullable ? Object.freeze({ ...type, nullable: false }) : type);

function deep(type) {
  if (depth(type) > DEPTH_MAX) throw new RangeError(`a type may be nested ${DEPTH_MAX} levels deep, this one is deeper`);
  return Object.freeze(type);
}

const depth = (type) => {
  const inner = [type.element, type.key, type.value, ...Object.values(type.fields ?? {})].filter(Boolean);
  return inner.length === 0 ? 0 : 1 + Math.max(...inner.map(depth));
};

const quoted = (name) => (/^[\p{L}\p{N}_]+$/u.test(name) ? name : `\`${name.replaceAll("`", "``")}\``);
