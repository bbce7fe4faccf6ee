/** Plugins for Crisol. */

/** The type of a column; `Value` is what its values are in JavaScript. */
export interface Type<Value = unknown> {
  readonly kind: string;
  /** In the words of contracts: `decimal(18,2)`. */
  readonly name: string;
  readonly nullable: boolean;
  /** Only the compiler looks at it. */
  readonly "~value"?: Value;
}

export type Value<T> = T extends Type<infer V> ? V : never;
export type Fields = { readonly [name: string]: Type };
/** The row of a record or of fields. */
export type Row<T> = T extends RowType<infer F> ? Row<F> : T extends Fields ? { -readonly [K in keyof T]: Value<T[K]> } : never;

export function boolean(): Type<boolean>;
export function tinyint(): Type<number>;
export function smallint(): Type<number>;
export function int(): Type<number>;
export function bigint(): Type<bigint>;
export function float(): Type<number>;
export function double(): Type<number>;
export function decimal(precision: number, scale?: number): Type<Decimal>;
export function string(): Type<string>;
export function binary(): Type<Uint8Array>;
/** Days since 1970-01-01. */
export function date(): Type<number>;
/** Microseconds since 1970, UTC. */
export function timestamp(): Type<bigint>;
/** A list; its elements may be null. */
export function array<T extends Type>(element: T): Type<(Value<T> | null)[]>;
/** Named fields; each may be null. */
export function struct<F extends Fields>(fields: F): Type<{ -readonly [K in keyof F]: Value<F[K]> | null }>;
/** Keys, never null, and values, which may be. */
export function map<K extends Type, V extends Type>(key: K, value: V): Type<Map<Value<K>, Value<V> | null>>;
/** The same type, and null. */
export function nullable<T extends Type>(type: T): Type<Value<T> | null>;

/** The columns of a row. */
export interface RowType<F extends Fields> {
  readonly fields: F;
  /** The row of a message that is one JSON object. Throws the rejection of one that is not, or does not fit. */
  fromJson(text: string): Row<F>;
}

export function record<F extends Fields>(fields: F): RowType<F>;

/** An exact number: `units` times ten to the power of minus `scale`. */
export class Decimal {
  static readonly ZERO: Decimal;
  /** Reads `12.5`; `undefined` when it is no number. With a scale it is rounded to that, half up. */
  static parse(text: string, scale?: number): Decimal | undefined;
  constructor(units: bigint, scale: number);
  readonly units: bigint;
  readonly scale: number;
  /** -1, 0 or 1. */
  readonly sign: number;
  /** Negative, 0 or positive, as this is less than, equal to or more than the other. */
  compare(other: Decimal): number;
  equals(other: Decimal): boolean;
  plus(other: Decimal): Decimal;
  minus(other: Decimal): Decimal;
  times(other: Decimal): Decimal;
  /** With so many places, rounded half up. */
  round(scale: number): Decimal;
  toString(): string;
  toJSON(): string;
}

/** Reads `2026-03-14` into days since 1970. */
export function parseDate(text: string): number | undefined;
export function formatDate(days: number): string;
/** Reads RFC 3339 into microseconds since 1970 UTC; without an offset it is UTC. */
export function parseTimestamp(text: string): bigint | undefined;
export function formatTimestamp(micros: bigint): string;
/** The day of a moment, in UTC. */
export function dateOf(micros: bigint): number;

/** A row that does not go on. */
export class Rejection {
  private constructor();
  readonly code: string;
  readonly text: string;
  readonly filtered: boolean;
}

/** To quarantine. The code is short and stable, people count by it; the text is for people. Give it back, or throw it. */
export function reject(code: string, text?: string): Rejection;
/** Dropped on purpose, and counted. */
export function filter(code: string, text?: string): Rejection;

/** A stage cannot do its work: it stops the stream. A bad row is no failure; reject it. */
export class Failure extends Error {
  constructor(code: string, text: string, attributes?: { [name: string]: unknown });
  readonly code: string;
  readonly attributes: { [name: string]: unknown };
}

/** An option of a stage. */
export interface Option<Value> {
  readonly schema: object;
  readonly "~value"?: Value;
}

export interface Settings<Value> {
  description?: string;
  default?: Value;
  required?: boolean;
}

type Given<Value, S> = S extends { default: Value } | { required: true } ? Value : Value | undefined;
type Item<O> = O extends Option<infer V> ? Exclude<V, undefined> : never;

/** What a contract may say under `options`. All may be absent that have no `required: true`. */
export const option: {
  text<const S extends Settings<string>>(settings?: S): Option<Given<string, S>>;
  integer<const S extends Settings<number> & { minimum?: number; maximum?: number }>(settings?: S): Option<Given<number, S>>;
  number<const S extends Settings<number> & { minimum?: number; maximum?: number }>(settings?: S): Option<Given<number, S>>;
  boolean<const S extends Settings<boolean>>(settings?: S): Option<Given<boolean, S>>;
  oneOf<const T extends string, const S extends Settings<NoInfer<T>>>(values: readonly T[], settings?: S): Option<Given<T, S>>;
  list<O extends Option<unknown>, const S extends Settings<Item<O>[]> & { minItems?: number }>(
    item: O,
    settings?: S,
  ): Option<Given<Item<O>[], S>>;
};

