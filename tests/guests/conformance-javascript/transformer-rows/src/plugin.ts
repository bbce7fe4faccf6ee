// Rows of all types, given back as they came: over rows.

import { filter, option, reject, transformer } from "crisol";

import { Table, counting, divides, failing, opened } from "../../table.ts";

export default transformer({
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
  transform(row, { reject_every, filter_every, repeat, stamp, timestamp, fail }, place) {
    failing("push", { fail });
    const number = place + 1;
    if (divides(reject_every, number)) return reject("every", `row ${number}: ${row.s}`);
    if (divides(filter_every, number)) return filter("skipped");
    const given = stamp ? { ...row, ts: timestamp } : row;
    return repeat === 1 ? given : Array.from({ length: repeat }, () => given);
  },
});
