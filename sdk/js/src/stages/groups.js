// Rankers and aggregators over rows, the short way. The rows of a group follow each other; groups ascend.

import { record } from "../record.js";
import { Failure, Rejection } from "../rejection.js";
import { int } from "../types.js";
import { Input } from "./input.js";
import { Rows } from "./output.js";
import { stage, wanted } from "./stage.js";

/** The column after those of the record: `_group`. */
export const GROUP = [int()];

/** A group stage has no quarantine: a rejection stops it. */
export function stopping(call) {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    throw new Failure("input", `a row of a group is refused, ${error}; drop such rows before, or make the column nullable`);
  }
}

/** A stage whose `open` cannot refuse a row either. */
export function groupStage(kind, spec, parts) {
  return stage(kind, spec.open ? { ...spec, open: (batch) => stopping(() => spec.open(batch)) } : spec, parts);
}

/** Chooses rows of a group, and says what they add. */
export function ranker(spec) {
  const writes = record(spec.writes ?? {});
  return groupStage("ranker", spec, {
    needs: ["reads", "writes", "rank"],
    plan: (columns) => ({ reads: wanted(spec.reads, columns), writes }),
    session: ({ reads }, state) => new Ranking(spec, reads, writes, state),
  });
}

/** Rows wait until their group is complete. */
class Ranking {
  #group;
  #waiting = [];
  /** Rows of groups that are done. */
  #done = 0;

  constructor(spec, reads, writes, state) {
    Object.assign(this, { spec, reads, writes, state });
  }

  push(bytes) {
    const input = new Input(bytes, this.reads, GROUP);
    const groups = input.more().values;
    const kept = new Rows(this.writes);
    for (let row = 0; row < input.length; row += 1) {
      if (groups[row] !== this.#group) this.#rank(kept);
      this.#group = groups[row];
      this.#waiting.push(stopping(() => input.row(row)));
    }
    return answer(kept);
  }

  finish() {
    const kept = new Rows(this.writes);
    this.#rank(kept);
    return answer(kept);
  }

  #rank(kept) {
    if (this.#waiting.length === 0) return;
    stopping(() => this.spec.rank(this.#waiting, (place, added) => kept.put(this.#done + place, added), this.state));
    this.#done += this.#waiting.length;
    this.#waiting = [];
  }
}

/** Makes one row of each group. */
export function aggregator(spec) {
  const writes = record(spec.writes ?? {});
  return groupStage("aggregator", spec, {
    needs: ["reads", "writes", "start", "add", "finish"],
    plan: (columns) => ({ reads: wanted(spec.reads, columns), writes }),
    session: ({ reads }, state) => new Aggregating(spec, reads, writes, state),
  });
}

class Aggregating {
  #group;
  #folded;

  constructor(spec, reads, writes, state) {
    Object.assign(this, { spec, reads, writes, state });
  }

  push(bytes) {
    const input = new Input(bytes, this.reads, GROUP);
    const groups = input.more().values;
    const made = new Rows(this.writes, "_group");
    for (let row = 0; row < input.length; row += 1) {
      this.#enter(groups[row], made);
      stopping(() => this.spec.add(this.#folded, input.row(row), this.state));
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
    if (this.#group !== undefined) {
      const row = stopping(() => this.spec.finish(this.#folded, this.state));
      if (row !== null && row !== undefined) made.put(this.#group, row);
    }
    this.#group = group;
    this.#folded = group === undefined ? undefined : stopping(() => this.spec.start(this.state));
  }
}

/** Messages with what there is to say. */
export const answer = (rows) => (rows.isEmpty ? [] : [rows.message()]);
