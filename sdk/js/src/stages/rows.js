// Stages over rows, the short way: an object in, objects or a rejection out.

import { validUpTo } from "../arrow/text.js";
import { record } from "../record.js";
import { Failure, Rejection, filter, reject } from "../rejection.js";
import { nullable, string } from "../types.js";
import { Input } from "./input.js";
import { Rejections, Rows } from "./output.js";
import { missing, stage, wanted } from "./stage.js";

const FILTERED = filter("filtered");

/** What a function gives for a row, or the rejection that it throws; other errors go on. */
function outcome(call, row) {
  try {
    return call(row);
  } catch (error) {
    if (error instanceof Rejection) return error;
    throw error;
  }
}

/** Makes a row of each message. */
export function decoder(spec) {
  const column = spec.reads ?? "payload";
  const writes = record(spec.row ?? {});
  return stage("decoder", spec, {
    needs: ["row", "decode"],
    plan: (columns) => ({ reads: message(column, columns), writes }),
    session: (_, state) => decoding(spec, writes, column, state),
  });
}

function message(column, columns) {
  const type = columns[column];
  if (type === undefined) throw missing(column, columns);
  if (type.kind !== "string" && type.kind !== "binary") {
    throw new Failure("input", `column \`${column}\` is ${type.name}, not string or binary`);
  }
  return record({ [column]: type });
}

function decoding(spec, writes, column, state) {
  // Texts and bytes lie in a message in the same way.
  const reads = record({ [column]: nullable(string()) });
  return {
    push(bytes) {
      const input = new Input(bytes, reads);
      const messages = input.columns[column];
      const decode = (row) =>
        messages.isNull(row) ? reject("corrupt_record", `\`${column}\` is null`) : spec.decode(textOf(messages, row), state, row);
      const [rows, rejected] = [new Rows(writes), new Rejections()];
      for (let row = 0; row < input.length; row += 1) {
        const made = outcome(decode, row);
        if (made instanceof Rejection) rejected.put(row, made);
        else rows.put(row, made);
      }
      return { rows: rows.message(), rejected: rejected.message() };
    },
  };
}

function textOf(messages, row) {
  try {
    return messages.value(row);
  } catch {
    throw reject("corrupt_record", `invalid UTF-8 at byte ${validUpTo(messages.bytes(row)) + 1}`);
  }
}

/** Makes rows of rows: none, one or several of each. */
export function transformer(spec) {
  const writes = record(spec.writes ?? {});
  return stage("transformer", spec, {
    needs: ["reads", "writes", "transform"],
    plan: (columns) => ({ reads: wanted(spec.reads, columns), writes }),
    session: ({ reads }, state) => ({
      push(bytes) {
        const input = new Input(bytes, reads);
        const transform = (row) => spec.transform(input.row(row), state, row);
        const [rows, rejected] = [new Rows(writes), new Rejections()];
        for (let row = 0; row < input.length; row += 1) {
          const made = outcome(transform, row) ?? [];
          if (made instanceof Rejection) rejected.put(row, made);
          else if (!Array.isArray(made)) rows.put(row, made);
          else if (made.length === 0) rejected.put(row, FILTERED);
          else for (const one of made) rows.put(row, one);
        }
        return { rows: rows.message(), rejected: rejected.message() };
      },
    }),
  });
}

/** Judges rows. */
export function validator(spec) {
  return stage("validator", spec, {
    needs: ["reads", "check"],
    plan: (columns) => ({ reads: wanted(spec.reads, columns) }),
    session: ({ reads }, state) => ({
      check(bytes) {
        const input = new Input(bytes, reads);
        const broken = new Broken();
        const check = (row) => spec.check(input.row(row), broken.rules, state, row);
        for (broken.row = 0; broken.row < input.length; broken.row += 1) {
          const rejection = outcome(check, broken.row);
          if (rejection instanceof Rejection) broken.put(broken.row, rejection);
        }
        return broken.message();
      },
    }),
  });
}

/** Rules that are broken by the row at work. */
class Broken extends Rejections {
  row = 0;
  rules = {
    reject: (code, text) => this.reject(this.row, code, text),
    filter: (code, text) => this.filter(this.row, code, text),
  };
}
