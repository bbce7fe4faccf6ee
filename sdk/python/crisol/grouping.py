"""Rankers and aggregators between messages: groups are cut out of messages. The rows of a group follow each other; groups
ascend."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from .column import Columns
from .errors import stopping
from .join import join
from .output import INT, made
from .stage import Plan
from .types import Type

_GROUP = "_group"
Values = Mapping[str, Sequence[Any]]


class Ranked(NamedTuple):
    """The rows that a ranker keeps; the others are not part of the result."""

    #: The rows, as their numbers in the columns that were given, each at most once.
    rows: Sequence[int]
    #: For each of them a value in each column that is written.
    values: Values


class Ranker(Protocol):
    """Chooses rows of groups."""

    def rank(self, rows: Columns, groups: Sequence[range]) -> Ranked:
        """Whole groups, one at least: each of `groups` is where the rows of one stand in `rows`, which may have others, too.

        Groups come one after another and never twice; what is given may not depend on how many come at once.
        """


class Aggregator(Protocol):
    """Makes one row of each group. It folds rows as they come, so that a group may be larger than memory."""

    def add(self, rows: Columns, group: range) -> None:
        """More rows of the group at work: those of `group`."""

    def close(self) -> bool:
        """The group at work is complete. `False` when it is not part of the result."""

    def take(self) -> Values:
        """A value in each column that is written for each group for which `close` gave `True` since the last time.

        There may be no such group: then there are no values.
        """


class Ranking:
    """Rows wait until their group is complete."""

    def __init__(self, plan: Plan, ranker: Ranker) -> None:
        self.plan = plan
        self.ranker = ranker
        #: The last group so far, and the pieces of it.
        self.group: int | None = None
        self.waiting: list[tuple[Columns, range]] = []
        #: Rows of the messages so far, and of those the ones before the last group.
        self.rows = 0
        self.before = 0

    def push(self, message: bytes) -> list[bytes]:
        rows, groups = _cut(self.plan.reads, message)
        if groups and groups[0][0] == self.group:
            self.waiting.append((rows, groups.pop(0)[1]))
        answers = []
        if groups:
            *whole, (self.group, last) = groups
            answers = self.finish() + self._rank(self.rows, rows, [group for _, group in whole])
            self.waiting, self.before = [(rows, last)], self.rows + last.start
        self.rows += rows.rows
        return answers

    def finish(self) -> list[bytes]:
        if not self.waiting:
            return []
        rows = join(self.waiting)
        return self._rank(self.before, rows, [range(rows.rows)])

    def _rank(self, before: int, rows: Columns, groups: list[range]) -> list[bytes]:
        """Whole groups of rows that come after so many others."""
        if not groups:
            return []
        with stopping():
            kept, values = self.ranker.rank(rows, groups)
        return made(self.plan.writes, values, "_row", [before + row for row in kept])


class Aggregating:
    """Groups are added to as they come."""

    def __init__(self, plan: Plan, aggregator: Aggregator) -> None:
        self.plan = plan
        self.aggregator = aggregator
        #: The group at work.
        self.group: int | None = None
        #: Whether groups are complete of which nothing was taken yet, and those of them that have a row.
        self.complete = False
        self.closed: list[int] = []

    def push(self, message: bytes) -> list[bytes]:
        rows, groups = _cut(self.plan.reads, message)
        with stopping():
            for number, group in groups:
                if number != self.group:
                    self._close()
                    self.group = number
                self.aggregator.add(rows, group)
            return self._answer()

    def finish(self) -> list[bytes]:
        with stopping():
            self._close()
            return self._answer()

    def _close(self) -> None:
        if self.group is None:
            return
        if self.aggregator.close():
            self.closed.append(self.group)
        self.complete = True
        self.group = None

    def _answer(self) -> list[bytes]:
        if not self.complete:
            return []
        closed, self.closed, self.complete = self.closed, [], False
        return made(self.plan.writes, self.aggregator.take(), _GROUP, closed)


def _cut(reads: dict[str, Type], message: bytes) -> tuple[Columns, list[tuple[int, range]]]:
    """The columns of a message, and where each group stands in it."""
    given = Columns.read({**reads, _GROUP: INT}, message)
    columns = Columns(given.rows, {name: given[name] for name in reads})
    return columns, list(_runs(given[_GROUP].values))


def _runs(numbers: memoryview) -> Iterator[tuple[int, range]]:
    start = 0
    while start < len(numbers):
        end = bisect_right(numbers, numbers[start], start)
        yield numbers[start], range(start, end)
        start = end
