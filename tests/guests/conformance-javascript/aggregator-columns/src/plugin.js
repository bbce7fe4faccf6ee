// How many rows a group has, their sum and the longest text: over columns.

import { Decimal, bigint, columns, decimal, nullable, option, string } from "crisol";

import { asking, failing, opened } from "../../table.ts";

const SCALE = 4;

export default columns.aggregator({
  name: "conformance",
  version: "0.1.0",
  reuse: true,
  reads: { d18: nullable(decimal(18, SCALE)), s: nullable(string()) },
  writes: { rows: bigint(), total: nullable(decimal(38, SCALE)), longest: nullable(string()) },
  options: { ...asking, skip_single: option.boolean({ description: "Whether a group of one row is left out" }) },
  open({ options }) {
    opened(options);
    return options;
  },
  start: () => ({ rows: 0, units: null, longest: null, bytes: -1 }),
  add(folded, { columns: { d18, s } }, start, end, options) {
    failing("push", options);
    folded.rows += end - start;
    for (let row = start; row < end; row += 1) {
      if (!d18.isNull(row)) folded.units = (folded.units ?? 0n) + d18.units(row);
      const bytes = s.isNull(row) ? -1 : s.offsets[row + 1] - s.offsets[row];
      if (bytes > folded.bytes) [folded.bytes, folded.longest] = [bytes, s.value(row)];
    }
  },
  finish({ rows, units, longest }, out, options) {
    failing("finish", options);
    if (options.skip_single && rows === 1) return false;
    out.columns.rows.append(BigInt(rows));
    out.columns.total.append(units === null ? null : new Decimal(units, SCALE));
    out.columns.longest.append(longest);
    return true;
  },
});
