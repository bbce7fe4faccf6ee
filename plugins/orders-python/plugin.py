"""Decodes the JSON messages of `orders.v1`. Version 2 added `customer_id`, `country` and `currency`."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated

import crisol
from crisol import Int, Rejection, decimal


@dataclass(slots=True)
class Order:
    order_id: str
    event_ts: datetime
    amount: Annotated[Decimal, decimal(18, 2)]
    schema_version: Int
    customer_id: str | None
    country: str | None
    currency: str | None


@crisol.decoder(name="orders-python", version="0.1.0", schema_versions="1..2", reuse=True)
class Orders:
    def decode(self, message: str) -> Order:
        order = crisol.from_json(Order, message)
        if order.schema_version not in (1, 2):
            raise Rejection("unsupported_schema_version", f"version {order.schema_version}; 1 and 2 are known")
        return order
