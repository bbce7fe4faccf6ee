"""Decoders, transformers and validators over columns, and what a column gives."""

import unittest
from dataclasses import dataclass
from datetime import date
from types import SimpleNamespace
from typing import Annotated, Any

from crisol import BigInt, Column, Columns, Failure, Int, Rejections, Type, columns, decimal
from crisol.encode import encode
from crisol.testing import Rejected, check, decode, transform


@dataclass
class Row:
    name: str | None
    cents: Annotated[int, decimal(18, 2)] | None


@dataclass
class Options:
    column: str = "a"


@columns.transformer(name="doubled", version="0.1.0")
class Doubled:
    """Rows twice; without a name they are refused, without cents dropped."""

    reads = Row
    writes = {"cents": BigInt, "name": str}

    def push(self, rows: Columns, out: columns.Output) -> None:
        names, cents = rows["name"].tolist(), rows["cents"].tolist()
        origin = []
        for row in reversed(range(rows.rows)):
            if names[row] is None:
                out.reject(row, "no_name", f"row {row}")
            elif cents[row] is None:
                out.filter(row, "free")
            else:
                origin += [row, row]
        origin.sort()
        out.write(origin, {"name": rows["name"].take(origin), "cents": rows["cents"].take(origin)})


@columns.validator(name="positive", version="0.1.0")
class Positive:
    reads = {"cents": Annotated[int, decimal(18, 2)] | None}

    def check(self, rows: Columns, broken: Rejections) -> None:
        for row, cents in enumerate(rows["cents"]):
            if cents is None:
                broken.filter(row, "none")
            elif cents <= 0:
                broken.reject(row, "not_positive", f"{cents} cents")
            if cents == -1:
                broken.reject(row, "minus_one")


@columns.transformer(name="chosen", version="0.1.0", options=Options)
class Chosen:
    """The column that the options name, under the name `found`, with the type that it has."""

    @staticmethod
    def reads(options: Options, given: dict[str, Type]) -> dict[str, Type]:
        return {options.column: given[options.column]} if options.column in given else {options.column: Type("string")}

    @staticmethod
    def writes(options: Options, given: dict[str, Type]) -> dict[str, Type]:
        return {"found": Chosen.reads(options, given)[options.column]}

    def push(self, rows: Columns, out: columns.Output) -> None:
        (column,) = rows.values()
        out.write(range(rows.rows), {"found": column.tolist()})


def given(**types: str) -> list[Any]:
    return [SimpleNamespace(name=name, type=type, nullable=True) for name, type in types.items()]


class Stages(unittest.TestCase):
    def test_rows_come_out_with_their_origin_and_the_others_in_their_order(self) -> None:
        found = transform(Doubled, [Row("a", 1), Row(None, 2), Row("b", None), Row("c", -3)])
        self.assertEqual(
            [(row["_row"], row["name"], row["cents"]) for row in found.rows],
            [(0, "a", 1), (0, "a", 1), (3, "c", -3), (3, "c", -3)],
        )
        self.assertEqual(found.rejected, [Rejected(1, "no_name", "row 1"), Rejected(2, "free", "", filtered=True)])
        self.assertEqual(transform(Doubled, []), ([], []))

    def test_a_validator_may_tell_of_several_rules(self) -> None:
        found = check(Positive, [Row("a", 0), Row("b", 5), Row("c", None), Row("d", -1)])
        self.assertEqual(
            found,
            [
                Rejected(0, "not_positive", "0 cents"),
                Rejected(2, "none", "", filtered=True),
                Rejected(3, "not_positive", "-1 cents"),
                Rejected(3, "minus_one", ""),
            ],
        )
        self.assertEqual(check(Positive, [Row("b", 5)]), [])

    def test_a_decoder_gets_the_messages_as_a_column(self) -> None:
        @columns.decoder(name="lengths", version="0.1.0")
        class Lengths:
            reads = {"payload": str | None}
            writes = {"length": Int}

            def push(self, rows: Columns, out: columns.Output) -> None:
                lengths = [len(text or "") for text in rows["payload"]]
                out.write(range(rows.rows), {"length": lengths})

        found = decode(Lengths, ["añ", None, ""])
        self.assertEqual([(row["_row"], row["length"]) for row in found.rows], [(0, 2), (1, 0), (2, 0)])

    def test_a_stage_that_writes_nothing_gives_no_rows(self) -> None:
        @columns.transformer(name="silent", version="0.1.0")
        class Silent:
            reads = Row
            writes = Row

            def push(self, rows: Columns, out: columns.Output) -> None:
                for row in range(rows.rows):
                    out.filter(row, "all")

        found = transform(Silent, [Row("a", 1)])
        self.assertEqual(found, ([], [Rejected(0, "all", "", filtered=True)]))

    def test_columns_of_another_length_than_the_origins_are_a_fault(self) -> None:
        @columns.transformer(name="short", version="0.1.0")
        class Short:
            reads = Row
            writes = {"cents": BigInt}

            def push(self, rows: Columns, out: columns.Output) -> None:
                out.write(range(rows.rows), {"cents": [1]})

        with self.assertRaisesRegex(ValueError, r"as many values each, here \{'cents': 1, '_row': 2\}"):
            transform(Short, [Row("a", 1), Row("b", 2)])


