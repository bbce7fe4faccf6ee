"""The envelope of a message: Arrow's tables `Message` and `RecordBatch`, read, and written in one fixed layout."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from typing import NamedTuple, Union

_CONTINUATION = 0xFFFFFFFF
_RECORD_BATCH = 3
_V5 = 4
_PREFIX = 8
#: Bytes of the header before its nodes.
_HEADER = 72
_ALIGNMENT = 8
Buffer = Union[bytes, bytearray, memoryview, array]


class Envelope(NamedTuple):
    """What a message holds: nodes are (length, nulls), buffers (offset in `body`, length)."""

    rows: int
    nodes: list[tuple[int, int]]
    buffers: list[tuple[int, int]]
    body: memoryview


def read(message: bytes) -> Envelope:
    if len(message) < _PREFIX or _u32(message, 0) != _CONTINUATION:
        raise ValueError("the message does not start with the continuation marker")
    root = _PREFIX + _u32(message, _PREFIX)
    if message[_field(message, root, 1)] != _RECORD_BATCH:
        raise ValueError("the message is no record batch")
    batch = _follow(message, _field(message, root, 2))
    length = _field(message, batch, 0)
    return Envelope(
        struct.unpack_from("<q", message, length)[0] if length else 0,
        _pairs(message, _field(message, batch, 1)),
        _pairs(message, _field(message, batch, 2)),
        memoryview(message)[_PREFIX + _u32(message, 4):],
    )


def _u32(message: bytes, at: int) -> int:
    return struct.unpack_from("<I", message, at)[0]


def _follow(message: bytes, at: int) -> int:
    return at + _u32(message, at)


def _field(message: bytes, table: int, number: int) -> int:
    """Where a field of a table stands; 0 when it is not there."""
    vtable = table - struct.unpack_from("<i", message, table)[0]
    size = struct.unpack_from("<H", message, vtable)[0]
    at = 4 + 2 * number
    offset = struct.unpack_from("<H", message, vtable + at)[0] if at < size else 0
    return table + offset if offset else 0


def _pairs(message: bytes, at: int) -> list[tuple[int, int]]:
    if at == 0:
        return []
    start = _follow(message, at)
    flat = struct.unpack_from(f"<{2 * _u32(message, start)}q", message, start + 4)
    return list(zip(flat[::2], flat[1::2]))


def write(rows: int, nodes: Sequence[tuple[int, int]], buffers: Sequence[Buffer]) -> bytes:
    """A message of so many rows."""
    body, places, offset = [], [], 0
    for buffer in buffers:
        size = memoryview(buffer).nbytes
        places.append((offset, size))
        padding = -size % _ALIGNMENT
        body += (buffer, bytes(padding))
        offset += size + padding
    metadata = _HEADER + 8 + 16 * (len(nodes) + len(buffers))
    header = struct.pack("<II", _CONTINUATION, metadata) + _tables(rows, offset, len(nodes))
    return b"".join((header, _flat(nodes), struct.pack("<II", 0, len(places)), _flat(places), *body))


def _tables(rows: int, body: int, nodes: int) -> bytes:
    """The two tables up to the first node."""
    after = _HEADER + 16 * nodes + 4
    message = struct.pack("<I6Hi I q H B x", 16, 12, 20, 16, 18, 4, 8, 12, 28, body, _V5, _RECORD_BATCH)
    batch = struct.pack("<5H 2x i I q I I", 10, 20, 8, 4, 16, 12, _HEADER - 4 - 52, rows, after - 64, nodes)
    return message + batch


def _flat(pairs: Sequence[tuple[int, int]]) -> bytes:
    return struct.pack(f"<{2 * len(pairs)}q", *(value for pair in pairs for value in pair))
