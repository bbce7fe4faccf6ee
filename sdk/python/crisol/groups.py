"""Rankers and aggregators over rows. The rows of a group follow each other; groups ascend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_args

from .column import Columns
from .errors import Failure, Rejection
from .hints import columns_of
from .output import INT, Rows
from .rows import Input, given_back, hinted
from .stage import Plan, definer, wanted
from .types import Type

_GROUP = "_group"


class _Groups:
    """Rows of a message, each with its group."""

    def __init__(self, plan: Plan, record: type) -> None:
        self.reads = plan.reads
        self.record = record

    def rows(self, message: bytes) -> Iterator[tuple[int, Any]]:
        given = Input(self.reads, self.record, Columns({**self.reads, _GROUP: INT}, message))
        if given.nulls:
            name = next(iter(given.nulls.values()))
            raise Failure("input", f"column `{name}` is null in a row; drop such rows before, or declare it `| None`")
        return zip(given.columns[_GROUP].tolist(), given.objects)


def _stopping(call: Callable[[], Any]) -> Any:
    """A stage over groups has no quarantine: a rejection stops it."""
    try:
        return call()
    except Rejection as why:
        raise Failure("input", f"a row of a group is refused, {why}; drop such rows before") from why


def _answer(rows: Rows) -> list[bytes]:
    return [rows.message()] if rows.rows else []


def _ranking(made_by: type) -> Callable[[Any, dict[str, Type]], Plan]:
    (group, *_), kept = hinted(made_by, "rank")
    reads, writes = columns_of(get_args(group)[0]), columns_of(get_args(get_args(kept)[0])[1])
    return lambda _, given: Plan(wanted(reads, given), writes)


class _Ranking:
    """Rows wait until their group is complete."""

    def __init__(self, plan: Plan, stage: Any) -> None:
        (group, *_), _ = hinted(type(stage), "rank")
        self.groups = _Groups(plan, get_args(group)[0])
        self.writes = plan.writes
        self.rank = stage.rank
        self.group: int | None = None
        self.waiting: list[Any] = []
        #: Rows of groups that are done.
        self.done = 0

    def push(self, message: bytes) -> list[bytes]:
        kept = Rows(self.writes)
        for group, row in self.groups.rows(message):
            if group != self.group:
                self._close(kept)
                self.group = group
            self.waiting.append(row)
        return _answer(kept)

    def finish(self) -> list[bytes]:
        kept = Rows(self.writes)
        self._close(kept)
        return _answer(kept)

    def _close(self, kept: Rows) -> None:
        if not self.waiting:
            return
        for place, added in _stopping(lambda: list(self.rank(self.waiting))):
            kept.put(self.done + place, added)
        self.done += len(self.waiting)
        self.waiting = []


def _aggregating(made_by: type) -> Callable[[Any, dict[str, Type]], Plan]:
    (_, record, *_), _ = hinted(made_by, "add")
    _, made = hinted(made_by, "finish")
    reads, writes = columns_of(record), columns_of(given_back(made))
    return lambda _, given: Plan(wanted(reads, given), writes)


class _Aggregating:
    def __init__(self, plan: Plan, stage: Any) -> None:
        (_, record, *_), _ = hinted(type(stage), "add")
        self.groups = _Groups(plan, record)
        self.writes = plan.writes
        self.stage = stage
        self.group: int | None = None
        self.state: Any = None

    def push(self, message: bytes) -> list[bytes]:
        made = Rows(self.writes, _GROUP)
        add = self.stage.add
        for group, row in self.groups.rows(message):
            if group != self.group:
                self._close(made)
                self.group, self.state = group, self.stage.start()
            _stopping(lambda: add(self.state, row))
        return _answer(made)

    def finish(self) -> list[bytes]:
        made = Rows(self.writes, _GROUP)
        self._close(made)
        return _answer(made)

    def _close(self, made: Rows) -> None:
        if self.group is None:
            return
        row = _stopping(lambda: self.stage.finish(self.state))
        if row is not None:
            made.put(self.group, row)
        self.group = None


#: Chooses rows of a group: a class with `rank(self, group: list[Row]) -> Iterator[tuple[int, Output]]`.
ranker = definer("ranker", "rank", _ranking, _Ranking)
#: Makes one row of a group: a class with `start(self) -> State`, `add(self, state: State, row: Row)` and
#: `finish(self, state: State) -> Output | None`.
aggregator = definer("aggregator", "finish", _aggregating, _Aggregating)