export type OptionFields = { readonly [name: string]: Option<unknown> };
export type OptionValues<O> = { readonly [K in keyof O]: O[K] extends Option<infer V> ? V : never };

/** What holds for all rows of a batch. */
export interface Batch<O> {
  readonly options: OptionValues<O>;
  /** What "now" means, in microseconds since 1970 UTC. A stage has no other clock. */
  readonly timestamp: bigint;
}

/** What every stage says of itself. */
export interface About<O, State> {
  /** What contracts call it. */
  name: string;
  /** Semantic version. */
  version: string;
  /** `1..3`, `2` or `all`, the default. */
  schemaVersions?: string;
  /** One instance may work on many chunks, or sessions of groups, because its start is dear. */
  reuse?: boolean;
  options?: O;
  /** Gets ready for one batch. What it gives comes as `state`; without it, that is the batch. */
  open?(batch: Batch<O>): State;
}

/** A stage, to be exported by default. */
export interface Stage {
  readonly kind: string;
}

type Fieldlike<F extends Fields> = F | RowType<F>;
type NoOptions = {};

/** Rules that a row breaks: each code at most once. */
export interface Broken {
  reject(code: string, text?: string): void;
  filter(code: string, text?: string): void;
}

/** Makes a row of each message. `reads` names the column of the messages, `payload` by default. */
export function decoder<F extends Fields, O extends OptionFields = NoOptions, State = Batch<O>>(
  spec: About<O, State> & {
    reads?: string;
    row: Fieldlike<F>;
    decode(message: string, state: State, place: number): Row<F> | Rejection;
  },
): Stage;

/** Makes rows of rows: none, one or several of each. A row for which there is none is filtered. */
export function transformer<I extends Fields, F extends Fields, O extends OptionFields = NoOptions, State = Batch<O>>(
  spec: About<O, State> & {
    reads: Fieldlike<I>;
    writes: Fieldlike<F>;
    transform(row: Row<I>, state: State, place: number): Row<F> | Row<F>[] | Rejection | undefined;
  },
): Stage;

/** Judges rows; they come and go untouched. */
export function validator<I extends Fields, O extends OptionFields = NoOptions, State = Batch<O>>(
  spec: About<O, State> & {
    reads: Fieldlike<I>;
    check(row: Row<I>, broken: Broken, state: State, place: number): Rejection | void;
  },
): Stage;

/** Chooses rows of a group, in no order to rely on: `keep` takes the place of a row, and the columns that it adds. */
export function ranker<I extends Fields, F extends Fields, O extends OptionFields = NoOptions, State = Batch<O>>(
  spec: About<O, State> & {
    reads: Fieldlike<I>;
    writes: Fieldlike<F>;
    rank(group: Row<I>[], keep: (place: number, added: Row<F>) => void, state: State): void;
  },
): Stage;

/** Makes one row of each group, or none. */
export function aggregator<I extends Fields, F extends Fields, Folded, O extends OptionFields = NoOptions, State = Batch<O>>(
  spec: About<O, State> & {
    reads: Fieldlike<I>;
    writes: Fieldlike<F>;
    /** What is known of a group before its first row. */
    start(state: State): Folded;
    /** One more row of the group, in no order to rely on: changes `folded`. */
    add(folded: Folded, row: Row<I>, state: State): void;
    finish(folded: Folded, state: State): Row<F> | null | undefined;
  },
): Stage;

/** A column of a message: a view of its bytes. */
export interface Column<V = unknown> {
  readonly type: Type;
  readonly length: number;
  readonly nullCount: number;
  /** A bit for each row, the lowest first, 0 where it is null; null when there are no nulls. */
  readonly validity: Uint8Array | null;
  isNull(row: number): boolean;
  get(row: number): V | null;
  /** Without a look at `validity`. */
  value(row: number): V;
}

export interface FixedColumn<Values extends ArrayLike<unknown> = ArrayLike<unknown>> extends Column<Values[number]> {
  readonly values: Values;
}

export interface BooleanColumn extends Column<boolean> {
  readonly bits: Uint8Array;
}

export interface DecimalColumn extends Column<Decimal> {
  /** Four words of 32 bits for each value, the lowest first. */
  readonly words: Int32Array;
  units(row: number): bigint;
  /** -1, 0 or 1, without making the value. */
  sign(row: number): number;
  /** The sign of each row, whatever stands under a null: for rules over all rows. */
  signs(): Int8Array;
}

export interface BinaryColumn<V = Uint8Array> extends Column<V> {
  /** Value `i` is `data` from `offsets[i]` to `offsets[i + 1]`. */
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
  bytes(row: number): Uint8Array;
}

export interface StringColumn extends BinaryColumn<string> {
  /** For each row 1 when its value is one of these texts, else 0; without making the values. */
  among(texts: readonly string[]): Uint8Array;
}

