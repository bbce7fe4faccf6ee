// Options of a stage: what a contract may say, as a schema that gives the JSON Schema and checks the values.

import { Failure } from "./rejection.js";

/** An option: the keywords of its JSON Schema, and how its value is checked. */
const make = (keywords, wrong) => (settings = {}) => {
  const { required = false, ...rest } = settings;
  const schema = Object.fromEntries(Object.entries({ ...keywords, ...rest }).filter(([, value]) => value !== undefined));
  return Object.freeze({ schema, required, default: settings.default, wrong: (value) => wrong(value) ?? outside(value, schema) });
};

const typed = (type, article) => (value) => (typeof value === type ? undefined : `it is not ${article}`);

function outside(value, { minimum, maximum, minItems, enum: values }) {
  if (minimum !== undefined && value < minimum) return `${value} is less than ${minimum}`;
  if (maximum !== undefined && value > maximum) return `${value} is more than ${maximum}`;
  if (minItems !== undefined && value.length < minItems) return `it has ${value.length} items, at least ${minItems} are wanted`;
  return undefined;
}

export const option = Object.freeze({
  text: make({ type: "string" }, typed("string", "a text")),
  integer: make({ type: "integer" }, (value) => (Number.isInteger(value) ? undefined : "it is not a whole number")),
  number: make({ type: "number" }, typed("number", "a number")),
  boolean: make({ type: "boolean" }, typed("boolean", "true or false")),
  oneOf: (values, settings) =>
    make({ enum: values }, (value) => (values.includes(value) ? undefined : `it is none of ${values.join(", ")}`))(settings),
  list: (item, settings) =>
    make({ type: "array", items: item.schema }, (value) => {
      if (!Array.isArray(value)) return "it is not a list";
      return value.map((inner) => item.wrong(inner)).find((wrong) => wrong !== undefined);
    })(settings),
});

/** The JSON Schema of options; none when a stage takes none. */
export function schemaOf(options) {
  if (options === undefined) return undefined;
  const entries = Object.entries(options);
  const required = entries.filter(([, { required }]) => required).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/** The options of a contract, checked. */
export function readOptions(options = {}, text) {
  const given = parse(text);
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(options, name));
  if (unknown !== undefined) {
    const known = Object.keys(options).map((name) => `\`${name}\``);
    throw wrong(`there is no option \`${unknown}\`; ${known.length > 0 ? `there are ${known.join(", ")}` : "there are none"}`);
  }
  return Object.fromEntries(Object.entries(options).map(([name, wanted]) => [name, valueOf(name, wanted, given[name])]));
}

function valueOf(name, wanted, value) {
  if (value === undefined || value === null) {
    if (wanted.required) throw wrong(`\`${name}\` is missing`);
    return wanted.default;
  }
  const what = wanted.wrong(value);
  if (what !== undefined) throw wrong(`\`${name}\`: ${what}`);
  return value;
}

function parse(text) {
  let given;
  try {
    given = text.trim() === "" ? {} : JSON.parse(text);
  } catch (error) {
    throw wrong(error.message);
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw wrong("they are no object");
  return given;
}

const wrong = (what) => new Failure("options", `the options do not fit: ${what}`);
