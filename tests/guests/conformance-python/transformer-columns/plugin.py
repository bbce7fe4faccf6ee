"""Rows of all types, given back as they came: over columns."""

from crisol import Batch, Columns, columns
from tests.table import NAMES, Copying, Table, divides, shown


@columns.transformer(name="conformance", version="0.1.0", reuse=True, options=Copying)
class Conformance:
    reads = Table
    writes = Table

    def open(self, batch: Batch) -> None:
        self.asked = batch.options
        self.now = batch.micros
        self.asked.opened()

    def push(self, rows: Columns, out: columns.Output) -> None:
        self.asked.failing("push")
        origin = []
        texts = rows["s"].tolist()
        for row in range(rows.rows):
            number = row + 1
            if divides(self.asked.reject_every, number):
                out.reject(row, "every", f"row {number}: {shown(texts[row])}")
            elif divides(self.asked.filter_every, number):
                out.filter(row, "skipped")
            else:
                origin += [row] * self.asked.repeat
        values = {name: rows[name].take(origin) for name in NAMES}
        if self.asked.stamp:
            values["ts"] = [self.now] * len(origin)
        out.write(origin, values)
