"""Values of columns as a message."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import accumulate, chain
from operator import attrgetter
from typing import Any

from . import bits, decimals, message
from .column import FORMATS
from .message import Buffer
from .moments import days_of, micros_of
from .types import Type


def encode(types: Mapping[str, Type], values: Mapping[str, Sequence[Any]]) -> bytes:
    """A message with a value for each row in each column; `None` is null."""
    lengths = {name: len(values[name]) for name in types}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns of one message have as many values each, here {lengths}")
    out = _Out()
    for name, type in types.items():
        out.path = name
        out.column(type, values[name])
    return message.write(next(iter(lengths.values()), 0), out.nodes, out.buffers)


class _Out:
    """Nodes and buffers in the order of the types."""

    def __init__(self) -> None:
        self.path = ""
        self.nodes: list[tuple[int, int]] = []
        self.buffers: list[Buffer] = []

    def column(self, type: Type, values: Sequence[Any]) -> None:
        valid = [value is not None for value in values]
        nulls = valid.count(False)
        if nulls and not type.nullable:
            raise ValueError(f"column `{self.path}`: the value of row {valid.index(False)} is None; declare it `| None`")
        self.nodes.append((len(values), nulls))
        self.buffers.append(bits.pack(valid) if nulls else b"")
        try:
            _WRITERS[type.kind](self, type, values, nulls)
        except (TypeError, OverflowError, ValueError, AttributeError) as error:
            raise ValueError(f"column `{self.path}`, {type.name}: {error}") from error

    def offsets(self, lengths: Any) -> None:
        self.buffers.append(array("i", accumulate(lengths, initial=0)))


def _filled(values: Sequence[Any], nulls: int, empty: Any) -> Sequence[Any]:
    return [empty if value is None else value for value in values] if nulls else values


def _plain(out: _Out, type: Type, values: Sequence[Any], nulls: int) -> None:
    out.buffers.append(array(FORMATS[type.kind], _filled(values, nulls, 0)))


def _booleans(out: _Out, type: Type, values: Sequence[Any], nulls: int) -> None:
    out.buffers.append(bits.pack(_filled(values, nulls, False)))


def _whole(code: str, convert: Any) -> Any:
    def write(out: _Out, type: Type, values: Sequence[Any], nulls: int) -> None:
        if type.raw:
            whole = _filled(values, nulls, 0)
        else:
            whole = [0 if value is None else convert(value) for value in values]
        out.buffers.append(array(code, whole))

    return write


def _decimals(out: _Out, type: Type, values: Sequence[Any], nulls: int) -> None:
    if type.raw:
        units = _filled(values, nulls, 0)
    else:
        precision, scale = type.precision, type.scale
        units = [0 if value is None else decimals.units_of(value, precision, scale) for value in values]
    if units and max(max(units), -min(units)) >= 10**type.precision:
        raise ValueError(f"a value has more than {type.precision} digits")
    out.buffers.append(decimals.write(units))


def _texts(out: _Out, type: Type, values: Sequence[Any], nulls: int) -> None:
    texts = _filled(values, nulls, "")
    whole = "".join(texts)
    if whole.isascii():
        out.offsets(map(len, texts))
        out.buffers.append(whole.encode())
    else:
        _joined(out, [text.encode() for text in texts])


def _bytes(out: _Out, type: Type, values: Sequence[Any], nulls: int) -> None:
    _joined(out, _filled(values, nulls, b""))


def _joined(out: _Out, pieces: Sequence[bytes]) -> None:
    out.offsets(map(len, pieces))
    out.buffers.append(b"".join(pieces))


def _arrays(out: _Out, type: Type, values: Sequence[Any], nulls: int) -> None:
    lists = _filled(values, nulls, ())
    out.offsets(map(len, lists))
    out.column(type.inside[0][1], list(chain.from_iterable(lists)))


def _maps(out: _Out, type: Type, values: Sequence[Any], nulls: int) -> None:
    maps = _filled(values, nulls, {})
    out.offsets(map(len, maps))
    keys = list(chain.from_iterable(maps))
    out.nodes.append((len(keys), 0))
    out.buffers.append(b"")
    out.column(type.inside[0][1], keys)
    out.column(type.inside[1][1], list(chain.from_iterable(one.values() for one in maps)))


def _structs(out: _Out, type: Type, values: Sequence[Any], nulls: int) -> None:
    attributes = fields(type.model) if type.model else ()
    for place, (name, inner) in enumerate(type.inside):
        if attributes:
            get = attrgetter(attributes[place].name)
            found = [None if value is None else get(value) for value in values]
        else:
            found = [None if value is None else value.get(name) for value in values]
        out.column(inner, found)


_WRITERS = {
    "boolean": _booleans,
    "date": _whole("i", days_of),
    "timestamp": _whole("q", micros_of),
    "decimal": _decimals,
    "string": _texts,
    "binary": _bytes,
    "array": _arrays,
    "map": _maps,
    "struct": _structs,
    **{kind: _plain for kind in ("tinyint", "smallint", "int", "bigint", "float", "double")},
}
