// Stages over whole columns: for speed, and where the columns are only known from the options.

import { record } from "../record.js";
import { int } from "../types.js";
import { answer, stopping } from "./groups.js";
import { Input } from "./input.js";
import { Rejections, Rows } from "./output.js";
import { stage, wanted } from "./stage.js";

const GROUP = [int()];

/** Columns that are given, or made of the input and the options. */
const fields = (given, columns, options) => (typeof given === "function" ? given(columns, options) : given);

const plan = (spec) => (columns, options) => ({
  reads: wanted(fields(spec.reads, columns, options), columns),
  writes: spec.writes && record(fields(spec.writes, columns, options)),
});

const batchOf = (input) => ({ length: input.length, columns: input.columns });

/** Rows that come out, and rows that do not. */
class Output extends Rejections {
  #rows;

  constructor(writes) {
    super();
    this.#rows = new Rows(writes);
    /** A builder for each column that is written: `append` a value or null, or `copy` one of a column. */
    this.columns = this.#rows.columns;
  }

  /** One more row, whose values were appended, comes of an input row. */
  row(number) {
    this.#rows.index.append(number);
  }

  rows() {
    return this.#rows.message();
  }
}

const pushing = (kind) => (spec) =>
  stage(kind, spec, {
    needs: ["reads", "writes", "push"],
    plan: plan(spec),
    session: ({ reads, writes }, state) => ({
      push(bytes) {
        const out = new Output(writes);
        spec.push(batchOf(new Input(bytes, reads)), out, state);
        return { rows: out.rows(), rejected: out.message() };
      },
    }),
  });

const validator = (spec) =>
  stage("validator", spec, {
    needs: ["reads", "check"],
    plan: plan(spec),
    session: ({ reads }, state) => ({
      check(bytes) {
        const broken = new Rejections();
        spec.check(batchOf(new Input(bytes, reads)), broken, state);
        return broken.message();
      },
    }),
  });

const aggregator = (spec) =>
  stage("aggregator", spec, {
    needs: ["reads", "writes", "start", "add", "finish"],
    plan: plan(spec),
    session: ({ reads, writes }, state) => new Aggregating(spec, reads, writes, state),
  });

/** A group may come in several messages. */
class Aggregating {
  #group;
  #folded;

  constructor(spec, reads, writes, state) {
    Object.assign(this, { spec, reads, writes, state });
  }

  push(bytes) {
    const input = new Input(bytes, this.reads, GROUP);
    const [batch, groups] = [batchOf(input), input.more().values];
    const made = new Rows(this.writes, "_group");
    for (let start = 0, end; start < input.length; start = end) {
      for (end = start + 1; end < input.length && groups[end] === groups[start]; ) end += 1;
      this.#enter(groups[start], made);
      stopping(() => this.spec.add(this.#folded, batch, start, end, this.state));
    }
    return answer(made);
  }

  finish() {
    const made = new Rows(this.writes, "_group");
    this.#enter(undefined, made);
    return answer(made);
  }

  #enter(group, made) {
    if (group === this.#group) return;
    if (this.#group !== undefined && this.spec.finish(this.#folded, made, this.state) !== false) made.index.append(this.#group);
    this.#group = group;
    this.#folded = group === undefined ? undefined : this.spec.start(this.state);
  }
}

export const columns = Object.freeze({ decoder: pushing("decoder"), transformer: pushing("transformer"), validator, aggregator });
