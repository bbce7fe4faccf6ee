// How many rows a group has, their sum and the longest text: over rows.

import { aggregator, bigint, decimal, nullable, option, string } from "crisol";

import { asking, failing, opened } from "../../table.ts";

const bytes = (text) => new TextEncoder().encode(text).length;

export default aggregator({
  name: "conformance",
  version: "0.1.0",
  reuse: true,
  reads: { d18: nullable(decimal(18, 4)), s: nullable(string()) },
  writes: { rows: bigint(), total: nullable(decimal(38, 4)), longest: nullable(string()) },
  options: { ...asking, skip_single: option.boolean({ description: "Whether a group of one row is left out" }) },
  open({ options }) {
    opened(options);
    return options;
  },
  start: () => ({ rows: 0n, total: null, longest: null }),
  add(folded, { d18, s }, options) {
    failing("push", options);
    folded.rows += 1n;
    if (d18 !== null) folded.total = folded.total?.plus(d18) ?? d18;
    if (s !== null && (folded.longest === null || bytes(s) > bytes(folded.longest))) folded.longest = s;
  },
  finish(folded, options) {
    failing("finish", options);
    return options.skip_single && folded.rows === 1n ? null : folded;
  },
});
