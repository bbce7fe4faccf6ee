// Stages over whole columns: for speed, and where the columns are only known from the options.

import { record } from "../record.js";
import { Aggregating, Ranking } from "./column-groups.js";
import { groupStage } from "./groups.js";
import { Input, batchOf } from "./input.js";
import { Rejections, Rows } from "./output.js";
import { stage, wanted } from "./stage.js";

/** Columns that are given, or made of the input and the options. */
const fields = (given, columns, options) => (typeof given === "function" ? given(columns, options) : given);

const plan = (spec) => (columns, options) => ({
  reads: wanted(fields(spec.reads, columns, options), columns),
  writes: spec.writes && record(fields(spec.writes, columns, options)),
});

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

const ranker = (spec) =>
  groupStage("ranker", spec, {
    needs: ["reads", "writes", "rank"],
    plan: plan(spec),
    session: ({ reads, writes }, state) => new Ranking(spec, reads, writes, state),
  });

const aggregator = (spec) =>
  groupStage("aggregator", spec, {
    needs: ["reads", "writes", "start", "add", "finish"],
    plan: plan(spec),
    session: ({ reads, writes }, state) => new Aggregating(spec, reads, writes, state),
  });

export const columns = Object.freeze({
  decoder: pushing("decoder"),
  transformer: pushing("transformer"),
  validator,
  ranker,
  aggregator,
});
