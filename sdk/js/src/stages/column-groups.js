// Rankers and aggregators over columns, between messages. A group may come in several.

import { record } from "../record.js";
import { nullable } from "../types.js";
import { GROUP, answer, stopping } from "./groups.js";
import { Input, batchOf } from "./input.js";
import { Rows } from "./output.js";

/** Where the rows of each group stand in a message; `groups` has the group of each row. */
function rangesOf(groups, length) {
  const ranges = [];
  for (let start = 0, end; start < length; start = end) {
    for (end = start + 1; end < length && groups[end] === groups[start]; ) end += 1;
    ranges.push({ start, end });
  }
  return ranges;
}

/** Rows wait until their group is complete. */
export class Ranking {
  #group;
  /** Where the rows of the group at work stand, in one message after another. */
  #waiting = [];
  /** Rows of the messages before. */
  #seen = 0;

  constructor(spec, reads, writes, state) {
    Object.assign(this, { spec, reads, writes, state });
  }

  push(bytes) {
    const input = new Input(bytes, this.reads, GROUP);
    const groups = input.more().values;
    const [batch, first, kept] = [batchOf(input), this.#seen, new Rows(this.writes)];
    const ranges = rangesOf(groups, input.length);
    if (ranges.length > 0 && groups[0] === this.#group) this.#waiting.push({ batch, first, ...ranges.shift() });
    if (ranges.length > 0) {
      this.#rankWaiting(kept);
      this.#waiting = [{ batch, first, ...ranges.pop() }];
      this.#group = groups[input.length - 1];
      this.#rank(batch, ranges, first, kept);
    }
    this.#seen += input.length;
    return answer(kept);
  }

  finish() {
    const kept = new Rows(this.writes);
    this.#rankWaiting(kept);
    return answer(kept);
  }

  #rankWaiting(kept) {
    if (this.#waiting.length === 0) return;
    const [{ batch, first, start, end }, ...more] = this.#waiting;
    if (more.length === 0) return this.#rank(batch, [{ start, end }], first, kept);
    const whole = joined(this.#waiting, this.reads);
    this.#rank(whole, [{ start: 0, end: whole.length }], first + start, kept);
  }

  /** Row 0 of the batch is row `first` since the session was opened. */
  #rank(batch, groups, first, kept) {
    if (groups.length === 0) return;
    const out = { columns: kept.columns, row: (row) => kept.index.append(first + row) };
    stopping(() => this.spec.rank(batch, groups, out, this.state));
  }
}

/** The rows of a group that stand in several messages, as one batch. */
function joined(pieces, reads) {
  // Stages over columns look for nulls by themselves, whatever `reads` says of them.
  const fields = reads.entries.map(([name, type]) => [name, nullable(type)]);
  const rows = new Rows(record(Object.fromEntries(fields)), "_group");
  for (const { batch, start, end } of pieces) {
    const columns = Object.values(batch.columns);
    for (let row = start; row < end; row += 1) {
      rows.builders.forEach((builder, i) => builder.copy(columns[i], row));
      rows.index.append(0);
    }
  }
  return batchOf(new Input(rows.message(), reads, GROUP));
}

/** What is known of a group changes with each piece of it. */
export class Aggregating {
  #group;
  #folded;

  constructor(spec, reads, writes, state) {
    Object.assign(this, { spec, reads, writes, state });
  }

  push(bytes) {
    const input = new Input(bytes, this.reads, GROUP);
    const [batch, groups] = [batchOf(input), input.more().values];
    const made = new Rows(this.writes, "_group");
    for (const { start, end } of rangesOf(groups, input.length)) {
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
    if (this.#group !== undefined) {
      const kept = stopping(() => this.spec.finish(this.#folded, made, this.state)) !== false;
      if (kept) made.index.append(this.#group);
    }
    this.#group = group;
    this.#folded = group === undefined ? undefined : stopping(() => this.spec.start(this.state));
  }
}
