// Runs stages natively, over the same messages that cross between host and component: for the tests of stages.

import { readMessage } from "./arrow/read.js";
import { record } from "./record.js";
import { Rows } from "./stages/output.js";
import { parseTimestamp } from "./time.js";
import { parseType } from "./parse.js";
import { binary, int, nullable, string, tinyint } from "./types.js";

/** "Now" in tests. */
export const NOW = parseTimestamp("2026-04-01T00:00:00Z");

const REJECTED = [int(), tinyint(), string(), string()];
const GROUP = "_group";

/** Runs a decoder over messages: texts, bytes, or null for one without a value. */
export function decode(stage, messages, options = {}, column = "payload") {
  const type = messages.some((message) => message instanceof Uint8Array) ? binary() : string();
  return pushed(stage, record({ [column]: nullable(type) }), messages.map((message) => ({ [column]: message })), options);
}

/** Runs a transformer over rows of a record. */
export function transform(stage, fields, rows, options = {}) {
  return pushed(stage, record(fields), rows, options);
}

/** Runs a validator over rows of a record; gives what it rejects. */
export function check(stage, fields, rows, options = {}) {
  const { session, message } = opened(stage, record(fields), options);
  return rejections(session.check(message(rows)));
}

/** Runs a ranker over groups of rows; gives the rows that it keeps, each with `_row`, counted over all groups. */
export function rank(stage, fields, groups, options = {}) {
  return grouped(stage, record(fields), groups, options, "_row");
}

/** Runs an aggregator over groups of rows; gives its rows, each with `_group`. */
export function aggregate(stage, fields, groups, options = {}) {
  return grouped(stage, record(fields), groups, options, GROUP);
}

function pushed(stage, reads, given, options) {
  const { session, message, writes } = opened(stage, reads, options);
  const { rows, rejected } = session.push(message(given));
  return { rows: rowsOf(rows, writes, "_row"), rejected: rejections(rejected) };
}

/** Cut into messages in several ways, groups give the same. */
function grouped(stage, reads, groups, options, index) {
  const all = groups.flatMap((rows, group) => rows.map((row) => ({ ...row, [GROUP]: group })));
  const answers = [all.length || 1, 1, 2].map((size) => inMessages(stage, reads, all, size, options, index));
  const [whole, ...cut] = answers.map((rows) => shown(rows));
  if (cut.some((other) => other !== whole)) throw new Error("the stage gives other rows when its messages are cut in another way");
  return answers[0];
}

function inMessages(stage, reads, all, size, options, index) {
  const { session, message, writes } = opened(stage, reads, options);
  const messages = [];
  for (let at = 0; at < all.length; at += size) messages.push(...session.push(message(all.slice(at, at + size), GROUP)));
  messages.push(...session.finish());
  return messages.flatMap((bytes) => rowsOf(bytes, writes, index));
}

/** A session, and what makes messages of the rows that it reads. */
function opened(stage, reads, options) {
  const [text, input] = [JSON.stringify(options), reads.columns()];
  const plan = stage.plan(text, input);
  const narrow = record(Object.fromEntries(plan.reads.map((name) => [name, reads.fields[name]])));
  const session = stage.open(text, narrow.columns(), NOW);
  const message = (rows, index = null) => {
    const made = new Rows(narrow, index ?? "_row");
    rows.forEach((row, number) => made.put(index === null ? number : row[index], row));
    return index === null ? made.messageWithoutIndex() : made.message();
  };
  return { session, message, writes: plan.writes };
}

function rowsOf(bytes, writes, index) {
  const types = writes.map(({ type, nullable: mayBeNull }) => (mayBeNull ? nullable(parseType(type)) : parseType(type)));
  const { rows, columns } = readMessage(bytes, [...types, int()]);
  const names = [...writes.map(({ name }) => name), index];
  return Array.from({ length: rows }, (_, row) => Object.fromEntries(names.map((name, i) => [name, columns[i].get(row)])));
}

function rejections(bytes) {
  if (bytes === null) return [];
  const { rows, columns } = readMessage(bytes, REJECTED);
  const at = (row) => columns.map((column) => column.get(row));
  return Array.from({ length: rows }, (_, i) => at(i)).map(([row, kind, code, text]) => ({ row, code, text, filtered: kind === 1 }));
}

const shown = (rows) => JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value));
