"""Rows of several messages as the rows of one, without a look at their values."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import accumulate, chain
from struct import calcsize

from . import bits
from .column import FORMATS, Column, Columns

#: A column, and which of its rows.
Piece = tuple[Column, range]
_UNITS = 16


def join(pieces: Sequence[tuple[Columns, range]]) -> Columns:
    """The rows of one piece after the other; all have the same columns, and there is one at least."""
    columns = {name: _column([(piece[name], rows) for piece, rows in pieces]) for name in pieces[0][0]}
    return Columns(sum(len(rows) for _, rows in pieces), columns)


def _column(pieces: Sequence[Piece]) -> Column:
    first, _ = pieces[0]
    valid = _valid(pieces)
    buffers, inside = _JOINERS.get(first.type.kind, _plain)(pieces)
    return Column(
        first.type,
        sum(len(rows) for _, rows in pieces),
        valid.count(False),
        [memoryview(buffer) for buffer in (bits.pack(valid), *buffers)],
        [_column([(column.inside[place], rows) for column, rows in inside]) for place in range(len(first.inside))],
    )


def _valid(pieces: Sequence[Piece]) -> list[bool]:
    """Row by row; empty when all have a value."""
    if not any(column.null_count for column, _ in pieces):
        return []
    all_valid = [column.valid or [True] * len(column) for column, _ in pieces]
    return list(chain.from_iterable(valid[rows.start : rows.stop] for valid, (_, rows) in zip(all_valid, pieces)))


#: The buffers after validity, and of which rows the columns inside are.
Joined = tuple[list[bytes], Sequence[Piece]]


def _plain(pieces: Sequence[Piece]) -> Joined:
    kind = pieces[0][0].type.kind
    width = calcsize(FORMATS[kind]) if kind in FORMATS else _UNITS
    return [b"".join([column.buffers[1][width * rows.start : width * rows.stop] for column, rows in pieces])], ()


def _booleans(pieces: Sequence[Piece]) -> Joined:
    values = [bits.unpack(column.buffers[1], len(column))[rows.start : rows.stop] for column, rows in pieces]
    return [bits.pack(list(chain.from_iterable(values)))], ()


def _texts(pieces: Sequence[Piece]) -> Joined:
    (offsets,), inside = _lists(pieces)
    return [offsets, b"".join([column.buffers[2][places.start : places.stop] for column, places in inside])], ()


def _lists(pieces: Sequence[Piece]) -> Joined:
    lengths: list[int] = []
    inside = []
    for column, rows in pieces:
        offsets = column.offsets[rows.start : rows.stop + 1].tolist()
        lengths += [end - start for start, end in zip(offsets, offsets[1:])]
        inside.append((column, range(offsets[0], offsets[-1])))
    return [array("i", accumulate(lengths, initial=0)).tobytes()], inside


def _structs(pieces: Sequence[Piece]) -> Joined:
    return [], pieces


_JOINERS: dict[str, Callable[[Sequence[Piece]], Joined]] = {
    "boolean": _booleans,
    "string": _texts,
    "binary": _texts,
    "array": _lists,
    "map": _lists,
    "struct": _structs,
}
