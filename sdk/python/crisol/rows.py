"""Decoders, transformers and validators that work row by row on dataclasses: the short way to write one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, get_args, get_type_hints

from .column import Column, Columns
from .errors import Rejection, not_null
from .hints import columns_of, optional
from .output import Rejections, Rows
from .stage import Plan, definer, missing, wanted
from .types import Type

_FILTERED = Rejection.filter("filtered")


class Input:
    """The rows of a message as objects of a dataclass."""

    def __init__(self, record: type, columns: Columns) -> None:
        #: By row: the first column with a null where there may be none.
        self.nulls: dict[int, str] = {}
        for name, column in columns.items():
            if not column.type.nullable and column.null_count:
                self._forbid(name, column)
        self.objects = objects(record, columns, range(columns.rows))

    def _forbid(self, name: str, column: Column) -> None:
        for row, valid in enumerate(column.valid or ()):
            if not valid:
                self.nulls.setdefault(row, name)


def objects(record: type, columns: Columns, rows: range) -> list[Any]:
    """Some rows, all of whose columns are read, as objects of a dataclass."""
    lists = [column.tolist()[rows.start : rows.stop] for column in columns.values()]
    return list(map(record, *lists)) if lists else [record() for _ in rows]


def hinted(made_by: type, method: str) -> tuple[list[Any], Any]:
    """Hints of the parameters of a method without `self`, and of what it gives."""
    function = getattr(made_by, method)
    hints = get_type_hints(function, include_extras=True)
    names = list(inspect.signature(function).parameters)[1:]
    unhinted = [name for name in names if name not in hints]
    if unhinted:
        raise TypeError(f"`{made_by.__name__}.{method}`: the parameter `{unhinted[0]}` needs a type hint")
    return [hints[name] for name in names], hints.get("return")


def given_back(hint: Any) -> Any:
    """The dataclass that a method gives one or several of, or none."""
    if hint is None:
        raise TypeError("what a method gives needs a type hint, `-> Row` or `-> Iterator[Row]`")
    hint, _ = optional(hint)
    args = get_args(hint)
    return args[0] if args else hint


def _decoding(made_by: type, reads: str = "payload") -> Callable[[Any, dict[str, Type]], Plan]:
    (message, *_), row = hinted(made_by, "decode")
    kind = "binary" if message is bytes else "string"
    writes = columns_of(given_back(row))

    def plan(_: Any, given: dict[str, Type]) -> Plan:
        if reads not in given:
            raise missing(reads, given)
        wanted({reads: Type("binary" if given[reads].kind == "binary" else "string")}, given)
        return Plan({reads: Type(kind, nullable=True)}, writes)

    return plan


class _Decoding:
    def __init__(self, plan: Plan, stage: Any) -> None:
        self.plan = plan
        self.decode = stage.decode

    def push(self, message: bytes) -> tuple[bytes, bytes | None]:
        ((name, type),) = self.plan.reads.items()
        made, rejected = Rows(self.plan.writes), Rejections()
        decode, numbers, rows = self.decode, made.numbers, made.rows
        for row, given in enumerate(_messages(Columns.read({name: type}, message)[name])):
            try:
                if given is None:
                    raise Rejection("corrupt_record", f"`{name}` is null")
                rows.append(decode(given() if callable(given) else given))
                numbers.append(row)
            except Rejection as why:
                rejected.put(row, why)
        return made.message(), rejected.message()


def _messages(column: Column) -> list[Any]:
    """Texts or bytes; of bytes that are no text, what raises the rejection."""
    try:
        return column.tolist()
    except UnicodeDecodeError:
        places = zip(column.offsets, column.offsets[1:], column.valid or [True] * len(column))
        data = column.buffers[2]
        return [partial(_text, bytes(data[start:end])) if valid else None for start, end, valid in places]


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Rejection("corrupt_record", f"invalid UTF-8 at byte {error.start + 1}") from None


def _transforming(made_by: type) -> Callable[[Any, dict[str, Type]], Plan]:
    (record, *_), made = hinted(made_by, "transform")
    reads, writes = columns_of(record), columns_of(given_back(made))
    return lambda _, given: Plan(wanted(reads, given), writes)


class _Transforming:
    def __init__(self, plan: Plan, stage: Any) -> None:
        self.plan = plan
        self.record, self.transform = _record_of(stage, "transform")

    def push(self, message: bytes) -> tuple[bytes, bytes | None]:
        given = Input(self.record, Columns.read(self.plan.reads, message))
        made, rejected = Rows(self.plan.writes), Rejections()
        for place, row in enumerate(given.objects):
            try:
                if place in given.nulls:
                    raise not_null(given.nulls[place], "it is null")
                rows = _several(self.transform(row, place))
                if not rows:
                    raise _FILTERED
                made.rows += rows
                made.numbers += [place] * len(rows)
            except Rejection as why:
                rejected.put(place, why)
        return made.message(), rejected.message()


def _several(made: Any) -> list[Any]:
    if made is None:
        return []
    if isinstance(made, (list, tuple, Iterator)):
        return list(made)
    return [made]


def _record_of(stage: Any, method: str) -> tuple[type, Callable[[Any, int], Any]]:
    """What a method is called with, and the method: the place of the row is for those that ask for it."""
    (record, *more), _ = hinted(type(stage), method)
    call = getattr(stage, method)
    return record, call if more else lambda row, _: call(row)


def _checking(made_by: type) -> Callable[[Any, dict[str, Type]], Plan]:
    (record, *_), _ = hinted(made_by, "check")
    reads = columns_of(record)
    return lambda _, given: Plan(wanted(reads, given), {})


class _Checking:
    def __init__(self, plan: Plan, stage: Any) -> None:
        self.plan = plan
        self.record, self.rules = _record_of(stage, "check")

    def check(self, message: bytes) -> bytes | None:
        given = Input(self.record, Columns.read(self.plan.reads, message))
        rejected = Rejections()
        for place, row in enumerate(given.objects):
            if place in given.nulls:
                rejected.put(place, not_null(given.nulls[place], "it is null"))
                continue
            broken: Iterable[Rejection] = self.rules(row, place) or ()
            for why in broken:
                rejected.put(place, why)
        return rejected.message()


#: Makes a row of each message: a class with `decode(self, message: str) -> Row`.
decoder = definer("decoder", ["decode"], _decoding, _Decoding)
#: Makes rows of rows: a class with `transform(self, row: Input) -> Output`, or an iterator or list of them, or none.
transformer = definer("transformer", ["transform"], _transforming, _Transforming)
#: Judges rows: a class with `check(self, row: Row) -> Iterator[Rejection]`.
validator = definer("validator", ["check"], _checking, _Checking)
