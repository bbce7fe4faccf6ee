"""The messages of `sdk/vectors`, read and written."""

import json
import math
import unittest
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from crisol.column import Columns
from crisol.encode import encode
from crisol.types import Type, parse

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
DIGITS = ("bigint", "decimal", "timestamp")


def vectors() -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    for described in sorted(VECTORS.glob("*.json")):
        yield described.stem, described.with_suffix(".bin").read_bytes(), json.loads(described.read_text())


def raw(type: Type) -> Type:
    """The type with whole numbers instead of objects, also inside."""
    inside = tuple((name, raw(inner)) for name, inner in type.inside)
    return replace(type, raw=type.kind in ("decimal", "date", "timestamp"), inside=inside)


def told(type: Type, value: Any) -> Any:
    """A value as the JSON of vectors has it."""
    if value is None:
        return None
    inner = [inner for _, inner in type.inside]
    if type.kind in DIGITS:
        return str(value)
    if type.kind == "binary":
        return value.hex()
    if type.kind == "array":
        return [told(inner[0], element) for element in value]
    if type.kind == "map":
        return [[told(inner[0], key), told(inner[1], element)] for key, element in value.items()]
    if type.kind == "struct":
        return [told(kind, element) for kind, element in zip(inner, value.values())]
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    return value


def rows(columns: Columns) -> list[list[Any]]:
    shown = [[told(column.type, value) for value in column] for column in columns.values()]
    return [[values[row] for values in shown] for row in range(columns.rows)]


class Vectors(unittest.TestCase):
    def test_each_message_holds_what_is_said_and_comes_back(self) -> None:
        kinds = set()
        for name, message, described in vectors():
            types = {
                column["name"]: replace(raw(parse(column["type"])), nullable=column["nullable"])
                for column in described["columns"]
            }
            kinds |= {type.kind for type in types.values()}
            with self.subTest(name):
                columns = Columns.read(types, message)
                self.assertEqual(rows(columns), described["rows"])
                values = {name: column.tolist() for name, column in columns.items()}
                self.assertEqual(rows(Columns.read(types, encode(types, values))), described["rows"])
        self.assertEqual(len(kinds), 15, f"types of all kinds: {kinds}")

    def test_dates_moments_and_decimals_come_back_as_objects(self) -> None:
        for name in ("date", "timestamp", "decimal"):
            with self.subTest(name):
                described = json.loads((VECTORS / f"{name}.json").read_text())
                types = {"c": replace(parse(described["columns"][0]["type"]), nullable=True)}
                objects = Columns.read(types, (VECTORS / f"{name}.bin").read_bytes())["c"].tolist()
                written = encode(types, {"c": objects})
                self.assertEqual(rows(Columns.read({"c": raw(types["c"])}, written)), described["rows"])


if __name__ == "__main__":
    unittest.main()
