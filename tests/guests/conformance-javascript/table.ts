// The table of all types, and the options that the stages have in common.

import {
  Failure,
  array,
  bigint,
  binary,
  boolean,
  date,
  decimal,
  double,
  float,
  int,
  log,
  map,
  nullable,
  option,
  record,
  smallint,
  string,
  struct,
  timestamp,
  tinyint,
} from "crisol";

const fields = {
  b: nullable(boolean()),
  i8: nullable(tinyint()),
  i16: nullable(smallint()),
  i32: nullable(int()),
  i64: nullable(bigint()),
  f32: nullable(float()),
  f64: nullable(double()),
  d9: nullable(decimal(9, 2)),
  d18: nullable(decimal(18, 4)),
  d38: nullable(decimal(38, 10)),
  s: nullable(string()),
  bin: nullable(binary()),
  day: nullable(date()),
  ts: nullable(timestamp()),
  ints: nullable(array(int())),
  texts: nullable(array(string())),
  st: nullable(struct({ a: int(), b: string() })),
  m: nullable(map(string(), bigint())),
  deep: nullable(array(struct({ k: string(), v: array(double()) }))),
};

/** The table of all types. */
export const Table = record(fields);

const { bin: _, ...textual } = fields;
/** Of these, what JSON has. */
export const Textual = record(textual);

/** What all stages take. */
export const asking = {
  log: option.text({ description: "A line for the log, when a batch is opened" }),
  fail: option.oneOf(["open", "push", "finish", "trap"], { description: "Where to fail" }),
};

/** What stages over rows take. */
export const counting = {
  ...asking,
  reject_every: option.integer({ minimum: 1, description: "Each row whose number this divides goes to quarantine" }),
  filter_every: option.integer({ minimum: 1, description: "Each other row whose number this divides is dropped" }),
};

type Asked = { log?: string | undefined; fail?: string | undefined };

/** Logs and fails as it is asked to. */
export function opened(options: Asked): void {
  if (options.log !== undefined) log.info(options.log);
  failing("open", options);
}

/** Fails when this is the place to fail. */
export function failing(place: string, { fail }: Asked): void {
  if (fail === place) throw new Failure("asked", `to fail in ${place}`);
  if (fail === "trap" && place === "push") throw new Error("asked to trap");
}

/** Whether `every` is given and divides a number. */
export const divides = (every: number | undefined, number: number): boolean => every !== undefined && number % every === 0;
