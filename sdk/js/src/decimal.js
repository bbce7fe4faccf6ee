// Exact decimals: a number of smallest units, and where the point stands. Never a float on their way.

const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?$/;
/** More than any exponent that leaves a value of 38 digits, but for what moves the point over the digits there are. */
const EXPONENT_MAX = 1000;
const POWERS = Array.from({ length: 39 }, (_, exponent) => 10n ** BigInt(exponent));

/** Ten to a power. */
export const power = (exponent) => POWERS[exponent] ?? 10n ** BigInt(exponent);

export class Decimal {
  /** `units` times ten to the power of minus `scale`. */
  constructor(units, scale) {
    this.units = units;
    this.scale = scale;
  }

  static ZERO = new Decimal(0n, 0);

  /** Reads `12.5`, `-0.125`, `1e2`; `undefined` when it is no number. With a scale it is rounded to that, half up. */
  static parse(text, scale) {
    const found = NUMBER.exec(text);
    if (!found) return undefined;
    const [, sign, whole, fraction = "", exponent = "0"] = found;
    const shiftMax = EXPONENT_MAX + whole.length + fraction.length;
    const shift = Math.max(-shiftMax, Math.min(shiftMax, Number(exponent)));
    const places = Math.max(0, fraction.length - shift);
    const units = unitsOf(whole, fraction, shift, scale ?? places);
    return new Decimal(sign ? -units : units, scale ?? places);
  }

  /** -1, 0 or 1. */
  get sign() {
    return this.units < 0n ? -1 : this.units > 0n ? 1 : 0;
  }

  /** Negative, 0 or positive, as this is less than, equal to or more than the other. */
  compare(other) {
    const [a, b] = this.scale === other.scale ? [this.units, other.units] : aligned(this, other);
    return a < b ? -1 : a > b ? 1 : 0;
  }

  equals(other) {
    return this.compare(other) === 0;
  }

  plus(other) {
    const [a, b] = aligned(this, other);
    return new Decimal(a + b, Math.max(this.scale, other.scale));
  }

  minus(other) {
    const [a, b] = aligned(this, other);
    return new Decimal(a - b, Math.max(this.scale, other.scale));
  }

  times(other) {
    return new Decimal(this.units * other.units, this.scale + other.scale);
  }

  /** With so many places, rounded half up: away from zero. */
  round(scale) {
    if (scale >= this.scale) return new Decimal(this.units * power(scale - this.scale), scale);
    const divisor = power(this.scale - scale);
    const units = this.units < 0n ? -this.units : this.units;
    const rounded = (units + divisor / 2n) / divisor;
    return new Decimal(this.units < 0n ? -rounded : rounded, scale);
  }

  toString() {
    const negative = this.units < 0n;
    const digits = (negative ? -this.units : this.units).toString().padStart(this.scale + 1, "0");
    const point = digits.length - this.scale;
    return `${negative ? "-" : ""}${digits.slice(0, point)}${this.scale > 0 ? `.${digits.slice(point)}` : ""}`;
  }

  toJSON() {
    return this.toString();
  }

  /** `a < b` would compare texts: there is `compare`. */
  [Symbol.toPrimitive](hint) {
    if (hint === "string") return this.toString();
    throw new TypeError("a Decimal is no number: use compare, plus, minus and times");
  }
}

/** Digits that stay, as a number; the next one rounds. */
function unitsOf(whole, fraction, shift, scale) {
  const digits = whole + fraction;
  const kept = whole.length + shift + scale;
  if (kept < 0) return 0n;
  if (kept >= digits.length) {
    return BigInt(digits) * power(kept - digits.length);
  }
  const units = kept === 0 ? 0n : BigInt(digits.slice(0, kept));
  return digits.charCodeAt(kept) >= 0x35 ? units + 1n : units;
}

function aligned(a, b) {
  const scale = Math.max(a.scale, b.scale);
  return [a.units * power(scale - a.scale), b.units * power(scale - b.scale)];
}
