"""Every second row of a group: over columns."""

from collections.abc import Sequence
from itertools import chain

from crisol import Batch, Columns, Int, columns
from tests.table import Asking


@columns.ranker(name="conformance", version="0.1.0", reuse=True, options=Asking)
class Conformance:
    reads = {"s": str | None, "i32": Int | None}
    writes = {"place": Int, "said": str | None}

    def open(self, batch: Batch) -> None:
        self.asked = batch.options
        self.asked.opened()

    def rank(self, rows: Columns, groups: Sequence[range]) -> columns.Ranked:
        self.asked.failing("push")
        self.asked.failing("finish")
        kept = [group[::2] for group in groups]
        found = list(chain.from_iterable(kept))
        places = [place for group in kept for place in range(1, len(group) + 1)]
        return columns.Ranked(found, {"place": places, "said": rows["s"].take(found)})
