"""Stages in the tests of their source, without WebAssembly: messages are made of rows, and read again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from types import SimpleNamespace
from typing import Any, NamedTuple

from .column import Columns
from .encode import encode
from .moments import micros_of, parse_timestamp
from .output import INT
from .stage import Stage
from .types import Type

#: What "now" is in tests.
NOW = micros_of(parse_timestamp("2026-04-01T00:00:00Z"))
_REJECTED = {"row": INT, "kind": Type("tinyint"), "code": Type("string"), "text": Type("string")}


class Rejected(NamedTuple):
    """A row that does not go on."""

    row: int
    code: str
    text: str
    filtered: bool = False


class Outcome(NamedTuple):
    """Rows as dicts, each with `_row`, and those that do not go on."""

    rows: list[dict[str, Any]]
    rejected: list[Rejected]


class _Opened:
    """A session, and what makes messages of the rows that it reads."""

    def __init__(self, made_by: Any, options: dict[str, Any] | None, given: dict[str, Type] | None = None) -> None:
        stage: Stage = made_by.crisol_stage
        text = json.dumps(options or {})
        given = stage.reads(text) if given is None else given
        columns = [SimpleNamespace(name=name, type=type.name, nullable=type.nullable) for name, type in given.items()]
        plan = stage.plan(text, columns)
        self.reads, self.writes = plan.reads, plan.writes
        self.session = stage.open(text, columns, NOW)

    def message(self, rows: Sequence[Any], groups: Sequence[int] | None = None) -> bytes:
        values = {name: [_value(row, name) for row in rows] for name in self.reads}
        nullable = {name: replace(type, nullable=True) for name, type in self.reads.items()}
        if groups is None:
            return encode(nullable, values)
        return encode({**nullable, "_group": INT}, {**values, "_group": groups})

    def rows(self, message: bytes, index: str) -> list[dict[str, Any]]:
        columns = Columns.read({**self.writes, index: INT}, message)
        return [dict(zip(columns, values)) for values in zip(*(column.tolist() for column in columns.values()))]


def _value(row: Any, name: str) -> Any:
    return row.get(name) if isinstance(row, dict) else getattr(row, name)


def decode(made_by: Any, messages: Sequence[str | None], options: dict[str, Any] | None = None) -> Outcome:
    """Runs a decoder over messages."""
    opened = _Opened(made_by, options, {"payload": Type("string", nullable=True)})
    return _pushed(opened, [{"payload": message} for message in messages])


def transform(made_by: Any, rows: Sequence[Any], options: dict[str, Any] | None = None) -> Outcome:
    """Runs a transformer over rows of its dataclass."""
    return _pushed(_Opened(made_by, options), rows)


def check(made_by: Any, rows: Sequence[Any], options: dict[str, Any] | None = None) -> list[Rejected]:
    """Runs a validator over rows of its dataclass; gives what it rejects."""
    opened = _Opened(made_by, options)
    return _rejected(opened.session.check(opened.message(rows)))


def rank(made_by: Any, groups: Sequence[Sequence[Any]], options: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Runs a ranker over groups of rows; gives the rows that it keeps, each with `_row`, counted over all groups."""
    return _grouped(made_by, groups, options, "_row")


def aggregate(made_by: Any, groups: Sequence[Sequence[Any]], options: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Runs an aggregator over groups of rows; gives its rows, each with `_group`."""
    return _grouped(made_by, groups, options, "_group")


def _pushed(opened: _Opened, rows: Sequence[Any]) -> Outcome:
    made, rejected = opened.session.push(opened.message(rows))
    return Outcome(opened.rows(made, "_row"), _rejected(rejected))


def _rejected(message: bytes | None) -> list[Rejected]:
    if message is None:
        return []
    rows, kinds, codes, texts = (column.tolist() for column in Columns.read(_REJECTED, message).values())
    return [Rejected(row, code, text, kind == 1) for row, kind, code, text in zip(rows, kinds, codes, texts)]


def _grouped(made_by: Any, groups: Sequence[Sequence[Any]], options: dict[str, Any] | None, index: str) -> list[dict[str, Any]]:
    """Cut into messages in several ways, groups give the same."""
    whole, *cut = [_in_messages(made_by, groups, options, index, size) for size in (1 << 20, 1, 2)]
    for other in cut:
        if other != whole:
            raise AssertionError(f"the stage gives other rows when its messages are cut in another way: {whole}, {other}")
    return whole


def _in_messages(made_by: Any, groups: Sequence[Sequence[Any]], options: dict[str, Any] | None, index: str, size: int) -> list[Any]:
    opened = _Opened(made_by, options)
    rows = list(chain.from_iterable(groups))
    numbers = [number for number, group in enumerate(groups) for _ in group]
    answers = []
    for at in range(0, len(rows), size):
        answers += opened.session.push(opened.message(rows[at : at + size], numbers[at : at + size]))
    answers += opened.session.finish()
    return [row for answer in answers for row in opened.rows(answer, index)]
