"""Bits of a bitmap as booleans, and back: many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

_OF_BYTE = [tuple(bool(byte >> bit & 1) for bit in range(8)) for byte in range(256)]
_DIGITS = bytes.maketrans(b"\0\1", b"01")


def unpack(bitmap: memoryview, length: int) -> list[bool]:
    whole = list(chain.from_iterable(map(_OF_BYTE.__getitem__, bitmap[: (length + 7) // 8])))
    del whole[length:]
    return whole


def pack(bits: Sequence[bool]) -> bytes:
    if not bits:
        return b""
    # A number in base 2 is read in one go, with its first digit last.
    return int(bytes(bits).translate(_DIGITS)[::-1], 2).to_bytes((len(bits) + 7) // 8, "little")
