// Messages with fields of all types that JSON has.

import { decoder } from "crisol";

import { Textual, asking, failing, opened } from "../../table.ts";

export default decoder({
  name: "conformance",
  version: "0.1.0",
  reuse: true,
  row: Textual,
  options: asking,
  open({ options }) {
    opened(options);
    return options;
  },
  decode(message, options) {
    failing("push", options);
    return Textual.fromJson(message);
  },
});
