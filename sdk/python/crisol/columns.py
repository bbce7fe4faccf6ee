"""Stages over whole columns: for speed, and where the columns are only known from the options.

`reads` and `writes` of the class are a dataclass, or types by name, or a static method that makes such of the options and of
the input's types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .column import Columns
from .grouping import Aggregating, Ranked, Ranking
from .hints import columns_of
from .output import Rejections, with_index
from .stage import Plan, definer, wanted
from .types import Type

__all__ = ["Output", "Ranked", "aggregator", "decoder", "ranker", "transformer", "validator"]


class Output(Rejections):
    """Rows that come out, and rows that do not."""

    def __init__(self, writes: dict[str, Type]) -> None:
        super().__init__()
        self._writes = writes
        self._origin: Sequence[int] = ()
        self._values: Mapping[str, Sequence[Any]] = {name: () for name in writes}

    def write(self, origin: Sequence[int], values: Mapping[str, Sequence[Any]]) -> None:
        """The values of the rows that come out, by column, and the number of the row that each came from, never descending."""
        self._origin, self._values = origin, values

    def rows(self) -> bytes:
        return with_index(self._writes, self._values, "_row", self._origin)


def _planning(made_by: Any) -> Callable[[Any, dict[str, Type]], Plan]:
    def columns(name: str, options: Any, given: dict[str, Type]) -> dict[str, Type]:
        declared = getattr(made_by, name, {})
        is_made = callable(declared) and not isinstance(declared, type)
        return columns_of(declared(options, given) if is_made else declared)

    def plan(options: Any, given: dict[str, Type]) -> Plan:
        return Plan(wanted(columns("reads", options, given), given), columns("writes", options, given))

    return plan


class _Pushing:
    def __init__(self, plan: Plan, stage: Any) -> None:
        self.plan = plan
        self.stage = stage

    def push(self, message: bytes) -> tuple[bytes, bytes | None]:
        out = Output(self.plan.writes)
        self.stage.push(Columns.read(self.plan.reads, message), out)
        return out.rows(), out.message()


class _Checking:
    def __init__(self, plan: Plan, stage: Any) -> None:
        self.plan = plan
        self.stage = stage

    def check(self, message: bytes) -> bytes | None:
        broken = Rejections()
        self.stage.check(Columns.read(self.plan.reads, message), broken)
        return broken.message()


#: A class with `push(self, rows: Columns, out: Output)`.
decoder = definer("decoder", ["push"], _planning, _Pushing)
#: A class with `push(self, rows: Columns, out: Output)`.
transformer = definer("transformer", ["push"], _planning, _Pushing)
#: A class with `check(self, rows: Columns, broken: Rejections)`.
validator = definer("validator", ["check"], _planning, _Checking)
#: A class with `rank(self, rows: Columns, groups: Sequence[range]) -> Ranked`; `grouping.Ranker` says more.
ranker = definer("ranker", ["rank"], _planning, Ranking)
#: A class with `add(self, rows: Columns, group: range)`, `close(self) -> bool` and
#: `take(self) -> Mapping[str, Sequence]`; `grouping.Aggregator` says more.
aggregator = definer("aggregator", ["add", "close", "take"], _planning, Aggregating)