class Plans(unittest.TestCase):
    def test_columns_may_depend_on_the_options_and_the_input(self) -> None:
        plan = Chosen.crisol_stage.plan('{"column": "b"}', given(a="string", b="decimal(9,2)"))
        self.assertEqual([(name, type.name) for name, type in plan.reads.items()], [("b", "decimal(9,2)")])
        self.assertEqual([(name, type.name, type.nullable) for name, type in plan.writes.items()], [("found", "decimal(9,2)", True)])

    def test_columns_that_are_missing_or_of_another_type_do_not_fit(self) -> None:
        for stage, columns_given, why in [
            (Chosen, given(b="int"), "input: there is no column `a` among b"),
            (Doubled, given(name="string"), "input: there is no column `cents` among name"),
            (Doubled, given(name="string", cents="decimal(18,3)"), r"input: column `cents` is decimal\(18,3\), not decimal\(18,2\)"),
            (Positive, given(cents="bigint"), r"input: column `cents` is bigint, not decimal\(18,2\)"),
        ]:
            for call in (stage.crisol_stage.plan, lambda *told: stage.crisol_stage.open(*told, 0)):
                with self.assertRaisesRegex(Failure, why):
                    call("{}", columns_given)


class Values(unittest.TestCase):
    def column(self, hint: Any, *values: Any) -> Column:
        types = {"c": hint}
        return Columns.read(types, encode(types, {"c": values}))["c"]

    def test_a_column_is_a_sequence(self) -> None:
        column = self.column(Type("string", nullable=True), "a", None, "ñ")
        self.assertEqual((len(column), column[0], column[-1], list(column)), (3, "a", "ñ", ["a", None, "ñ"]))
        self.assertEqual((column.take([2, 0, 2]), column.take(range(1, 3))), (["ñ", "a", "ñ"], [None, "ñ"]))
        self.assertEqual((column.valid, column.null_count), ([True, False, True], 1))
        self.assertIsNone(self.column(Type("string"), "a").valid)

    def test_numbers_and_days_are_there_without_a_copy(self) -> None:
        self.assertEqual(self.column(Type("smallint"), 1, -2).values.tolist(), [1, -2])
        self.assertEqual(self.column(Type("date"), date(1970, 1, 3)).values.tolist(), [2])
        self.assertEqual(self.column(Type("timestamp", nullable=True, raw=True), -7, None).values[0], -7)
        self.assertEqual(self.column(Type("string"), "a", "bc").offsets.tolist(), [0, 1, 3])
        with self.assertRaisesRegex(TypeError, "a string has no plain values"):
            _ = self.column(Type("string"), "a").values

    def test_a_buffer_may_be_longer_than_its_values(self) -> None:
        plain = Column(Type("bigint"), 1, 0, [memoryview(b""), memoryview(bytes([7]) + bytes(12))], [])
        self.assertEqual(plain.tolist(), [7])
        text = Column(Type("string"), 1, 0, [memoryview(b""), memoryview(bytes(4) + b"\2\0\0\0\0"), memoryview(b"abc")], [])
        self.assertEqual(text.tolist(), ["ab"])


if __name__ == "__main__":
    unittest.main()
