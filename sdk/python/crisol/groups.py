"""Rankers and aggregators over rows: each becomes one over columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

from .column import Columns
from .errors import Failure
from .grouping import Aggregating, Ranked, Ranking, Values
from .hints import columns_of
from .output import values_of
from .rows import given_back, hinted, objects
from .stage import Plan, definer, wanted
from .types import Type


def _records(record: type, rows: Columns, some: range) -> list[Any]:
    for name, column in rows.items():
        if column.null_count and not column.type.nullable:
            raise Failure("input", f"column `{name}` is null in a row; drop such rows before, or declare it `| None`")
    return objects(record, rows, some)


def _ranked(made_by: type) -> tuple[type, type]:
    """What a ranker reads and what it adds."""
    (group, *_), kept = hinted(made_by, "rank")
    return get_args(group)[0], get_args(get_args(kept)[0])[1]


def _ranking(made_by: type) -> Callable[[Any, dict[str, Type]], Plan]:
    reads, writes = map(columns_of, _ranked(made_by))
    return lambda _, given: Plan(wanted(reads, given), writes)


class _Ranker:
    def __init__(self, plan: Plan, stage: Any) -> None:
        self.record, _ = _ranked(type(stage))
        self.writes = plan.writes
        self.stage = stage

    def rank(self, rows: Columns, groups: Sequence[range]) -> Ranked:
        first = groups[0].start
        records = _records(self.record, rows, range(first, groups[-1].stop))
        kept: list[int] = []
        added: list[Any] = []
        for group in groups:
            for place, row in self.stage.rank(records[group.start - first : group.stop - first]):
                kept.append(group.start + place)
                added.append(row)
        return Ranked(kept, values_of(added, self.writes))


def _aggregated(made_by: type) -> tuple[type, type]:
    """What an aggregator reads and what it makes."""
    (_, record, *_), _ = hinted(made_by, "add")
    _, made = hinted(made_by, "finish")
    return record, given_back(made)


def _aggregating(made_by: type) -> Callable[[Any, dict[str, Type]], Plan]:
    reads, writes = map(columns_of, _aggregated(made_by))
    return lambda _, given: Plan(wanted(reads, given), writes)


class _Aggregator:
    def __init__(self, plan: Plan, stage: Any) -> None:
        self.record, _ = _aggregated(type(stage))
        self.writes = plan.writes
        self.stage = stage
        self.state = stage.start()
        self.made: list[Any] = []
        #: The rows of a message, as all its groups take them.
        self.rows: Columns | None = None
        self.records: list[Any] = []

    def add(self, rows: Columns, group: range) -> None:
        if rows is not self.rows:
            self.rows, self.records = rows, _records(self.record, rows, range(rows.rows))
        add, state = self.stage.add, self.state
        for row in self.records[group.start : group.stop]:
            add(state, row)

    def close(self) -> bool:
        row = self.stage.finish(self.state)
        self.state = self.stage.start()
        if row is not None:
            self.made.append(row)
        return row is not None

    def take(self) -> Values:
        made, self.made = self.made, []
        return values_of(made, self.writes)


#: Chooses rows of a group: a class with `rank(self, group: list[Row]) -> Iterator[tuple[int, Output]]`.
ranker = definer("ranker", ["rank"], _ranking, lambda plan, stage: Ranking(plan, _Ranker(plan, stage)))
#: Makes one row of a group: a class with `start(self) -> State`, `add(self, state: State, row: Row)` and
#: `finish(self, state: State) -> Output | None`.
aggregator = definer(
    "aggregator", ["start", "add", "finish"], _aggregating, lambda plan, stage: Aggregating(plan, _Aggregator(plan, stage))
)
