// Plugins for Crisol.

export { Decimal } from "./decimal.js";
export { log } from "./log.js";
export { option } from "./options.js";
export { record } from "./record.js";
export { Failure, filter, reject, Rejection } from "./rejection.js";
export { columns } from "./stages/columns.js";
export { aggregator, ranker } from "./stages/groups.js";
export { decoder, transformer, validator } from "./stages/rows.js";
export { dateOf, formatDate, formatTimestamp, parseDate, parseTimestamp } from "./time.js";
export {
  array,
  bigint,
  binary,
  boolean,
  date,
  decimal,
  double,
  float,
  int,
  map,
  nullable,
  smallint,
  string,
  struct,
  timestamp,
  tinyint,
} from "./types.js";
