// What all stages have: what they say of themselves, their plan, and how a session of them is opened.

import { readOptions, schemaOf } from "../options.js";
import { parseType } from "../parse.js";
import { record } from "../record.js";
import { Failure } from "../rejection.js";
import { nullable } from "../types.js";

/**
 * A stage as a component exports it. `plan(columns, options)` gives the records that it `reads` and `writes`;
 * `session(plan, state)` is what answers messages.
 */
export function stage(kind, spec, { needs, plan, session }) {
  check(kind, spec, needs);
  const planned = (options, input) => plan(columnsOf(input), readOptions(spec.options, options));
  return Object.freeze({
    kind,
    describe: () => describe(kind, spec),
    plan(options, input) {
      const { reads, writes } = planned(options, input);
      return { reads: reads.names, writes: writes?.columns() ?? [] };
    },
    open(options, input, timestamp) {
      const batch = { options: readOptions(spec.options, options), timestamp: BigInt(timestamp) };
      return session(planned(options, input), spec.open ? spec.open(batch) : batch);
    },
  });
}

function check(kind, spec, needs) {
  const absent = ["name", "version", ...needs].find((key) => spec[key] === undefined);
  if (absent) throw new TypeError(`a ${kind} needs \`${absent}\``);
}

function describe(kind, { name, version, schemaVersions = "all", reuse = false, options }) {
  return JSON.stringify({ name, version, kind, schema_versions: schemaVersions, reuse, options: schemaOf(options) });
}

/** Input columns, as the host names them, by name. */
function columnsOf(input) {
  return Object.fromEntries(
    input.map(({ name, type, nullable: mayBeNull }) => {
      const parsed = parseType(type);
      return [name, mayBeNull ? nullable(parsed) : parsed];
    }),
  );
}

/** A record, when the input has its columns with its types. */
export function wanted(fields, columns) {
  const reads = record(fields);
  for (const [name, type] of reads.entries) {
    const found = columns[name];
    if (found === undefined) throw missing(name, columns);
    if (found.name !== type.name) throw new Failure("input", `column \`${name}\` is ${found.name}, not ${type.name}`);
  }
  return reads;
}

export const missing = (name, columns) =>
  new Failure("input", `there is no column \`${name}\` among ${Object.keys(columns).join(", ")}`);
