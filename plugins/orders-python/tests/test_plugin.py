import unittest

from crisol.testing import decode

from plugin import Orders


class Decoding(unittest.TestCase):
    def test_both_versions_become_rows_and_others_are_rejected(self) -> None:
        rows, rejected = decode(
            Orders,
            [
                '{"order_id":"o-1","event_ts":"2026-03-14T09:26:53.589Z","amount":12.5,"schema_version":1}',
                '{"country":"ES","order_id":"o-2","event_ts":"2026-03-14","amount":7,"schema_version":2,"currency":"EUR"}',
                '{"order_id":"o-3","event_ts":"2026-03-14","amount":7,"schema_version":9}',
                '{"order_id":"o-4","event_ts":"2026-03-14","amount":"mucho","schema_version":1}',
            ],
        )
        self.assertEqual(
            [(row["_row"], row["order_id"], str(row["amount"]), row["country"]) for row in rows],
            [(0, "o-1", "12.50", None), (1, "o-2", "7.00", "ES")],
        )
        self.assertEqual(
            [f"{why.row} {why.code}: {why.text}" for why in rejected],
            [
                "2 unsupported_schema_version: version 9; 1 and 2 are known",
                '3 corrupt_record: `amount`: "mucho" is not a decimal(18,2)',
            ],
        )


if __name__ == "__main__":
    unittest.main()
