// Rules over rows of all types: over columns.

import { columns } from "crisol";

import { Table, counting, divides, failing, opened } from "../../table.ts";

export default columns.validator({
  name: "conformance",
  version: "0.1.0",
  reuse: true,
  reads: Table,
  options: counting,
  open({ options }) {
    opened(options);
    return options;
  },
  check({ length, columns: { b, s } }, broken, options) {
    failing("push", options);
    for (let row = 0; row < length; row += 1) {
      const number = row + 1;
      if (!b.isNull(row) && !b.value(row)) broken.reject(row, "b_false");
      if (s.isNull(row)) broken.reject(row, "s_null", `row ${number} has no s`);
      if (divides(options.reject_every, number)) broken.reject(row, "every", `row ${number}: ${s.get(row)}`);
      if (divides(options.filter_every, number)) broken.filter(row, "skipped");
    }
  },
});
