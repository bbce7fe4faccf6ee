import random
import unittest
from datetime import datetime, timedelta
from decimal import Decimal
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from struct import pack
from types import ModuleType
from typing import Any

from crisol import Batch, Column, Columns, Failure, Rejections, Type, parse_timestamp
from crisol.testing import NOW, check

from plugin import AHEAD_US_MAX, EPOCH, Options, OrderRules


def the_rows_way() -> ModuleType:
    """The module of `order-rules-python`, which is called `plugin`, too."""
    spec = spec_from_file_location("order_rules", Path(__file__).parents[2] / "order-rules-python/plugin.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def order(event: str | None, amount: str | None, currency: str | None = None) -> dict[str, Any]:
    at = event and parse_timestamp(event)
    return {
        "event_ts": at and (at - EPOCH) // timedelta(microseconds=1),
        "amount": amount and int(Decimal(amount) * 100),
        "currency": currency,
    }


def moment(micros: int | None) -> datetime | None:
    return None if micros is None else EPOCH + timedelta(microseconds=micros)


def amount(units: int | None) -> Decimal | None:
    return None if units is None else Decimal(units).scaleb(-2)


class Rules(unittest.TestCase):
    def test_each_broken_rule_is_named_and_nulls_pass(self) -> None:
        rows = [
            order("2026-03-14", "12.50", "EUR"),
            order(None, None),
            order("2026-04-02", "0.01"),
            order("2026-04-02T00:00:00.000001Z", "0", "PTS"),
        ]
        self.assertEqual(
            [f"{why.row} {why.code}: {why.text}" for why in check(OrderRules, rows, {"currencies": ["EUR", "USD"]})],
            [
                "3 amount_not_positive: amount is 0.00",
                "3 unknown_currency: `PTS` is none of EUR, USD",
                "3 event_in_future: event_ts 2026-04-02T00:00:00.000001Z is more than a day ahead",
            ],
        )

    def test_without_options_any_currency_is_known(self) -> None:
        self.assertEqual(check(OrderRules, [order("2026-03-14", "1", "PTS")]), [])
        self.assertEqual(check(OrderRules, []), [])
        with self.assertRaisesRegex(Failure, "no option `currencys`"):
            check(OrderRules, [], {"currencys": []})

    def test_what_stands_under_a_null_is_no_value(self) -> None:
        none, future = memoryview(b"\0"), memoryview(pack("q", NOW + 2 * AHEAD_US_MAX))
        columns = {
            "event_ts": Column(Type("timestamp"), 1, 1, [none, future], []),
            "amount": Column(Type("decimal", 18, 2), 1, 1, [none, memoryview(pack("qq", -1, -1))], []),
            "currency": Column(Type("string"), 1, 1, [none, memoryview(pack("ii", 0, 3)), memoryview(b"PTS")], []),
        }
        stage, broken = OrderRules(), Rejections()
        stage.open(Batch(Options(["EUR"]), NOW))
        stage.check(Columns(1, columns), broken)
        self.assertIsNone(broken.message())

    def test_the_rows_way_says_the_same(self) -> None:
        rows_way = the_rows_way()
        latest = NOW + AHEAD_US_MAX
        drawn = random.Random(1)
        for events, amounts, currencies in [
            ([latest - 1, latest], [1, 10**18 - 1], ["EUR", "USD"]),
            ([None, -1, latest, latest + 1], [None, 1, 0, -1, 1 - 10**18], [None, "EUR", "", "PTS", "€"]),
        ]:
            drawings = [(drawn.choice(events), drawn.choice(amounts), drawn.choice(currencies)) for _ in range(3_000)]
            raw = [dict(zip(["event_ts", "amount", "currency"], values)) for values in drawings]
            orders = [rows_way.Order(moment(event), amount(units), currency) for event, units, currency in drawings]
            for options in ({}, {"currencies": ["EUR", "USD"]}):
                self.assertEqual(check(OrderRules, raw, options), check(rows_way.OrderRules, orders, options))


if __name__ == "__main__":
    unittest.main()
