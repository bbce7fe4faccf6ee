// Rows of all types, given back as they came: over columns.

import { columns, option } from "crisol";

import { Table, counting, divides, failing, opened } from "../../table.ts";

const NAMES = Object.keys(Table.fields);

export default columns.transformer({
  name: "conformance",
  version: "0.1.0",
  reuse: true,
  reads: Table,
  writes: Table,
  options: {
    ...counting,
    repeat: option.integer({ minimum: 1, default: 1, description: "How often a row comes out" }),
    stamp: option.boolean({ description: "Whether `ts` becomes the batch's timestamp" }),
  },
  open({ options, timestamp }) {
    opened(options);
    return { ...options, timestamp };
  },
  push(rows, out, state) {
    failing("push", state);
    for (let row = 0; row < rows.length; row += 1) {
      const number = row + 1;
      if (divides(state.reject_every, number)) out.reject(row, "every", `row ${number}: ${rows.columns.s.get(row)}`);
      else if (divides(state.filter_every, number)) out.filter(row, "skipped");
      else for (let i = 0; i < state.repeat; i += 1) copy(rows, row, out, state);
    }
  },
});

function copy(rows, row, out, { stamp, timestamp }) {
  for (const name of NAMES) {
    if (stamp && name === "ts") out.columns.ts.append(timestamp);
    else out.columns[name].copy(rows.columns[name], row);
  }
  out.row(row);
}
