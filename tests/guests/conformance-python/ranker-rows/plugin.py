"""Every second row of a group."""

from collections.abc import Iterator
from dataclasses import dataclass

import crisol
from crisol import Batch, Int
from tests.table import Asking


@dataclass(slots=True)
class Row:
    s: str | None
    i32: Int | None


@dataclass(slots=True)
class Kept:
    place: Int
    said: str | None


@crisol.ranker(name="conformance", version="0.1.0", reuse=True, options=Asking)
class Conformance:
    def open(self, batch: Batch) -> None:
        self.asked = batch.options
        self.asked.opened()

    def rank(self, group: list[Row]) -> Iterator[tuple[int, Kept]]:
        self.asked.failing("push")
        self.asked.failing("finish")
        for row in range(0, len(group), 2):
            yield row, Kept(row // 2 + 1, group[row].s)
