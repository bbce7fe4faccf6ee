"""Rows of all types, given back as they came: over rows."""

from dataclasses import replace

import crisol
from crisol import Batch, Rejection
from tests.table import Copying, Table, divides, shown


@crisol.transformer(name="conformance", version="0.1.0", reuse=True, options=Copying)
class Conformance:
    def open(self, batch: Batch) -> None:
        self.asked = batch.options
        self.now = batch.micros
        self.asked.opened()

    def transform(self, row: Table, place: int) -> list[Table]:
        self.asked.failing("push")
        number = place + 1
        if divides(self.asked.reject_every, number):
            raise Rejection("every", f"row {number}: {shown(row.s)}")
        if divides(self.asked.filter_every, number):
            raise Rejection.filter("skipped")
        given = replace(row, ts=self.now) if self.asked.stamp else row
        return [given] * self.asked.repeat
