"""Columns of a message as views on its bytes: values become Python objects when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from struct import calcsize
from typing import Any

from . import bits, decimals, message
from .message import Envelope
from .moments import day_of, moment_of
from .types import Type

FORMATS = {
    "tinyint": "b",
    "smallint": "h",
    "int": "i",
    "bigint": "q",
    "float": "f",
    "double": "d",
    "date": "i",
    "timestamp": "q",
}
_BUFFERS = {"string": 3, "binary": 3, "array": 2, "map": 2, "struct": 1}


class Column:
    """The values of a column, in the order of its rows; `None` is null.

    As a sequence it gives values one by one; `tolist` is much faster for all of them.
    """

    def __init__(self, type: Type, length: int, null_count: int, buffers: list[memoryview], inside: list[Column]) -> None:
        self.type = type
        self.null_count = null_count
        #: As Arrow lays them out: validity (empty without nulls), offsets, values.
        self.buffers = buffers
        #: The columns of a struct, the elements of an array, the keys and values of a map.
        self.inside = inside
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, row: int) -> Any:
        return self._list[row]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._list)

    def tolist(self) -> list[Any]:
        """All values."""
        return self._list

    def take(self, rows: Sequence[int]) -> list[Any]:
        """The values of some rows."""
        values = self._list
        return [values[row] for row in rows]

    @cached_property
    def valid(self) -> list[bool] | None:
        """Whether there is a value, row by row; `None` when all have one."""
        return bits.unpack(self.buffers[0], self._length) if self.null_count else None

    @cached_property
    def values(self) -> memoryview:
        """Numbers, days and microseconds without a copy; whatever stands under a null does not count."""
        code = FORMATS.get(self.type.kind)
        if code is None:
            raise TypeError(f"a {self.type.name} has no plain values; take `tolist()`")
        return self.buffers[1][: calcsize(code) * self._length].cast(code)

    @cached_property
    def offsets(self) -> memoryview:
        """Where the bytes of a text or the elements of an array start; one more says where the last ends."""
        return self.buffers[1][: 4 * (self._length + 1)].cast("i")

    @cached_property
    def _list(self) -> list[Any]:
        values = _READERS[self.type.kind](self)
        if self.valid is None:
            return values
        return [value if valid else None for value, valid in zip(values, self.valid)]

    def _live(self, values: list[int], empty: int = 0) -> list[int]:
        """Plain values with `empty` for nulls, under which anything may stand."""
        if self.valid is None:
            return values
        return [value if valid else empty for value, valid in zip(values, self.valid)]


def _plain(column: Column) -> list[Any]:
    return column.values.tolist()


def _booleans(column: Column) -> list[bool]:
    return bits.unpack(column.buffers[1], len(column))


def _dates(column: Column) -> list[Any]:
    days = column._live(column.values.tolist())
    return days if column.type.raw else [day_of(value) for value in days]


def _timestamps(column: Column) -> list[Any]:
    micros = column._live(column.values.tolist())
    return micros if column.type.raw else [moment_of(value) for value in micros]


def _decimals(column: Column) -> list[Any]:
    units = column._live(decimals.read(column.buffers[1][: 16 * len(column)]))
    return units if column.type.raw else decimals.decimals_of(units, column.type.scale)


def _texts(column: Column) -> list[str]:
    places, data = _places(column), bytes(column.buffers[2])
    if data.isascii():
        text = data.decode("ascii")
        return [text[start:end] for start, end in places]
    return [data[start:end].decode() for start, end in places]


def _bytes(column: Column) -> list[bytes]:
    data = bytes(column.buffers[2])
    return [data[start:end] for start, end in _places(column)]


def _places(column: Column) -> Iterator[tuple[int, int]]:
    offsets = column.offsets.tolist()
    return zip(offsets, offsets[1:])


def _arrays(column: Column) -> list[list[Any]]:
    elements = column.inside[0].tolist()
    return [elements[start:end] for start, end in _places(column)]


def _maps(column: Column) -> list[dict[Any, Any]]:
    pairs = list(zip(column.inside[0].tolist(), column.inside[1].tolist()))
    return [dict(pairs[start:end]) for start, end in _places(column)]


def _structs(column: Column) -> list[Any]:
    lists = [inner.tolist() for inner in column.inside]
    if column.type.model is not None:
        return list(map(column.type.model, *lists))
    names = [name for name, _ in column.type.inside]
    return [dict(zip(names, values)) for values in zip(*lists)]


_READERS = {
    "boolean": _booleans,
    "date": _dates,
    "timestamp": _timestamps,
    "decimal": _decimals,
    "string": _texts,
    "binary": _bytes,
    "array": _arrays,
    "map": _maps,
    "struct": _structs,
    **{kind: _plain for kind in ("tinyint", "smallint", "int", "bigint", "float", "double")},
}


class Columns(Mapping[str, Column]):
    """The columns of some rows by name."""

    def __init__(self, rows: int, columns: dict[str, Column]) -> None:
        #: How many rows there are.
        self.rows = rows
        self._columns = columns

    @classmethod
    def read(cls, types: Mapping[str, Type], received: bytes) -> Columns:
        """The columns of a message, which has exactly these."""
        envelope = message.read(received)
        walk = _Walk(envelope)
        return cls(envelope.rows, {name: walk.column(type) for name, type in types.items()})

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


class _Walk:
    """Takes nodes and buffers in the order of the types."""

    def __init__(self, envelope: Envelope) -> None:
        self.nodes = iter(envelope.nodes)
        self.buffers = iter(envelope.buffers)
        self.body = envelope.body

    def column(self, type: Type) -> Column:
        length, nulls = next(self.nodes)
        buffers = [self.buffer() for _ in range(_BUFFERS.get(type.kind, 2))]
        if len(buffers) > 1 and type.kind in _BUFFERS and not buffers[1]:
            # A column without values may come without offsets.
            buffers[1] = memoryview(bytes(4))
        if type.kind == "map":
            # The pairs are a struct, which is never null.
            next(self.nodes), next(self.buffers)
        return Column(type, length, nulls, buffers, [self.column(inner) for _, inner in type.inside])

    def buffer(self) -> memoryview:
        offset, length = next(self.buffers)
        return self.body[offset : offset + length]
