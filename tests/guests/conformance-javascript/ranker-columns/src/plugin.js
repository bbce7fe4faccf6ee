// Every second row of a group: over columns.

import { columns, int, nullable, string } from "crisol";

import { asking, failing, opened } from "../../table.ts";

export default columns.ranker({
  name: "conformance",
  version: "0.1.0",
  reuse: true,
  reads: { s: nullable(string()), i32: nullable(int()) },
  writes: { place: int(), said: nullable(string()) },
  options: asking,
  open({ options }) {
    opened(options);
    return options;
  },
  rank({ columns: { s } }, groups, out, options) {
    failing("push", options);
    failing("finish", options);
    for (const { start, end } of groups) {
      for (let row = start; row < end; row += 2) {
        out.columns.place.append((row - start) / 2 + 1);
        out.columns.said.copy(s, row);
        out.row(row);
      }
    }
  },
});
