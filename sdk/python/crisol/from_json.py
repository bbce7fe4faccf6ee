"""JSON objects as rows: numbers never pass through a float on their way to a decimal.

A message is one object and nothing else. Fields may come in any order, unknown ones are skipped. A field of the row that is
there twice and a value of another type are faults that name the field and the cause.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from decimal import Decimal
from functools import cache, partial
from math import frexp, ldexp, nextafter
from typing import Any, TypeVar

from . import decimals
from .errors import Rejection, not_null
from .hints import columns_of
from .moments import days_of, parse_date, parse_micros, parse_timestamp
from .types import Type

Row = TypeVar("Row")
Convert = Callable[[Any], Any]

_SHOWN_CHARACTERS_MAX = 60
#: Arrays and objects within each other, in the object that a message is: parsers call themselves, and the stack of a sandbox
#: is small.
_DEPTH_MAX = 200
_TEXT_OR_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
#: Python makes no `int` of more digits.
_DIGITS_MAX = 4_300
_MINUS_ZERO = re.compile(r"-0(?![\d.eE])")
_SINGLE = struct.Struct("<f")
_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


class _Fault(Exception):
    """What is wrong, and of which field."""

    def __init__(self, text: str, path: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.path = path

    def inside(self, path: str) -> _Fault:
        joint = "" if not self.path or self.path.startswith("[") else "."
        return _Fault(self.text, path + joint + self.path)

    def rejection(self) -> Rejection:
        return Rejection("corrupt_record", f"`{self.path}`: {self.text}" if self.path else self.text)


def _constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


class _Number(str):
    """A number as it is written: with a point or an exponent, and whole ones that an `int` does not hold."""


def _whole_number(text: str) -> int | _Number:
    return _Number(text) if text == "-0" or len(text) > _DIGITS_MAX else int(text)


# Objects are tuples of pairs, so that names that are there twice can be seen, and arrays stay lists.
_decoder = partial(json.JSONDecoder, object_pairs_hook=tuple, parse_float=_Number, parse_constant=_constant)
_parse = _decoder().decode
_parse_unusual = _decoder(parse_int=_whole_number).decode


def from_json(record: type[Row], message: str) -> Row:
    """The row of a message; raises the rejection of one that does not fit."""
    return _reader(record)(message)


@cache
def _reader(record: type[Row]) -> Callable[[str], Row]:
    columns = columns_of(record)
    converts = [(name, _converter(type)) for name, type in columns.items()]
    required = [(place, name) for place, (name, type) in enumerate(columns.items()) if not type.nullable]

    def read(message: str) -> Row:
        pairs = _object(message)
        found = dict(pairs)
        try:
            if len(found) != len(pairs):
                _refuse_twice(pairs, columns)
            values = _values(found.get, converts)
        except _Fault as fault:
            raise fault.rejection() from None
        for place, name in required:
            if values[place] is None:
                raise not_null(name, "it is null or absent")
        return record(*values)

    return read


def _values(get: Callable[[str], Any], converts: list[tuple[str, Convert]]) -> list[Any]:
    values = []
    name = ""
    try:
        for name, convert in converts:
            value = get(name)
            values.append(None if value is None else convert(value))
    except _Fault as fault:
        raise fault.inside(name) from None
    return values


def _object(message: str) -> tuple[tuple[str, Any], ...]:
    """The pairs of the one object that a message is."""
    if _is_deep(message):
        raise Rejection("corrupt_record", "nested too deeply")
    try:
        pairs = (_parse_unusual if _may_be_unusual(message) else _parse)(message)
    except ValueError as error:
        what = getattr(error, "msg", None) or str(error)
        place = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
        text = f"not a JSON object: {what}{place}" if message.strip() else "the message is empty"
        raise Rejection("corrupt_record", text) from None
    if type(pairs) is not tuple:
        raise Rejection("corrupt_record", "not a JSON object")
    if "\\u" in message and _has_half_surrogate(pairs):
        raise Rejection("corrupt_record", "not a JSON object: half of a surrogate pair")
    return pairs


def _may_be_unusual(message: str) -> bool:
    """Whether a text may have whole numbers that an `int` does not hold."""
    return len(message) > _DIGITS_MAX or ("-0" in message and _MINUS_ZERO.search(message) is not None)


def _is_deep(message: str) -> bool:
    """Whether a text is nested deeper than it may, found without calls within calls."""
    if message.count("[") + message.count("{") <= _DEPTH_MAX + 1:
        return False
    depth = 0
    for found in _TEXT_OR_BRACKET.finditer(message):
        if found[0] in ("[", "{"):
            depth += 1
            if depth > _DEPTH_MAX + 1:
                return True
        elif found[0] in ("]", "}"):
            depth -= 1
    return False


def _has_half_surrogate(value: Any) -> bool:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, (tuple, list)):
            waiting += value
        elif isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
            return True
    return False


def _refuse_twice(pairs: tuple[tuple[str, Any], ...], wanted: Any) -> None:
    seen = set()
    for name, _ in pairs:
        if name in seen and name in wanted:
            raise _Fault("it is there twice", name)
        seen.add(name)


def _shown(value: Any) -> str:
    text = _text(value)
    return text if len(text) <= _SHOWN_CHARACTERS_MAX else text[:_SHOWN_CHARACTERS_MAX] + "…"


def _text(value: Any) -> str:
    """A value as JSON."""
    if type(value) is tuple:
        return "{" + ",".join(f"{_text(name)}:{_text(inner)}" for name, inner in value) + "}"
    if type(value) is list:
        return "[" + ",".join(map(_text, value)) + "]"
    if type(value) is str:
        return f'"{value}"'
    return value if type(value) is _Number else json.dumps(value)


def _mismatch(value: Any, type: Type) -> _Fault:
    shown = _shown(value)
    if shown.startswith('"'):
        shown = shown.removesuffix('"') + '"'
    return _Fault(f"{shown} is not {'an' if type.name[0] in 'ai' else 'a'} {type.name}")


def _converter(type: Type) -> Convert:
    """What makes a value of a type of one that is not null."""
    return _CONVERTERS[type.kind](type)


def _only(wanted: tuple[type, ...], convert: Callable[[Any, Type], Any]) -> Callable[[Type], Convert]:
    """Values of some kinds in JSON; `convert` gives `None` when they do not fit."""

    def of(type_: Type) -> Convert:
        def checked(value: Any) -> Any:
            found = convert(value, type_) if type(value) in wanted else None
            if found is None:
                raise _mismatch(value, type_)
            return found

        return checked

    return of


def _whole(value: int | _Number, type: Type) -> int | None:
    if isinstance(value, str):
        return 0 if value == "-0" else None
    limit = 1 << (_BITS[type.kind] - 1)
    return value if -limit <= value < limit else None


def _date(text: str, type: Type) -> Any:
    day = parse_date(text)
    return days_of(day) if type.raw and day is not None else day


def _timestamp(text: str, type: Type) -> Any:
    return parse_micros(text) if type.raw else parse_timestamp(text)


def _decimal(value: Any, type: Type) -> Any:
    if isinstance(value, int):
        found = decimals.rounded(Decimal(value), type.precision, type.scale)
    else:
        found = decimals.parse(value, type.precision, type.scale)
    return decimals.units_of(found, type.precision, type.scale) if type.raw and found is not None else found


def _double(value: Any, _: Type) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _float(value: int | _Number, type: Type) -> float:
    double = _double(value, type)
    if _is_halfway(double):
        number = decimals.exact(value) if isinstance(value, str) else value
        if number != double:
            double = nextafter(double, float("inf") if number > double else float("-inf"))
    try:
        return _SINGLE.unpack(_SINGLE.pack(double))[0]
    except OverflowError:
        return float("inf") if double > 0 else float("-inf")


def _is_halfway(double: float) -> bool:
    """Whether it is as far from one `float` as from the next, so that the digits after those of a double decide."""
    fraction, exponent = frexp(double)
    # A float has 24 bits, and none below 2^-149.
    return ldexp(fraction, min(25, exponent + 150)) % 2 == 1


def _array(type: Type) -> Convert:
    convert = _converter(type.inside[0][1])

    def elements(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise _mismatch(value, type)
        found = []
        try:
            for element in value:
                found.append(None if element is None else convert(element))
        except _Fault as fault:
            raise fault.inside(f"[{len(found)}]") from None
        return found

    return elements


def _struct(type: Type) -> Convert:
    names = dict(type.inside)
    converts = [(name, _converter(inner)) for name, inner in type.inside]
    model = type.model

    def fields_of(value: Any) -> Any:
        if not isinstance(value, tuple):
            raise _mismatch(value, type)
        found = dict(value)
        if len(found) != len(value):
            _refuse_twice(value, names)
        values = _values(found.get, converts)
        return dict(zip(names, values)) if model is None else model(*values)

    return fields_of


def _map(type: Type) -> Convert:
    if type.inside[0][1].kind != "string":
        raise TypeError(f"{type.name}: names in JSON are texts, so the keys must be")
    convert = _converter(type.inside[1][1])

    def pairs_of(value: Any) -> dict[str, Any]:
        if not isinstance(value, tuple):
            raise _mismatch(value, type)
        found: dict[str, Any] = {}
        for name, inner in value:
            if name in found:
                raise _Fault("the key is there twice", f'["{name}"]')
            try:
                found[name] = None if inner is None else convert(inner)
            except _Fault as fault:
                raise fault.inside(f'["{name}"]') from None
        return found

    return pairs_of


def _no_json(type: Type) -> Convert:
    raise TypeError(f"a {type.name} cannot be read from JSON")


_CONVERTERS: dict[str, Callable[[Type], Convert]] = {
    "string": _only((str,), lambda value, _: value),
    "boolean": _only((bool,), lambda value, _: value),
    "date": _only((str,), _date),
    "timestamp": _only((str,), _timestamp),
    **{kind: _only((int, _Number), _whole) for kind in _BITS},
    "decimal": _only((int, _Number, str), _decimal),
    "float": _only((int, _Number), _float),
    "double": _only((int, _Number), _double),
    "array": _array,
    "struct": _struct,
    "map": _map,
    "binary": _no_json,
}
