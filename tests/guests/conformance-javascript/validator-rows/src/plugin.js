// Rules over rows of all types: over rows.

import { validator } from "crisol";

import { Table, counting, divides, failing, opened } from "../../table.ts";

export default validator({
  name: "conformance",
  version: "0.1.0",
  reuse: true,
  reads: Table,
  options: counting,
  open({ options }) {
    opened(options);
    return options;
  },
  check({ b, s }, broken, options, place) {
    failing("push", options);
    const number = place + 1;
    if (b === false) broken.reject("b_false");
    if (s === null) broken.reject("s_null", `row ${number} has no s`);
    if (divides(options.reject_every, number)) broken.reject("every", `row ${number}: ${s}`);
    if (divides(options.filter_every, number)) broken.filter("skipped");
  },
});
