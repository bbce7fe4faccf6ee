"""Exact decimals: `decimal.Decimal` for authors, whole smallest units in columns."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_UP, Context, Decimal, InvalidOperation

from .types import PRECISION_MAX

#: Wide enough for any value of a column while it is rounded.
_CONTEXT = Context(prec=100, rounding=ROUND_HALF_UP, Emax=MAX_EMAX, Emin=MIN_EMIN)
#: Keeps every digit; an exponent that is out of reach makes infinity or 0.
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", re.ASCII)
#: The smallest step of each scale.
_STEPS = [Decimal((0, (1,), -scale)) for scale in range(PRECISION_MAX + 1)]
_LOW = (1 << 64) - 1


def parse(text: str, precision: int, scale: int) -> Decimal | None:
    """A number as JSON writes it, rounded half up to the scale; `None` when it is none or has too many digits."""
    return rounded(exact(text), precision, scale) if _NUMBER.fullmatch(text) else None


def exact(number: str) -> Decimal:
    """All digits of a number as JSON writes it."""
    return _EXACT.create_decimal(number)


def rounded(value: Decimal, precision: int, scale: int) -> Decimal | None:
    try:
        found = _CONTEXT.quantize(value, _STEPS[scale])
    except InvalidOperation:
        return None
    # The place of the first digit, counted from the point.
    return found if found.adjusted() < precision - scale and found.is_finite() else None


def decimals_of(units: Sequence[int], scale: int) -> list[Decimal]:
    scaleb = _CONTEXT.scaleb
    return [scaleb(value, -scale) for value in units]


def units_of(value: Decimal | int, precision: int, scale: int) -> int:
    """The smallest units of a value, rounded half up."""
    found = rounded(Decimal(value), precision, scale)
    if found is None:
        raise ValueError(f"{value} is not a decimal({precision},{scale})")
    return int(_CONTEXT.scaleb(found, scale))


def read(buffer: memoryview) -> list[int]:
    """Smallest units, from 16 bytes each."""
    words = buffer.cast("q")
    low, high = words[::2].tolist(), words[1::2].tolist()
    if not any(high) and (not low or min(low) >= 0):
        return low
    return [(upper << 64) | (lower & _LOW) for lower, upper in zip(low, high)]


def write(units: Sequence[int]) -> bytes | array:
    try:
        low = array("q", units)
    except OverflowError:
        return b"".join([value.to_bytes(16, "little", signed=True) for value in units])
    words = array("q", bytes(16 * len(low)))
    words[::2] = low
    if low and min(low) < 0:
        words[1::2] = array("q", [value >> 63 for value in low])
    return words
