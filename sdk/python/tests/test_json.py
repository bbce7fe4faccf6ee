import unittest
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from crisol import BigInt, Int, Rejection, from_json
from tests.table import Pair, Textual


@dataclass
class Seen:
    at: datetime


@dataclass
class Strict:
    id: BigInt
    size: Int | None


def fault(text: str) -> str:
    try:
        found = from_json(Textual, text)
    except Rejection as why:
        assert why.code == "corrupt_record", why
        return why.text
    raise AssertionError(f"{text} gave {found}")


class Json(unittest.TestCase):
    def test_each_type_is_read_in_any_order_and_other_fields_are_skipped(self) -> None:
        row = from_json(
            Textual,
            ' {"s":"ñ","ts":"1970-01-01T00:00:01.5Z","x":{"y":[1,{"z":"}"}]},"b":true,"i8":-7,"i64":9007199254740993,'
            '"f64":1.5,"d38":123456789012345678.5,"d9":"12.5","day":"2026-03-14","ints":[1,null],'
            '"st":{"b":"c","z":0},"m":{"2":1,"1":null},"deep":[{"k":"x","v":[1]},null]} ',
        )
        self.assertEqual((row.s, row.b, row.i8, row.i64, row.f64), ("ñ", True, -7, 9007199254740993, 1.5))
        self.assertEqual((str(row.d38), str(row.d9), row.ts), ("123456789012345678.5000000000", "12.50", 1_500_000))
        self.assertEqual((row.ints, row.st, row.m), ([1, None], Pair(None, "c"), {"2": 1, "1": None}))
        self.assertEqual((row.i32, row.deep[1]), (None, None))

    def test_decimals_are_exact_and_rounded_half_up(self) -> None:
        for text, expected in [
            ("1.005", "1.01"),
            ("-1.005", "-1.01"),
            ("1.00499999999999999999999999", "1.00"),
            ("1.5E-1", "0.15"),
            ("1e2", "100.00"),
            ("0e999999999999", "0.00"),
            ('"9999999.99"', "9999999.99"),
        ]:
            self.assertEqual(from_json(Textual, f'{{"d9":{text}}}').d9, Decimal(expected), text)

    def test_exponents_may_be_out_of_reach(self) -> None:
        far = "99999999999999999999"
        row = from_json(Textual, f'{{"x":[1e{far},-1e-{far},0e{far}],"f32":-1e{far},"f64":1e{far},"d9":1e-{far},"d18":"0e{far}"}}')
        self.assertEqual((row.f32, row.f64, str(row.d9), str(row.d18)), (float("-inf"), float("inf"), "0.00", "0.0000"))
        self.assertEqual(from_json(Textual, f'{{"f64":1e-{far}}}').f64, 0)
        for number in (f"1e{far}", f'"1e{far}"'):
            self.assertEqual(fault(f'{{"d9":{number}}}'), f"`d9`: {number} is not a decimal(9,2)")

    def test_whole_numbers_may_have_any_number_of_digits(self) -> None:
        for digits in (400, 4_300, 4_301, 100_000):
            number = "9" * digits
            row = from_json(Textual, f'{{"x":{number},"f32":-{number},"f64":{number}}}')
            self.assertEqual((row.f32, row.f64), (float("-inf"), float("inf")))
            for name, kind in [("i64", "a bigint"), ("d9", "a decimal(9,2)"), ("b", "a boolean")]:
                self.assertEqual(fault(f'{{"{name}":{number}}}'), f"`{name}`: {number[:60]}… is not {kind}")

    def test_zeros_keep_their_sign_in_floats(self) -> None:
        for zero in ("-0", "-0 ", "-0.0", "-0e5", "-1e-999"):
            row = from_json(Textual, f'{{"day":"2026-01-02","i32":-0,"d9":-0,"f32":{zero},"f64":{zero}}}')
            self.assertEqual((row.i32, type(row.i32), row.d9, str(row.f32), str(row.f64)), (0, int, 0, "-0.0", "-0.0"))
        self.assertEqual(fault('{"b":-0}'), "`b`: -0 is not a boolean")

    def test_floats_are_the_nearest_of_what_is_written(self) -> None:
        halfway = "1.000000059604644775390625"
        least = "7.006492321624085354618e-46"
        for text, expected in [
            (halfway, 1),
            (halfway + "00001", 1.0000001192092896),
            (f"-{halfway}00001", -1.0000001192092896),
            ("1.00000017881393432617187499", 1.0000001192092896),
            ("1.000000178813934326171875", 1.000000238418579),
            ("16777217", 16777216),
            ("16777217.0000000000000000001", 16777218),
            (str(2**100 + 2**76), 2.0**100),
            (str(2**100 + 2**76 + 1), 2.0**100 + 2.0**77),
            ("3.4028235677973366e38", 3.4028234663852886e38),
            ("340282356779733661637539395458142568447", 3.4028234663852886e38),
            ("340282356779733661637539395458142568448", float("inf")),
            ("1e39", float("inf")),
            (least, 0),
            (least.replace("8e", "9e"), 2.0**-149),
            ("0.1", 0.10000000149011612),
        ]:
            self.assertEqual(from_json(Textual, f'{{"f32":{text}}}').f32, expected, text)

    def test_an_offset_may_lead_out_of_the_years_1_to_9999_in_micros(self) -> None:
        for text, micros in [
            ("0001-01-01T09:26:53+18:00", -62135596800_000_000 - 30_787_000_000),
            ("9999-12-31T23:59:59.5-18:59", 253402300799_500_000 + 68_340_000_000),
        ]:
            self.assertEqual(from_json(Textual, f'{{"ts":"{text}"}}').ts, micros)
            with self.assertRaisesRegex(Rejection, f"corrupt_record: `at`: \"{text[:19]}.* is not a timestamp"):
                from_json(Seen, f'{{"at":"{text}"}}')
        self.assertEqual(from_json(Seen, '{"at":"0001-01-01T19:00+18:59"}').at.isoformat(), "0001-01-01T00:01:00+00:00")
        self.assertEqual(fault('{"ts":"0000-12-31T23:00-18:00"}'), '`ts`: "0000-12-31T23:00-18:00" is not a timestamp')

    def test_a_value_of_another_type_names_field_and_cause(self) -> None:
        for text, expected in [
            ('{"i32":"7"}', '`i32`: "7" is not an int'),
            ('{"i32":1.0}', "`i32`: 1.0 is not an int"),
            ('{"i32":true}', "`i32`: true is not an int"),
            ('{"i32":3000000000}', "`i32`: 3000000000 is not an int"),
            ('{"i64":9223372036854775808}', "`i64`: 9223372036854775808 is not a bigint"),
            ('{"b":1}', "`b`: 1 is not a boolean"),
            ('{"s":{"a":1}}', '`s`: {"a":1} is not a string'),
            ('{"d9":"+1"}', '`d9`: "+1" is not a decimal(9,2)'),
            ('{"d9":9999999.995}', "`d9`: 9999999.995 is not a decimal(9,2)"),
            ('{"ts":"ayer"}', '`ts`: "ayer" is not a timestamp'),
            ('{"day":"2026-02-30"}', '`day`: "2026-02-30" is not a date'),
            ('{"ints":[1,"x"]}', '`ints[1]`: "x" is not an int'),
            ('{"ints":{}}', "`ints`: {} is not an array<int>"),
            ('{"st":{"a":true}}', "`st.a`: true is not an int"),
            ('{"st":{"a":1,"a":2}}', "`st.a`: it is there twice"),
            ('{"m":{"k":1,"k":2}}', '`m["k"]`: the key is there twice'),
            ('{"deep":[{"v":[false]}]}', "`deep[0].v[0]`: false is not a double"),
            ('{"s":"a","\\u0073":"b"}', "`s`: it is there twice"),
        ]:
            self.assertEqual(fault(text), expected)
        self.assertLess(len(fault(f'{{"i32":"{"ñ" * 500}"}}')), 200)

    def test_what_is_no_json_object_is_a_fault(self) -> None:
        for text in ["[]", "null", "7", "{", '{"s":"ab', '{"i32":1,}', '{"i32":01}', '{"i32":1} x', "{'i32':1}"]:
            self.assertIn("not a JSON object", fault(text), text)
        for text in ['{"f64":NaN}', '{"s":"\\ud800"}', '{"s":"a\nb"}', "\ufeff{}"]:
            self.assertIn("not a JSON object", fault(text), text[:20])
        self.assertEqual([fault(""), fault(" \n")], ["the message is empty"] * 2)

    def test_a_message_is_nested_200_levels_deep_at_most(self) -> None:
        def nested(levels: int) -> str:
            return '{"s":"\\u00f1","x":' + '{"y":[' * (levels // 2) + "[" * (levels % 2) + "]" * (levels % 2) + "]}" * (levels // 2) + "}"

        self.assertEqual([from_json(Textual, nested(levels)).s for levels in (199, 200)], ["ñ"] * 2)
        for levels in (201, 202, 500, 100_000):
            self.assertEqual(fault(nested(levels)), "nested too deeply")
        self.assertEqual(fault('{"x":' + "[" * 100_000), "nested too deeply")
        for text in ["[" * 500, r"\"" + "[{" * 500]:
            self.assertEqual(from_json(Textual, f'{{"x":[{"[]," * 500}"{text}"],"s":"{text}"}}').s, text.replace("\\", ""))

    def test_a_field_that_may_not_be_null_is_wanted(self) -> None:
        self.assertEqual(from_json(Strict, '{"id":1}'), Strict(1, None))
        for text in ["{}", '{"id":null}', '{"id": null, "size": 3}']:
            with self.assertRaises(Rejection) as caught:
                from_json(Strict, text)
            self.assertEqual((caught.exception.code, caught.exception.text), ("not_null: id", "`id`: it is null or absent"))


if __name__ == "__main__":
    unittest.main()
