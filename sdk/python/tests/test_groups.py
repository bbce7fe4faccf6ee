"""Rankers and aggregators: the same stages over rows and over columns, and groups that are cut over messages."""

import unittest
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from types import SimpleNamespace
from typing import Any
from unittest import mock

import crisol
from crisol import BigInt, Columns, Failure, Int, Rejection, columns
from crisol.encode import encode
from crisol.output import INT
from crisol.testing import aggregate, rank
from crisol.types import Type


@dataclass
class Row:
    s: str | None
    n: Int


@dataclass
class Place:
    place: Int


@dataclass
class Sum:
    rows: BigInt = 0
    total: BigInt = 0


@crisol.ranker(name="best", version="0.1.0")
class BestOfRows:
    """The two rows with the highest `n` that is above zero, the best first."""

    def rank(self, group: list[Row]) -> Iterator[tuple[int, Place]]:
        best = sorted((row for row in range(len(group)) if group[row].n > 0), key=lambda row: -group[row].n)
        for place, row in enumerate(best[:2]):
            yield row, Place(place + 1)


@columns.ranker(name="best", version="0.1.0")
class BestOfColumns:
    reads = Row
    writes = Place

    def rank(self, rows: Columns, groups: Sequence[range]) -> columns.Ranked:
        numbers = rows["n"].tolist()
        best = [sorted((row for row in group if numbers[row] > 0), key=lambda row: -numbers[row])[:2] for group in groups]
        places = [place + 1 for kept in best for place in range(len(kept))]
        return columns.Ranked([row for kept in best for row in kept], {"place": places})


@crisol.aggregator(name="sum", version="0.1.0")
class SumOfRows:
    """How many rows there are and their sum; groups whose sum is below zero are left out."""

    def start(self) -> Sum:
        return Sum()

    def add(self, state: Sum, row: Row) -> None:
        state.rows += 1
        state.total += row.n

    def finish(self, state: Sum) -> Sum | None:
        return state if state.total >= 0 else None


@columns.aggregator(name="sum", version="0.1.0")
class SumOfColumns:
    reads = Row
    writes = Sum

    def __init__(self) -> None:
        self.rows = self.total = 0
        self.made: dict[str, list[int]] = {"rows": [], "total": []}

    def add(self, rows: Columns, group: range) -> None:
        self.rows += len(group)
        self.total += sum(rows["n"].values[group.start : group.stop])

    def close(self) -> bool:
        rows, total = self.rows, self.total
        self.rows = self.total = 0
        if total < 0:
            return False
        self.made["rows"].append(rows)
        self.made["total"].append(total)
        return True

    def take(self) -> dict[str, list[int]]:
        made, self.made = self.made, {"rows": [], "total": []}
        return made


RANKERS = (BestOfRows, BestOfColumns)
AGGREGATORS = (SumOfRows, SumOfColumns)
COLUMNS = {"s": Type("string", nullable=True), "n": Type("int", nullable=True)}


def group(*numbers: int) -> list[Row]:
    return [Row(f"row {number}", number) for number in numbers]


def message(rows: Sequence[tuple[int, int | None]]) -> bytes:
    """Rows of a group and an `n`."""
    numbers = [number for _, number in rows]
    values = {"s": [None] * len(rows), "n": numbers, "_group": [group for group, _ in rows]}
    return encode({**COLUMNS, "_group": INT}, values)


def session(stage: Any) -> Any:
    given = [SimpleNamespace(name=name, type=type.name, nullable=True) for name, type in COLUMNS.items()]
    return stage.crisol_stage.open("{}", given, 0)


def read(answer: bytes, *names: str) -> list[tuple[int, ...]]:
    found = Columns.read({name: Type("bigint") if name in ("rows", "total") else INT for name in names}, answer)
    return list(zip(*(column.tolist() for column in found.values())))


