"""The examples of docs/plugin-python.md."""

import re
import unittest
from pathlib import Path
from typing import Any

from crisol.testing import Rejected, aggregate, check, decode, rank

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "plugin-python.md"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def example(decorator: str) -> Any:
    """The stage of the example with this decorator."""
    (source,) = [found for found in BLOCK.findall(GUIDE.read_text()) if f"@{decorator}(" in found and "import " in found]
    names: dict[str, Any] = {"__name__": "plugin"}
    exec(source, names)
    (stage,) = [value for value in names.values() if hasattr(value, "crisol_stage")]
    return stage


def points(*groups: list[int | None]) -> list[list[dict[str, int | None]]]:
    return [[{"points": value} for value in group] for group in groups]


class Guide(unittest.TestCase):
    def test_the_decoder(self) -> None:
        sale = '{"sku": "%s", "at": "2026-03-14T09:26:53Z", "price": 12.5}'
        found = decode(example("crisol.decoder"), [sale % "a-1", sale % ""])
        self.assertEqual([(row["_row"], row["sku"], str(row["price"])) for row in found.rows], [(0, "a-1", "12.50")])
        self.assertEqual(found.rejected, [Rejected(1, "no_sku", "the sku is empty")])

    def test_the_ranker_over_columns(self) -> None:
        found = rank(example("columns.ranker"), points([1, 5, None, 7, 5], [None], [-1, 2]))
        self.assertEqual(
            [(row["_row"], row["place"]) for row in found],
            [(3, 1), (1, 2), (4, 3), (5, 1), (7, 1), (6, 2)],
        )

    def test_the_aggregator_over_columns(self) -> None:
        found = aggregate(example("columns.aggregator"), points([1, 5, None, 7], [None], [-1]))
        self.assertEqual([(row["_group"], row["plays"], row["points"]) for row in found], [(0, 4, 13), (1, 1, 0), (2, 1, -1)])

    def test_the_validator_over_columns(self) -> None:
        found = check(example("columns.validator"), [{"amount": 1}, {"amount": None}, {"amount": 0}])
        self.assertEqual(found, [Rejected(2, "amount_not_positive", "amount is 0 cents")])


if __name__ == "__main__":
    unittest.main()
