// Floats of 32 bits, rounded once: a float64 on the way rounds, too, and may come to lie between two of them.

import { Decimal } from "./decimal.js";

const FLOAT = new Float32Array(1);
const BITS = new Int32Array(FLOAT.buffer);
/** What lies after the largest float, when floats are rounded. */
const BEYOND = 2 ** 128;
/** Places after the point, in binary, of what lies between the smallest floats. */
const PLACES = 150;
const FIVES = 5n ** BigInt(PLACES);

/** The float that is nearest to a number as it is written in JSON. */
export function parseFloat32(text) {
  const value = Number(text);
  const [low, high] = around(value) ?? [];
  if (low === undefined) return Math.fround(value);
  const side = Decimal.parse(text).compare(new Decimal(BigInt(value * 2 ** PLACES) * FIVES, PLACES));
  return Math.fround(side < 0 ? low : side > 0 ? high : value);
}

/** The float of a number; `undefined` when digits that the number has lost could say that it is another. */
export const floatOf = (value) => (around(value) === undefined ? Math.fround(value) : undefined);

/** The two floats, in their order, that a number lies exactly between. */
function around(value) {
  FLOAT[0] = value;
  const near = finite(FLOAT[0]);
  if (near === value || !Number.isFinite(value)) return undefined;
  BITS[0] += Math.abs(near) < Math.abs(value) ? 1 : -1;
  const other = finite(FLOAT[0]);
  if (value - near !== other - value) return undefined;
  return near < other ? [near, other] : [other, near];
}

const finite = (float) => (Number.isFinite(float) ? float : Math.sign(float) * BEYOND);
