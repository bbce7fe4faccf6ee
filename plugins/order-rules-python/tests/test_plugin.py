import unittest
from decimal import Decimal

from crisol import Failure, parse_timestamp
from crisol.testing import check

from plugin import Order, OrderRules


def order(event: str | None, amount: str | None, currency: str | None = None) -> Order:
    return Order(event and parse_timestamp(event), amount and Decimal(amount), currency)


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
        with self.assertRaisesRegex(Failure, "no option `currencys`"):
            check(OrderRules, [], {"currencys": []})


if __name__ == "__main__":
    unittest.main()
