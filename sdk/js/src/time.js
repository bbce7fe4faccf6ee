// Days since 1970-01-01, and moments in microseconds since then, UTC.

const DATE = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;
const MOMENT =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(?:[Zz]|([-+])([0-9]{2})(?::?([0-9]{2}))?)?)?$/;
const DAY_SECONDS = 86_400;
const DAY_MILLIS = 86_400_000;
const LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Reads `2026-03-14`, of the years 0001 to 9999, into days since 1970; `undefined` when it is no day. */
export function parseDate(text) {
  const usual = text.length === 10 ? millisOf(`${text}T00:00:00.000Z`) : undefined;
  if (usual !== undefined) return usual / DAY_MILLIS;
  const found = DATE.exec(text);
  return found ? dayOf(Number(found[1]), Number(found[2]), Number(found[3])) : undefined;
}

/**
 * Reads RFC 3339 and its relatives, `2026-03-14T09:26:53.589Z`, `2026-03-14 09:26:53+01:00`, `2026-03-14`, into
 * microseconds since 1970 UTC. Without an offset it is UTC; digits after the microseconds are cut. `undefined` when it is
 * no moment.
 */
export function parseTimestamp(text) {
  const usual = text.length === 24 ? millisOf(text) : text.length === 20 ? millisOf(`${text.slice(0, 19)}.000Z`) : undefined;
  if (usual !== undefined && text.endsWith("Z")) return BigInt(usual) * 1000n;
  const found = MOMENT.exec(text);
  if (!found) return undefined;
  const days = dayOf(Number(found[1]), Number(found[2]), Number(found[3]));
  if (days === undefined) return undefined;
  const [hour, minute, second] = [Number(found[4] ?? 0), Number(found[5] ?? 0), Number(found[6] ?? 0)];
  const offset = offsetOf(found[8], Number(found[9] ?? 0), Number(found[10] ?? 0));
  if (hour > 23 || minute > 59 || second > 59 || offset === undefined) return undefined;
  const seconds = days * DAY_SECONDS + hour * 3600 + minute * 60 + second - offset;
  return micros(seconds, found[7]);
}

/** The runtime's own reading is much faster; what it gives counts when it writes it as it was read. */
function millisOf(text) {
  const millis = Date.parse(text);
  const isUsual = !Number.isNaN(millis) && !text.startsWith("0000") && new Date(millis).toISOString() === text;
  return isUsual ? millis : undefined;
}

/** `2026-03-14`. */
export function formatDate(days) {
  const [year, month, day] = civil(days);
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
}

/** `2026-03-14T09:26:53Z`, or `2026-03-14T09:26:53.589000Z`. */
export function formatTimestamp(timestamp) {
  const second = floored(timestamp, 1_000_000n);
  const day = floored(second, BigInt(DAY_SECONDS));
  const rest = Number(second - day * BigInt(DAY_SECONDS));
  const fraction = Number(timestamp - second * 1_000_000n);
  const time = `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`;
  return `${formatDate(Number(day))}T${time}${fraction === 0 ? "" : `.${String(fraction).padStart(6, "0")}`}Z`;
}

/** The day of a moment, in UTC. */
export function dateOf(timestamp) {
  return Number(floored(timestamp, BigInt(DAY_SECONDS) * 1_000_000n));
}

const two = (value) => (value < 10 ? `0${value}` : `${value}`);

const floored = (value, divisor) => {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
};

function micros(seconds, fraction) {
  if (fraction === undefined) return BigInt(seconds) * 1_000_000n;
  const part = Number(fraction.slice(0, 6).padEnd(6, "0"));
  const whole = seconds * 1_000_000 + part;
  return Number.isSafeInteger(whole) ? BigInt(whole) : BigInt(seconds) * 1_000_000n + BigInt(part);
}

function offsetOf(sign, hours, minutes) {
  if (hours > 18 || minutes > 59) return undefined;
  const seconds = hours * 3600 + minutes * 60;
  return sign === "-" ? -seconds : seconds;
}

/** Days since 1970 of a day that there is, from the year 1 on. */
function dayOf(year, month, day) {
  if (year === 0 || month === 0 || month > 12 || day === 0) return undefined;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (day > (month === 2 && leap ? 29 : LENGTHS[month - 1])) return undefined;
  // With the year starting in March, leap days come last.
  const y = month <= 2 ? year - 1 : year;
  const m = month > 2 ? month - 3 : month + 9;
  const before = y * 365 + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  return before + Math.floor((153 * m + 2) / 5) + day - 1 - 719_468;
}

/** Year, month and day. */
function civil(days) {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const ofEra = shifted - era * 146_097;
  const year = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const shiftedMonth = Math.floor((5 * ofYear + 2) / 153);
  const day = ofYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return [year + era * 400 + (month <= 2 ? 1 : 0), month, day];
}