def refusing(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def refuse(*_: Any) -> Any:
        raise Rejection("odd", "it is odd")

    return refuse


class Rankers(unittest.TestCase):
    def test_rows_that_are_kept_have_their_number_over_all_groups(self) -> None:
        groups = [group(1, 3, 2), group(-1), group(5), group(-1, -2, 0, 9, 8, 10, 7)]
        for stage in RANKERS:
            self.assertEqual(
                [(row["_row"], row["place"]) for row in rank(stage, groups)],
                [(1, 1), (2, 2), (4, 1), (10, 1), (8, 2)],
                stage,
            )

    def test_a_group_is_ranked_when_the_next_one_begins_however_messages_are_cut(self) -> None:
        for stage in RANKERS:
            opened = session(stage)
            self.assertEqual(opened.push(message([(0, 1)])), [])
            self.assertEqual(opened.push(message([])), [])
            self.assertEqual(opened.push(message([(0, 3), (0, 2)])), [])
            cut, whole = opened.push(message([(0, 4), (2, -1), (3, 5), (7, 6)]))
            self.assertEqual(read(cut, "place", "_row"), [(1, 3), (2, 1)])
            self.assertEqual(read(whole, "place", "_row"), [(1, 5)])
            (last,) = opened.finish()
            self.assertEqual(read(last, "place", "_row"), [(1, 6)])

    def test_nothing_comes_of_a_session_without_rows_and_of_groups_without_kept_rows(self) -> None:
        for stage in RANKERS:
            self.assertEqual(session(stage).finish(), [])
            opened = session(stage)
            self.assertEqual([opened.push(message([])), opened.finish()], [[], []])
            opened = session(stage)
            self.assertEqual([opened.push(message([(0, -1), (1, 0), (1, 0)])), opened.finish()], [[], []])

    def test_a_ranker_may_read_and_add_nothing(self) -> None:
        @columns.ranker(name="first", version="0.1.0")
        class First:
            def rank(self, rows: Columns, groups: Sequence[range]) -> columns.Ranked:
                return columns.Ranked([group.start for group in groups], {})

        self.assertEqual([row["_row"] for row in rank(First, [group(1, 2), group(3), group(4, 5, 6)])], [0, 2, 3])

    def test_columns_of_another_length_than_the_rows_are_a_fault(self) -> None:
        @columns.ranker(name="short", version="0.1.0")
        class Short:
            writes = Place

            def rank(self, rows: Columns, groups: Sequence[range]) -> columns.Ranked:
                return columns.Ranked([0], {"place": []})

        with self.assertRaisesRegex(ValueError, r"as many values each, here \{'place': 0, '_row': 1\}"):
            rank(Short, [group(1)])

    def test_values_without_rows_are_a_fault(self) -> None:
        @columns.ranker(name="none", version="0.1.0")
        class NoRows:
            writes = Place

            def rank(self, rows: Columns, groups: Sequence[range]) -> columns.Ranked:
                return columns.Ranked([], {"place": [1, 1]})

        with self.assertRaisesRegex(ValueError, r"as many values each, here \{'place': 2, '_row': 0\}"):
            rank(NoRows, [group(1)])


class Aggregators(unittest.TestCase):
    def test_each_group_gives_one_row_or_none(self) -> None:
        groups = [group(1, 3, 2), group(-1), group(5), group(*range(100)), group(0)]
        for stage in AGGREGATORS:
            self.assertEqual(
                [(row["_group"], row["rows"], row["total"]) for row in aggregate(stage, groups)],
                [(0, 3, 6), (2, 1, 5), (3, 100, 4950), (4, 1, 0)],
                stage,
            )

    def test_a_group_is_closed_when_the_next_one_begins_however_messages_are_cut(self) -> None:
        for stage in AGGREGATORS:
            opened = session(stage)
            self.assertEqual(opened.push(message([(0, 1)])), [])
            self.assertEqual(opened.push(message([])), [])
            self.assertEqual(opened.push(message([(0, 3), (0, 2)])), [])
            (made,) = opened.push(message([(0, 4), (2, -1), (3, 5), (7, 6)]))
            self.assertEqual(read(made, "rows", "total", "_group"), [(4, 10, 0), (1, 5, 3)])
            (made,) = opened.finish()
            self.assertEqual(read(made, "rows", "total", "_group"), [(1, 6, 7)])

    def test_nothing_comes_of_a_session_without_rows_and_of_groups_that_are_left_out(self) -> None:
        for stage in AGGREGATORS:
            self.assertEqual(session(stage).finish(), [])
            opened = session(stage)
            self.assertEqual([opened.push(message([])), opened.finish()], [[], []])
            opened = session(stage)
            self.assertEqual([opened.push(message([(0, -1), (1, -2), (1, 0)])), opened.finish()], [[], []])

    def test_columns_of_another_length_than_the_groups_are_a_fault(self) -> None:
        @columns.aggregator(name="short", version="0.1.0")
        class Short:
            writes = Place

            def add(self, rows: Columns, group: range) -> None:
                pass

            def close(self) -> bool:
                return True

            def take(self) -> dict[str, list[int]]:
                return {"place": [1, 2]}

        with self.assertRaisesRegex(ValueError, r"as many values each, here \{'place': 2, '_group': 1\}"):
            aggregate(Short, [group(1)])

    def test_values_without_groups_are_a_fault(self) -> None:
        with mock.patch.object(SumOfColumns, "take", lambda _: {"rows": [1], "total": [1]}):
            for groups in ([group(-1)], [group(-1), group(-2)]):
                with self.assertRaisesRegex(ValueError, r"as many values each, here \{'rows': 1, 'total': 1, '_group': 0\}"):
                    aggregate(SumOfColumns, groups)


class Faults(unittest.TestCase):
    def test_a_null_where_there_may_be_none_stops_stages_over_rows(self) -> None:
        for stage in (BestOfRows, SumOfRows):
            opened = session(stage)
            with self.assertRaisesRegex(Failure, "input: column `n` is null in a row"):
                opened.push(message([(0, 1), (1, None), (2, 1)]))
                opened.finish()

    def test_a_rejection_stops_stages_over_groups(self) -> None:
        for stage, method in [(BestOfRows, "rank"), (BestOfColumns, "rank"), (SumOfRows, "add"), (SumOfColumns, "close")]:
            with mock.patch.object(stage, method, refusing(getattr(stage, method))):
                opened = session(stage)
                with self.assertRaisesRegex(Failure, "input: a row of a group is refused, odd: it is odd"):
                    opened.push(message([(0, 1)]))
                    opened.finish()

    def test_a_rejection_stops_stages_over_groups_also_before_their_rows(self) -> None:
        for stage, method in [*((stage, "open") for stage in RANKERS + AGGREGATORS), (SumOfRows, "start")]:
            with mock.patch.object(stage, method, refusing(lambda: None), create=method == "open"):
                with self.assertRaisesRegex(Failure, "input: a row of a group is refused, odd: it is odd"):
                    session(stage)

    def test_a_class_without_a_method_of_its_kind_is_refused(self) -> None:
        for decorator, methods in [(columns.ranker, ["rank"]), (columns.aggregator, ["add", "close", "take"])]:
            for method in methods:
                given = {name: lambda *_: None for name in methods if name != method}
                with self.assertRaisesRegex(TypeError, f"`Lacking` needs a method `{method}`"):
                    decorator(name="lacking", version="0.1.0")(type("Lacking", (), given))


if __name__ == "__main__":
    unittest.main()
