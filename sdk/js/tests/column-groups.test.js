import assert from "node:assert/strict";
import { test } from "node:test";

import { Decimal, Failure, columns, decimal, int, nullable, option, record, reject, string } from "crisol";
import { NOW, aggregate, rank } from "crisol/testing";

import { Rows } from "../src/stages/output.js";
import { BARE, EMPTY, FULL, Table } from "./table.js";

const about = { name: "tried", version: "1.2.3" };
const Sale = record({ sku: string(), price: nullable(decimal(18, 2)) });
const sale = (sku, price) => ({ sku, price: price === undefined ? null : Decimal.parse(price) });
const groups = [[sale("a", "1"), sale("b", "3"), sale("c")], [sale("d")], [sale("e", "2"), sale("f", "2")]];

/** A ranker that does the same with each group. */
const each = (spec, ranked) =>
  columns.ranker({
    ...about,
    ...spec,
    rank(rows, ranges, out, state) {
      for (const range of ranges) ranked(rows, range, out, state);
    },
  });

test("a ranker over columns is given whole groups, however their rows come", () => {
  const stage = each({ reads: Sale, writes: { place: int(), of: int(), said: string() } }, (rows, { start, end }, out) => {
    for (let row = end - 1; row >= start; row -= 2) {
      out.columns.place.append(row - start);
      out.columns.of.append(end - start);
      out.columns.said.copy(rows.columns.sku, row);
      out.row(row);
    }
  });
  assert.deepEqual(
    rank(stage, Sale, groups).map(({ place, of, said, _row }) => [place, of, said, _row]),
    [[2, 3, "c", 2], [0, 3, "a", 0], [0, 1, "d", 3], [1, 2, "f", 5]],
  );
  assert.deepEqual(rank(stage, Sale, []), []);
});

test("values of all types stay as they are in groups that go over several messages", () => {
  const stage = each({ reads: Table, writes: Table }, (rows, { start, end }, out) => {
    for (let row = start; row < end; row += 1) {
      for (const name of Table.names) out.columns[name].append(rows.columns[name].get(row));
      out.row(row);
    }
  });
  const all = [[FULL, EMPTY, BARE], [EMPTY, EMPTY], [BARE], [FULL, BARE, FULL, EMPTY]];
  assert.deepEqual(rank(stage, Table, all), all.flat().map((row, i) => ({ ...row, _row: i })));
});

test("a group may keep no row, and a ranker may read no column", () => {
  const stage = each({ reads: {}, writes: {} }, (_, { start, end }, out) => {
    if (end - start > 1) out.row(start);
  });
  assert.deepEqual(rank(stage, Sale, groups), [{ _row: 0 }, { _row: 4 }]);
});

test("a null in a column that is said to have none comes as one, however groups are cut", () => {
  const stage = each({ reads: { price: decimal(18, 2) }, writes: { nulls: int() } }, ({ columns: { price } }, { start, end }, out) => {
    let nulls = 0;
    for (let row = start; row < end; row += 1) nulls += Number(price.isNull(row));
    out.columns.nulls.append(nulls);
    out.row(start);
  });
  assert.deepEqual(rank(stage, Sale, groups).map(({ nulls }) => nulls), [1, 1, 0]);
});

/** A session of a ranker, and what makes messages of rows, each a number and its group. */
function opened(stage) {
  const session = stage.open("{}", [{ name: "n", type: "int", nullable: false }], NOW);
  const message = (...rows) => {
    const made = new Rows(record({ n: int() }), "_group");
    for (const [n, group] of rows) made.put(group, { n });
    return made.message();
  };
  return { session, message };
}

test("groups that are complete come together, each once, and the last one waits", () => {
  const seen = [];
  const stage = columns.ranker({
    ...about,
    reads: { n: int() },
    writes: {},
    rank({ columns: { n } }, ranges) {
      seen.push(ranges.map(({ start, end }) => Array.from({ length: end - start }, (_, i) => n.value(start + i))));
    },
  });
  const { session, message } = opened(stage);
  for (const [rows, ranked] of [
    [[[1, 0], [2, 0], [3, 4], [4, 5]], [[[1, 2], [3]]]],
    [[], []],
    [[[5, 5]], []],
    [[[6, 5], [7, 7], [8, 8], [9, 9]], [[[4, 5, 6]], [[7], [8]]]],
    [[[10, 10]], [[[9]]]],
  ]) {
    assert.deepEqual(session.push(message(...rows)), []);
    assert.deepEqual(seen.splice(0), ranked);
  }
  assert.deepEqual(session.finish(), []);
  assert.deepEqual(seen, [[[10]]]);
});

test("a ranker over columns finds its columns from input and options, and has a state", () => {
  const stage = each(
    {
      options: { by: option.text({ required: true }) },
      reads: (input, { by }) => ({ [by]: input[by] }),
      writes: (input, { by }) => ({ [`best_${by}`]: input[by] }),
      open: ({ options }) => options.by,
    },
    (rows, { start }, out, by) => {
      out.columns[`best_${by}`].copy(rows.columns[by], start);
      out.row(start);
    },
  );
  const best = rank(stage, Sale, groups, { by: "sku" });
  assert.deepEqual(best.map(({ best_sku, _row }) => [best_sku, _row]), [["a", 0], ["d", 3], ["e", 4]]);
  assert.throws(() => rank(stage, Sale, groups), /`by` is missing/);
});

test("what a ranker over columns does wrong is told", () => {
  const short = each({ reads: Sale, writes: { place: int() } }, (_, { start }, out) => out.row(start));
  assert.throws(() => rank(short, Sale, groups), /column `_row` has \d values, `place` has 0/);
  const unsaid = each({ reads: Sale, writes: { place: int() } }, (_, __, out) => out.columns.place.append(1));
  assert.throws(() => rank(unsaid, Sale, groups), /column `_row` has 0 values, `place` has \d/);
  const refusing = each({ reads: Sale, writes: {} }, () => {
    throw reject("bad", "too bad");
  });
  assert.throws(() => rank(refusing, Sale, groups), (error) => error instanceof Failure && error.code === "input" && /too bad/.test(error.message));
  assert.throws(() => columns.ranker({ ...about, reads: Sale, writes: {} }), /a ranker needs `rank`/);
});

test("values that an aggregator over columns made for a group without a row are told", () => {
  const finish = (_, out) => {
    out.columns.n.append(1);
    return false;
  };
  const stage = columns.aggregator({ ...about, reads: Sale, writes: { n: int() }, start: () => 0, add() {}, finish });
  assert.throws(() => aggregate(stage, Sale, groups), /column `_group` has 0 values, `n` has \d/);
});

test("what an aggregator over columns refuses stops the stream, in each of its parts", () => {
  const refuse = () => {
    throw reject("bad", "too bad");
  };
  for (const part of ["add", "finish"]) {
    const stage = columns.aggregator({ ...about, reads: Sale, writes: {}, start: () => 0, add() {}, finish() {}, [part]: refuse });
    const refused = (error) => error instanceof Failure && error.code === "input" && /too bad/.test(error.message);
    assert.throws(() => aggregate(stage, Sale, groups), refused, part);
  }
});
