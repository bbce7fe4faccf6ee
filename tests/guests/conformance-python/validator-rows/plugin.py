"""Rules over rows of all types: over rows."""

from collections.abc import Iterator

import crisol
from crisol import Batch, Rejection
from tests.table import Counting, Table, divides, shown


@crisol.validator(name="conformance", version="0.1.0", reuse=True, options=Counting)
class Conformance:
    def open(self, batch: Batch) -> None:
        self.asked = batch.options
        self.asked.opened()

    def check(self, row: Table, place: int) -> Iterator[Rejection]:
        self.asked.failing("push")
        number = place + 1
        if row.b is False:
            yield Rejection("b_false")
        if row.s is None:
            yield Rejection("s_null", f"row {number} has no s")
        if divides(self.asked.reject_every, number):
            yield Rejection("every", f"row {number}: {shown(row.s)}")
        if divides(self.asked.filter_every, number):
            yield Rejection.filter("skipped")
