"""How many rows a group has, their sum and the longest text: over columns."""

from dataclasses import dataclass
from typing import Annotated, Any

from crisol import Batch, BigInt, Columns, columns, decimal
from tests.table import Asking


@dataclass(kw_only=True)
class Options(Asking):
    skip_single: bool = False


def size(text: str) -> int:
    return len(text.encode())


@columns.aggregator(name="conformance", version="0.1.0", reuse=True, options=Options)
class Conformance:
    reads = {"d18": Annotated[int, decimal(18, 4)] | None, "s": str | None}
    writes = {"rows": BigInt, "total": Annotated[int, decimal(38, 4)] | None, "longest": str | None}

    def open(self, batch: Batch) -> None:
        self.asked = batch.options
        self.asked.opened()
        self.begin()
        self.made: list[tuple[Any, ...]] = []

    def begin(self) -> None:
        self.rows, self.total, self.longest = 0, None, None

    def add(self, rows: Columns, group: range) -> None:
        self.asked.failing("push")
        self.rows += len(group)
        units = [value for value in rows["d18"].take(group) if value is not None]
        if units:
            self.total = (self.total or 0) + sum(units)
        texts = [text for text in (self.longest, *rows["s"].take(group)) if text is not None]
        self.longest = max(texts, key=size, default=None)

    def close(self) -> bool:
        self.asked.failing("finish")
        wanted = self.rows > 1 or not self.asked.skip_single
        if wanted:
            self.made.append((self.rows, self.total, self.longest))
        self.begin()
        return wanted

    def take(self) -> dict[str, tuple[Any, ...]]:
        made, self.made = self.made, []
        return dict(zip(self.writes, zip(*made)))
