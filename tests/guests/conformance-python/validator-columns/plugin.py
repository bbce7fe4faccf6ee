"""Rules over rows of all types: over columns."""

from crisol import Batch, Columns, Rejections, columns
from tests.table import Counting, Table, divides, shown


@columns.validator(name="conformance", version="0.1.0", reuse=True, options=Counting)
class Conformance:
    reads = Table

    def open(self, batch: Batch) -> None:
        self.asked = batch.options
        self.asked.opened()

    def check(self, rows: Columns, broken: Rejections) -> None:
        self.asked.failing("push")
        for row, (b, s) in enumerate(zip(rows["b"], rows["s"])):
            number = row + 1
            if b is False:
                broken.reject(row, "b_false")
            if s is None:
                broken.reject(row, "s_null", f"row {number} has no s")
            if divides(self.asked.reject_every, number):
                broken.reject(row, "every", f"row {number}: {shown(s)}")
            if divides(self.asked.filter_every, number):
                broken.filter(row, "skipped")
