"""Type hints of Python as types of columns."""

from __future__ import annotations

import types as python_types
from dataclasses import fields, is_dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from .types import Type, array, map_of, struct

TinyInt = Annotated[int, Type("tinyint")]
SmallInt = Annotated[int, Type("smallint")]
Int = Annotated[int, Type("int")]
BigInt = Annotated[int, Type("bigint")]
Float = Annotated[float, Type("float")]
Double = Annotated[float, Type("double")]
#: Whole numbers instead of objects, for speed: microseconds since 1970 UTC, and days since 1970.
Micros = Annotated[int, Type("timestamp")]
Days = Annotated[int, Type("date")]

_SIMPLE = {
    str: Type("string"),
    bytes: Type("binary"),
    bool: Type("boolean"),
    int: Type("bigint"),
    float: Type("double"),
    date: Type("date"),
    datetime: Type("timestamp"),
}
_RAW = ("decimal", "date", "timestamp")


def optional(hint: Any) -> tuple[Any, bool]:
    """The hint without `| None`, and whether that was there."""
    if get_origin(hint) not in (Union, python_types.UnionType):
        return hint, False
    rest = [arg for arg in get_args(hint) if arg is not type(None)]
    if len(rest) != 1 or len(rest) == len(get_args(hint)):
        raise TypeError(f"`{hint}`: a column has one type; only `| None` may stand beside it")
    return rest[0], True


def type_of(hint: Any) -> Type:
    """The type of a hint. A `Type`, such as that of a column of the input, says by itself whether it may be null."""
    hint, nullable = optional(hint)
    found = _type_of(hint)
    return replace(found, nullable=nullable or found.nullable)


def _type_of(hint: Any) -> Type:
    if isinstance(hint, Type):
        return hint
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(args)
    if origin is list:
        return array(type_of(args[0]))
    if origin is dict:
        return map_of(type_of(args[0]), type_of(args[1]))
    if is_dataclass(hint):
        return struct(columns_of(hint), hint)
    if hint is Decimal:
        raise TypeError("a decimal needs its digits: Annotated[Decimal, decimal(18, 2)]")
    raise TypeError(f"`{hint}` is no type of a column")


def _annotated(args: tuple[Any, ...]) -> Type:
    for note in args[1:]:
        if isinstance(note, Type):
            return replace(note, raw=args[0] is int and note.kind in _RAW)
    return type_of(args[0])


def columns_of(record: Any) -> dict[str, Type]:
    """The columns of a dataclass, or of types (or hints) by name, in their order."""
    if isinstance(record, dict):
        return {name: type_of(hint) for name, hint in record.items()}
    if not is_dataclass(record):
        raise TypeError(f"`{record}` is no dataclass")
    hints = get_type_hints(record, include_extras=True)
    return {_column(field.name): type_of(hints[field.name]) for field in fields(record)}


def _column(name: str) -> str:
    """`class_` is the column `class`, which Python has no name for."""
    return name[:-1] if name.endswith("_") and not name.startswith("_") else name
