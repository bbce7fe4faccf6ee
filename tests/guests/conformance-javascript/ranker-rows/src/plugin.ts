// Every second row of a group.

import { int, nullable, ranker, string } from "crisol";

import { asking, failing, opened } from "../../table.ts";

export default ranker({
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
  rank(group, keep, options) {
    failing("push", options);
    failing("finish", options);
    for (const [row, { s }] of group.entries()) {
      if (row % 2 === 0) keep(row, { place: row / 2 + 1, said: s });
    }
  },
});
