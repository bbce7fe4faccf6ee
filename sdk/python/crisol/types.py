"""Types of columns, and their names in contracts: `string`, `decimal(18,2)`, `array<struct<sku:string,qty:int>>`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

SIMPLE = ("string", "binary", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "date", "timestamp")
_ALIASES = {
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
    "real": "float",
    "dec": "decimal",
    "numeric": "decimal",
}
_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|\w+|[<>(),:])")
_PLAIN = re.compile(r"\w+")
PRECISION_MAX = 38


@dataclass(frozen=True)
class Type:
    """The type of a column or of what is in one.

    `inside` are the fields of a struct by name, the `element` of an array, the `key` and `value` of a map.
    `raw` values are whole numbers: days, microseconds, the smallest units of a decimal. `model` is the dataclass that a
    struct becomes; without one it becomes a dict.
    """

    kind: str
    precision: int = 0
    scale: int = 0
    inside: tuple[tuple[str, Type], ...] = ()
    nullable: bool = False
    raw: bool = False
    model: type | None = None

    @property
    def name(self) -> str:
        """As contracts write it."""
        if self.kind == "decimal":
            return f"decimal({self.precision},{self.scale})"
        if self.kind == "struct":
            return f"struct<{','.join(f'{_quoted(name)}:{inner.name}' for name, inner in self.inside)}>"
        if self.inside:
            return f"{self.kind}<{','.join(inner.name for _, inner in self.inside)}>"
        return self.kind


def decimal(precision: int, scale: int = 0) -> Type:
    """`decimal(18,2)`: 18 digits, two of them after the point."""
    if not 1 <= precision <= PRECISION_MAX or not 0 <= scale <= precision:
        raise ValueError(f"decimal({precision},{scale}): 1 to {PRECISION_MAX} digits, and no more of them after the point")
    return Type("decimal", precision, scale)


def array(element: Type) -> Type:
    return Type("array", inside=(("element", replace(element, nullable=True)),))


def map_of(key: Type, value: Type) -> Type:
    if key.kind == "map":
        raise ValueError("a map cannot be the key of a map")
    return Type("map", inside=(("key", replace(key, nullable=False)), ("value", replace(value, nullable=True))))


def struct(fields: dict[str, Type], model: type | None = None) -> Type:
    if not fields:
        raise ValueError("a struct needs a field")
    inside = tuple((name, replace(inner, nullable=True)) for name, inner in fields.items())
    return Type("struct", inside=inside, model=model)


def parse(text: str) -> Type:
    """The type of a name."""
    words = _Words(text)
    found = words.type()
    words.end()
    return found


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"


class _Words:
    """The words of a type's name, one after another."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = _TOKEN.findall(text)
        self.at = 0

    def next(self) -> str:
        word = self.words[self.at] if self.at < len(self.words) else ""
        self.at += 1
        return word

    def eat(self, wanted: str) -> bool:
        found = self.at < len(self.words) and self.words[self.at] == wanted
        self.at += found
        return found

    def expect(self, wanted: str) -> None:
        if not self.eat(wanted):
            raise ValueError(f"`{self.text}`: expected `{wanted}`")

    def end(self) -> None:
        if self.at != len(self.words):
            raise ValueError(f"`{self.text}`: `{''.join(self.words[self.at:])}` is left over after the type")

    def type(self) -> Type:
        word = self.next().lower()
        word = _ALIASES.get(word, word)
        if word in SIMPLE:
            return Type(word)
        if word == "decimal":
            return self.decimal()
        if word not in ("array", "map", "struct"):
            raise ValueError(f"`{self.text}`: `{word}` is not a type; types are {', '.join(SIMPLE)}, decimal, array, map, struct")
        self.expect("<")
        found = getattr(self, word)()
        self.expect(">")
        return found

    def decimal(self) -> Type:
        if not self.eat("("):
            return decimal(10, 0)
        precision = int(self.next())
        scale = int(self.next()) if self.eat(",") else 0
        self.expect(")")
        return decimal(precision, scale)

    def array(self) -> Type:
        return array(self.type())

    def map(self) -> Type:
        key = self.type()
        self.expect(",")
        return map_of(key, self.type())

    def struct(self) -> Type:
        fields: dict[str, Type] = {}
        while True:
            name = self.next()
            name = name[1:-1].replace("``", "`") if name.startswith("`") else name
            self.eat(":")
            fields[name] = self.type()
            if not self.eat(","):
                return struct(fields)
