"""Rules over orders: the amount is positive, the currency is known, the event is not of a day to come."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated

import crisol
from crisol import Batch, Option, Rejection, decimal, format_timestamp

AHEAD_MAX = timedelta(days=1)
"""How far a sender's clock may run ahead."""

Currencies = Annotated[
    list[str], Option(min_items=1, description="Currencies that are accepted; all when absent. A null currency passes.")
]


@dataclass
class Options:
    currencies: Currencies | None = None


@dataclass(slots=True)
class Order:
    """What the rules look at."""

    event_ts: datetime | None
    amount: Annotated[Decimal, decimal(18, 2)] | None
    currency: str | None


@crisol.validator(name="order-rules-python", version="0.1.0", reuse=True, options=Options)
class OrderRules:
    def open(self, batch: Batch) -> None:
        self.currencies = batch.options.currencies
        self.latest = batch.timestamp + AHEAD_MAX

    def check(self, order: Order) -> Iterator[Rejection]:
        if order.amount is not None and order.amount <= 0:
            yield Rejection("amount_not_positive", f"amount is {order.amount}")
        if order.currency is not None and self.currencies and order.currency not in self.currencies:
            yield Rejection("unknown_currency", f"`{order.currency}` is none of {', '.join(self.currencies)}")
        if order.event_ts is not None and order.event_ts > self.latest:
            yield Rejection("event_in_future", f"event_ts {format_timestamp(order.event_ts)} is more than a day ahead")
