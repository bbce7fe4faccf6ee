"""Rules over orders: the amount is positive, the currency is known, the event is not of a day to come.

Each rule asks built-in functions about a whole column, and looks at rows only when some may break it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Annotated

from crisol import Batch, Column, Columns, Micros, Option, Rejections, columns, decimal, format_timestamp

AHEAD_US_MAX = 86_400_000_000
"""How far a sender's clock may run ahead."""

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
SCALE = 2

Currencies = Annotated[
    list[str], Option(min_items=1, description="Currencies that are accepted; all when absent. A null currency passes.")
]


@dataclass
class Options:
    currencies: Currencies | None = None


@columns.validator(name="order-rules-columns-python", version="0.1.0", reuse=True, options=Options)
class OrderRules:
    reads = {"event_ts": Micros | None, "amount": Annotated[int, decimal(18, SCALE)] | None, "currency": str | None}

    def open(self, batch: Batch) -> None:
        self.currencies = batch.options.currencies
        self.latest = batch.micros + AHEAD_US_MAX

    def check(self, rows: Columns, broken: Rejections) -> None:
        self.check_amounts(rows["amount"], broken)
        if self.currencies:
            self.check_currencies(rows["currency"], self.currencies, broken)
        self.check_events(rows["event_ts"], broken)

    def check_amounts(self, amounts: Column, broken: Rejections) -> None:
        # Values of up to 18 digits are the lower of their two words.
        units = amounts.buffers[1][: 16 * len(amounts)].cast("q")[::2].tolist()
        if min(units, default=1) > 0:
            return
        for row in not_null(amounts, [row for row, value in enumerate(units) if value <= 0]):
            broken.reject(row, "amount_not_positive", f"amount is {Decimal(units[row]).scaleb(-SCALE)}")

    def check_currencies(self, currencies: Column, known: list[str], broken: Rejections) -> None:
        texts = currencies.tolist()
        unknown = set(texts).difference(known, [None])
        if not unknown:
            return
        for row, text in enumerate(texts):
            if text in unknown:
                broken.reject(row, "unknown_currency", f"`{text}` is none of {', '.join(known)}")

    def check_events(self, events: Column, broken: Rejections) -> None:
        micros = events.values.tolist()
        if max(micros, default=self.latest) <= self.latest:
            return
        for row in not_null(events, [row for row, value in enumerate(micros) if value > self.latest]):
            event = EPOCH + timedelta(microseconds=micros[row])
            broken.reject(row, "event_in_future", f"event_ts {format_timestamp(event)} is more than a day ahead")


def not_null(column: Column, rows: list[int]) -> list[int]:
    """Those of some rows that have a value."""
    valid = column.valid if rows else None
    return rows if valid is None else [row for row in rows if valid[row]]
