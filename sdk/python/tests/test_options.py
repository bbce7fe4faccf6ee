import json
import unittest
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import crisol
from crisol import Batch, Failure, Option, Rejection
from crisol.options import read_options, schema_of


@dataclass(kw_only=True)
class Options:
    name: str
    every: Annotated[int, Option(minimum=1, maximum=9, description="One in so many")] = 1
    share: float = 0.5
    strict: bool = False
    mode: Literal["keep", "drop", 1] = "keep"
    currencies: Annotated[list[str], Option(min_items=1)] | None = None
    sizes: list[Annotated[int, Option(minimum=0)]] = field(default_factory=list)


@dataclass
class Row:
    s: str | None


@crisol.validator(name="texts", version="0.1.0", options=Options)
class Texts:
    def open(self, batch: Batch) -> None:
        self.unwanted = batch.options.name

    def check(self, row: Row) -> list[Rejection]:
        return [Rejection("unwanted")] if row.s == self.unwanted else []


@crisol.validator(name="texts", version="0.1.0")
class Plain:
    def check(self, row: Row) -> list[Rejection]:
        return []


def read(**given: Any) -> Options:
    return read_options(Options, json.dumps({"name": "n", **given}))


class Reading(unittest.TestCase):
    def test_what_is_left_out_or_null_has_its_default(self) -> None:
        self.assertEqual(read(), Options(name="n"))
        self.assertEqual(read(every=None, mode=None, currencies=None, sizes=None), Options(name="n"))
        self.assertEqual((read().sizes, read().sizes is read().sizes), ([], False))

    def test_each_type_is_read(self) -> None:
        given = {"every": 9, "share": 2, "strict": True, "mode": 1, "currencies": ["EUR"], "sizes": [0, 3]}
        self.assertEqual(read(**given), Options(name="n", **given))
        self.assertEqual(read(mode="drop", share=-0.25), Options(name="n", mode="drop", share=-0.25))

    def test_a_value_that_does_not_fit_names_option_and_cause(self) -> None:
        for given, why in [
            ({"name": 7}, "`name`: it is not a text"),
            ({"every": "7"}, "`every`: it is not a whole number"),
            ({"every": True}, "`every`: it is not a whole number"),
            ({"every": 1.0}, "`every`: it is not a whole number"),
            ({"every": 0}, "`every`: 0 is less than 1"),
            ({"every": 10}, "`every`: 10 is more than 9"),
            ({"share": "x"}, "`share`: it is not a number"),
            ({"share": False}, "`share`: it is not a number"),
            ({"strict": 1}, "`strict`: it is not true or false"),
            ({"mode": "lose"}, "`mode`: it is none of keep, drop, 1"),
            ({"mode": True}, "`mode`: it is none of keep, drop, 1"),
            ({"currencies": "EUR"}, "`currencies`: it is not a list"),
            ({"currencies": []}, "`currencies`: it has 0 items, at least 1 are wanted"),
            ({"currencies": ["EUR", 7]}, "`currencies[1]`: it is not a text"),
            ({"sizes": [1, -1]}, "`sizes[1]`: -1 is less than 0"),
            ({"nam": "x"}, "there is no option `nam`; there are `name`, `every`"),
            ({"name": None}, "`name` is missing"),
        ]:
            with self.assertRaises(Failure) as caught:
                read(**given)
            self.assertEqual(caught.exception.code, "options")
            self.assertIn(f"the options do not fit: {why}", caught.exception.text)

    def test_what_is_no_object_or_lacks_an_option_does_not_fit(self) -> None:
        no_object, missing = "they are no object", "`name` is missing"
        for text, why in [("[]", no_object), ("7", no_object), ("{", "Expecting"), ("{}", missing), ("", missing)]:
            with self.assertRaisesRegex(Failure, f"options: the options do not fit: {why}"):
                read_options(Options, text)

    def test_a_stage_without_options_takes_none(self) -> None:
        self.assertEqual([read_options(None, text) for text in ("", "{}", " {} ")], [None] * 3)
        with self.assertRaisesRegex(Failure, "there is no option `a`; there are none"):
            read_options(None, '{"a": 1}')


class Describing(unittest.TestCase):
    def test_the_schema_has_types_limits_and_what_must_be_given(self) -> None:
        self.assertEqual(
            schema_of(Options),
            {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "every": {"type": "integer", "description": "One in so many", "minimum": 1, "maximum": 9},
                    "share": {"type": "number"},
                    "strict": {"type": "boolean"},
                    "mode": {"enum": ["keep", "drop", 1]},
                    "currencies": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                    "sizes": {"type": "array", "items": {"type": "integer", "minimum": 0}},
                },
                "additionalProperties": False,
                "required": ["name"],
            },
        )

    def test_a_type_that_options_cannot_have_is_refused(self) -> None:
        @dataclass
        class Wrong:
            at: bytes = b""

        with self.assertRaisesRegex(TypeError, "bytes.* is no type of an option"):
            schema_of(Wrong)

    def test_a_description_has_a_schema_only_when_there_are_options(self) -> None:
        about = {"kind": "validator", "name": "texts", "version": "0.1.0", "schema_versions": "all", "reuse": False}
        self.assertEqual(json.loads(Plain.crisol_stage.describe()), about)
        self.assertEqual(json.loads(Texts.crisol_stage.describe()), {**about, "options": schema_of(Options)})

    def test_plan_and_open_check_options(self) -> None:
        given = [SimpleNamespace(name="s", type="string", nullable=True)]
        for call in (Texts.crisol_stage.plan, lambda *told: Texts.crisol_stage.open(*told, 0)):
            for wrong in ("{}", '{"name": 1}', '{"name": "n", "nam": 1}'):
                with self.assertRaisesRegex(Failure, "^options: the options do not fit"):
                    call(wrong, given)


if __name__ == "__main__":
    unittest.main()
