// Columns as a message.

import { builderOf } from "./builders.js";
import { writeMessage } from "./message.js";

/** Builders for the columns of a record, by name. */
export function buildersOf(record) {
  return Object.fromEntries(record.entries.map(([name, type]) => [name, builderOf(type, name)]));
}

/** A message of what was built, all of one length. */
export function finish(builders) {
  const rows = builders[0]?.length ?? 0;
  const odd = builders.find((builder) => builder.length !== rows);
  if (odd) throw new RangeError(`column \`${odd.path}\` has ${odd.length} values, \`${builders[0].path}\` has ${rows}`);
  const [nodes, buffers] = [[], []];
  for (const builder of builders) builder.finish(nodes, buffers);
  return writeMessage(rows, nodes, buffers);
}
