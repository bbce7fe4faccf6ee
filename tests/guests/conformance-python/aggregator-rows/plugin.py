"""How many rows a group has, their sum and the longest text."""

from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Annotated

import crisol
from crisol import Batch, decimal
from tests.table import Asking

EXACT = Context(prec=38)


@dataclass(kw_only=True)
class Options(Asking):
    skip_single: bool = False


@dataclass(slots=True)
class Row:
    d18: Annotated[Decimal, decimal(18, 4)] | None
    s: str | None


@dataclass(slots=True)
class Folded:
    rows: int = 0
    total: Annotated[Decimal, decimal(38, 4)] | None = None
    longest: str | None = None


@crisol.aggregator(name="conformance", version="0.1.0", reuse=True, options=Options)
class Conformance:
    def open(self, batch: Batch) -> None:
        self.asked = batch.options
        self.asked.opened()

    def start(self) -> Folded:
        return Folded()

    def add(self, folded: Folded, row: Row) -> None:
        self.asked.failing("push")
        folded.rows += 1
        if row.d18 is not None:
            folded.total = EXACT.add(folded.total or Decimal(0), row.d18)
        if row.s is not None and (folded.longest is None or len(row.s.encode()) > len(folded.longest.encode())):
            folded.longest = row.s

    def finish(self, folded: Folded) -> Folded | None:
        self.asked.failing("finish")
        return None if self.asked.skip_single and folded.rows == 1 else folded
