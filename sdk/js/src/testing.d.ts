/** Runs stages natively, over the same messages that cross between host and component: for the tests of stages. */

import type { Fields, Row, RowType, Stage } from "./index.js";

export interface Rejected {
  /** Counted from 0. */
  row: number;
  code: string;
  text: string;
  filtered: boolean;
}

export interface Outcome {
  /** Each with `_row`, the input row that it came from. */
  rows: { [name: string]: unknown }[];
  rejected: Rejected[];
}

type Fieldlike<F extends Fields> = F | RowType<F>;
type Options = { [name: string]: unknown };

/** "Now" in tests: 2026-04-01T00:00:00Z. */
export const NOW: bigint;

/** Runs a decoder over messages: texts, bytes, or null for one without a value. */
export function decode(stage: Stage, messages: (string | Uint8Array | null)[], options?: Options, column?: string): Outcome;
/** Runs a transformer over rows. */
export function transform<F extends Fields>(stage: Stage, fields: Fieldlike<F>, rows: Row<F>[], options?: Options): Outcome;
/** Runs a validator over rows. */
export function check<F extends Fields>(stage: Stage, fields: Fieldlike<F>, rows: Row<F>[], options?: Options): Rejected[];
/** Runs a ranker over groups of rows; gives the rows that it keeps, each with `_row`, counted over all groups. */
export function rank<F extends Fields>(
  stage: Stage,
  fields: Fieldlike<F>,
  groups: Row<F>[][],
  options?: Options,
): { [name: string]: unknown }[];
/** Runs an aggregator over groups of rows; gives its rows, each with `_group`. */
export function aggregate<F extends Fields>(
  stage: Stage,
  fields: Fieldlike<F>,
  groups: Row<F>[][],
  options?: Options,
): { [name: string]: unknown }[];
