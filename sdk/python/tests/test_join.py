import unittest

from crisol.column import Columns
from crisol.encode import encode
from crisol.hints import columns_of
from crisol.join import join
from tests.table import NAMES, Table
from tests.test_messages import ROWS

TYPES = columns_of(Table)


def message(rows: list[Table]) -> Columns:
    return Columns.read(TYPES, encode(TYPES, {name: [getattr(row, name) for row in rows] for name in NAMES}))


class Join(unittest.TestCase):
    def test_rows_of_all_types_come_one_after_the_other(self) -> None:
        usual, null, empty = ROWS
        many = [usual, empty, null] * 5
        for pieces in (
            [(many, range(15))],
            [(many, range(4, 13)), ([usual], range(1)), (many, range(3))],
            [([usual, empty], range(1, 2)), ([null], range(1))],
            [([null, null], range(1, 2)), ([null], range(1))],
            [([usual, empty], range(1)), ([empty], range(1))],
            [([], range(0)), (many, range(3, 3)), (many, range(14, 15))],
            [([], range(0))],
        ):
            expected = [rows[row] for rows, places in pieces for row in places]
            joined = join([(message(rows), places) for rows, places in pieces])
            self.assertEqual((joined.rows, list(joined)), (len(expected), NAMES))
            for name in NAMES:
                values = [getattr(row, name) for row in expected]
                self.assertEqual(joined[name].tolist(), values, name)
                self.assertEqual((len(joined[name]), joined[name].null_count), (len(values), values.count(None)), name)

    def test_what_is_joined_can_be_joined_again(self) -> None:
        twice = join([(message(ROWS), range(1, 3)), (message(ROWS), range(2))])
        again = join([(twice, range(1, 4)), (message(ROWS), range(1))])
        for name in NAMES:
            self.assertEqual(again[name].tolist(), [getattr(ROWS[row], name) for row in (2, 0, 1, 0)], name)

    def test_plain_values_and_offsets_are_those_of_the_rows(self) -> None:
        joined = join([(message(ROWS), range(2, 3)), (message(ROWS), range(1))])
        self.assertEqual(joined["i64"].values.tolist(), [2**63 - 1, -(2**63)])
        self.assertEqual(joined["s"].offsets.tolist(), [0, 0, len("añ😀".encode())])
        self.assertEqual(joined["ints"].offsets.tolist(), [0, 0, 2])


if __name__ == "__main__":
    unittest.main()
