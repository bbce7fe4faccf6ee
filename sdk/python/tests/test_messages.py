import unittest
from datetime import date
from decimal import Decimal

from crisol.bits import pack, unpack
from crisol.column import Columns
from crisol.encode import encode
from crisol.hints import columns_of
from crisol.moments import parse_timestamp
from crisol.types import Type, parse
from tests.table import NAMES, Deep, Pair, Table

ROWS = [
    Table(
        True, -128, -32768, -(2**31), -(2**63), 0.5, 1e300, Decimal("-9999999.99"), Decimal("12.3456"),
        Decimal("9" * 28 + "." + "9" * 10), "añ😀", b"\0\xff", date(1, 1, 1), -(2**63), [1, None], ["", None, "x"],
        Pair(1, None), {"k": None, "": 2**63 - 1}, [Deep("k", [1.5, None]), None, Deep(None, None)],
    ),
    Table(*[None] * len(NAMES)),
    Table(
        False, 127, 32767, 2**31 - 1, 2**63 - 1, -0.0, float("inf"), Decimal("0.00"), Decimal("-0.0001"), Decimal(0), "",
        b"", date(9999, 12, 31), 2**63 - 1, [], [], Pair(None, ""), {}, [],
    ),
]


class Messages(unittest.TestCase):
    def test_values_of_all_types_come_back(self) -> None:
        types = columns_of(Table)
        for rows in (ROWS, ROWS[:1], ROWS[1:2] * 9, ROWS * 100, []):
            values = {name: [getattr(row, name) for row in rows] for name in NAMES}
            columns = Columns.read(types, encode(types, values))
            self.assertEqual(columns.rows, len(rows))
            for name in NAMES:
                self.assertEqual(columns[name].tolist(), values[name], name)

    def test_a_null_where_there_may_be_none_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "column `a`: the value of row 1 is None"):
            encode({"a": Type("int")}, {"a": [1, None]})

    def test_values_that_do_not_fit_are_refused_with_their_column(self) -> None:
        for type, value in [("tinyint", 128), ("decimal(3,2)", Decimal(10)), ("string", 7), ("string", "\ud800"), ("date", 1)]:
            with self.assertRaisesRegex(ValueError, "column `a`"):
                encode({"a": parse(type)}, {"a": [value]})

    def test_bits_come_back(self) -> None:
        for length in (0, 1, 7, 8, 9, 1000):
            bits = [row % 3 == 0 for row in range(length)]
            self.assertEqual(unpack(memoryview(pack(bits)), length), bits)


class Types(unittest.TestCase):
    def test_names_come_back(self) -> None:
        for name in ("string", "decimal(18,2)", "array<struct<sku:string,`q ty`:int>>", "map<string,array<bigint>>"):
            self.assertEqual(parse(name).name, name)
        self.assertEqual(parse(" struct< a int , b : dec(5) > ").name, "struct<a:int,b:decimal(5,0)>")
        for wrong in ("", "strin", "array<int", "decimal(39,2)", "int int", "map<map<int,int>,int>"):
            with self.assertRaises(ValueError):
                parse(wrong)


class Moments(unittest.TestCase):
    def test_texts_of_one_moment(self) -> None:
        usual = parse_timestamp("2026-03-14T09:26:53Z")
        for text in ("2026-03-14 09:26:53", "2026-03-14T10:26:53+01:00", "2026-03-14t04:26:53-0500", "2026-03-14T09:26:53.0000009Z"):
            self.assertEqual(parse_timestamp(text), usual, text)
        self.assertEqual(parse_timestamp("2026-03-14"), parse_timestamp("2026-03-14T00:00"))
        for text in ("", "2026-02-30", "2026-03-14T24:00:00Z", "2026-03-14T09:26:53+19:00", "20260314", "２026-03-14", "2026-03-14T09:26:60Z"):
            self.assertIsNone(parse_timestamp(text), text)


if __name__ == "__main__":
    unittest.main()
