// The messages of sdk/vectors are read, and written, as their README says what they hold.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { Decimal, nullable } from "crisol";

import { builderOf } from "../src/arrow/builders.js";
import { readMessage } from "../src/arrow/read.js";
import { finish } from "../src/arrow/write.js";
import { parseType } from "../src/parse.js";

const FOLDER = new URL("../../vectors/", import.meta.url);
const NAMES = readdirSync(FOLDER).filter((file) => file.endsWith(".bin")).map((file) => file.replace(".bin", ""));

const fieldsOf = (type, shown) => Object.entries(type.fields).map(([name, field], i) => [name, value(field, shown[i])]);

/** The value of a column that the files show so. */
function value(type, shown) {
  if (shown === null) return null;
  switch (type.kind) {
    case "float":
    case "double":
      return { inf: Infinity, "-inf": -Infinity }[shown] ?? shown;
    case "bigint":
    case "timestamp":
      return BigInt(shown);
    case "decimal":
      return new Decimal(BigInt(shown), type.scale);
    case "binary":
      return new Uint8Array(Buffer.from(shown, "hex"));
    case "array":
      return shown.map((element) => value(type.element, element));
    case "struct":
      return Object.fromEntries(fieldsOf(type, shown));
    case "map":
      return new Map(shown.map(([key, one]) => [value(type.key, key), value(type.value, one)]));
    default:
      return shown;
  }
}

/** Types and rows of a pair of files, and its message. */
function load(name) {
  const { columns, rows } = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8"));
  const types = columns.map(({ type, nullable: mayBeNull }) => (mayBeNull ? nullable(parseType(type)) : parseType(type)));
  const wanted = rows.map((row) => row.map((shown, i) => value(types[i], shown)));
  return { types, wanted, bytes: new Uint8Array(readFileSync(new URL(`${name}.bin`, FOLDER))) };
}

function read(types, bytes) {
  const { rows, columns } = readMessage(bytes, types);
  return Array.from({ length: rows }, (_, row) => columns.map((column) => column.get(row)));
}

function written(types, rows) {
  const builders = types.map((type, i) => builderOf(type, `column ${i}`));
  for (const row of rows) builders.forEach((builder, i) => builder.append(row[i]));
  return finish(builders);
}

test("there is a message of every type", () => {
  assert.ok(NAMES.length >= 20, `${NAMES}`);
});

for (const name of NAMES) {
  test(`${name}: what is read is what the file holds, and so it is when it is written and read again`, () => {
    const { types, wanted, bytes } = load(name);
    assert.deepEqual(read(types, bytes), wanted);
    assert.deepEqual(read(types, written(types, wanted)), wanted);
  });
}