export interface ArrayColumn<V = unknown> extends Column<V> {
  readonly offsets: Int32Array;
  readonly elements: AnyColumn;
}

export interface StructColumn<V = unknown> extends Column<V> {
  readonly fields: { readonly [name: string]: AnyColumn };
}

export interface MapColumn<V = unknown> extends Column<V> {
  readonly offsets: Int32Array;
  readonly keys: AnyColumn;
  readonly values: AnyColumn;
}

/** A column of any type; `values`, `offsets` and others are there as its type has them. */
export type AnyColumn = any;

type Bare<T> = Exclude<Value<T>, null>;
type ColumnOf<T> = [Bare<T>] extends [boolean]
  ? BooleanColumn
  : [Bare<T>] extends [number]
    ? FixedColumn<Int8Array | Int16Array | Int32Array | Float32Array | Float64Array>
    : [Bare<T>] extends [bigint]
      ? FixedColumn<BigInt64Array>
      : [Bare<T>] extends [Decimal]
        ? DecimalColumn
        : [Bare<T>] extends [string]
          ? StringColumn
          : [Bare<T>] extends [Uint8Array]
            ? BinaryColumn
            : [Bare<T>] extends [Map<unknown, unknown>]
              ? MapColumn<Bare<T>>
              : [Bare<T>] extends [unknown[]]
                ? ArrayColumn<Bare<T>>
                : StructColumn<Bare<T>>;

/** The rows of a message. */
export interface Columns<F extends Fields> {
  readonly length: number;
  readonly columns: { readonly [K in keyof F]: ColumnOf<F[K]> };
}

/** A column in the making. */
export interface Builder<V> {
  append(value: V): void;
  /** A value of a column of the same type, or null: faster than to make it. */
  copy(column: Column, row: number): void;
}

type Builders<F extends Fields> = { readonly [K in keyof F]: Builder<Value<F[K]>> };

/** What comes of the rows of a message: each is the origin of a row or rejected, and never both. */
export interface Output<F extends Fields> {
  readonly columns: Builders<F>;
  /** One more row, whose values were appended, comes of input row `row`; they never descend. */
  row(row: number): void;
  reject(row: number, code: string, text?: string): void;
  filter(row: number, code: string, text?: string): void;
}

/** Rows from `start` up to `end`, without that one. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Rows that a ranker keeps; the others are not part of the result. */
export interface Kept<F extends Fields> {
  readonly columns: Builders<F>;
  /** One more row, whose values were appended, stands for input row `row`: each at most once, in any order. */
  row(row: number): void;
}

/** Columns that are given, or found for an input and options. */
type Planned<F extends Fields, O> =
  | Fieldlike<F>
  | ((input: { readonly [name: string]: Type }, options: OptionValues<O>) => Fieldlike<F>);

interface ColumnStage {
  <I extends Fields, F extends Fields, O extends OptionFields = NoOptions, State = Batch<O>>(
    spec: About<O, State> & {
      reads: Planned<I, O>;
      writes: Planned<F, O>;
      push(rows: Columns<I>, out: Output<F>, state: State): void;
    },
  ): Stage;
}

/** Stages over whole columns: for speed, and where the columns are only known from the options. */
export const columns: {
  decoder: ColumnStage;
  transformer: ColumnStage;
  validator<I extends Fields, O extends OptionFields = NoOptions, State = Batch<O>>(
    spec: About<O, State> & {
      reads: Planned<I, O>;
      check(
        rows: Columns<I>,
        broken: { reject(row: number, code: string, text?: string): void; filter(row: number, code: string, text?: string): void },
        state: State,
      ): void;
    },
  ): Stage;
  ranker<I extends Fields, F extends Fields, O extends OptionFields = NoOptions, State = Batch<O>>(
    spec: About<O, State> & {
      reads: Planned<I, O>;
      writes: Planned<F, O>;
      /**
       * Whole groups: each of `groups` is where the rows of one stand in `rows`, which may have others besides. Groups come
       * one after another and never twice; what is kept may not depend on how many come at once.
       */
      rank(rows: Columns<I>, groups: readonly Range[], out: Kept<F>, state: State): void;
    },
  ): Stage;
  aggregator<I extends Fields, F extends Fields, Folded, O extends OptionFields = NoOptions, State = Batch<O>>(
    spec: About<O, State> & {
      reads: Planned<I, O>;
      writes: Planned<F, O>;
      start(state: State): Folded;
      /** More rows of the group: those from `start` up to `end`. */
      add(folded: Folded, rows: Columns<I>, start: number, end: number, state: State): void;
      /** Appends the group's row to the columns; `false` when it has none. */
      finish(folded: Folded, out: { readonly columns: Builders<F> }, state: State): boolean | void;
    },
  ): Stage;
};

/** Lines for the host's log, as those of `console`. */
export const log: { readonly [level in "trace" | "debug" | "info" | "warn" | "error"]: (text: unknown) => void };
