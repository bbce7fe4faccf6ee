"""What comes of the rows of a message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any

from .encode import encode
from .errors import Rejection
from .types import Type

INT = Type("int")
_REJECTED = {"row": INT, "kind": Type("tinyint"), "code": Type("string"), "text": Type("string")}
_QUARANTINE, _FILTER = 0, 1


class Rejections:
    """Rows that do not go on."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, str, str]] = []

    def reject(self, row: int, code: str, text: str = "") -> None:
        """To quarantine; a validator may tell of several rules that a row breaks."""
        self._rows.append((row, _QUARANTINE, code, text))

    def filter(self, row: int, code: str, text: str = "") -> None:
        """Dropped on purpose, and counted."""
        self._rows.append((row, _FILTER, code, text))

    def put(self, row: int, why: Rejection) -> None:
        self._rows.append((row, _FILTER if why.filtered else _QUARANTINE, why.code, why.text))

    def message(self) -> bytes | None:
        """`None` when there are none. The host wants them in the order of the rows."""
        if not self._rows:
            return None
        self._rows.sort(key=lambda rejected: rejected[0])
        return encode(_REJECTED, dict(zip(_REJECTED, zip(*self._rows))))


class Rows:
    """Rows of dataclasses, each with the number of the row that it came from."""

    def __init__(self, writes: dict[str, Type]) -> None:
        self.types = writes
        self.numbers: list[int] = []
        self.rows: list[Any] = []

    def message(self) -> bytes:
        return with_index(self.types, values_of(self.rows, self.types), "_row", self.numbers)


def values_of(rows: Sequence[Any], types: Mapping[str, Type]) -> dict[str, list[Any]]:
    """The values of rows by column."""
    names = [field.name for field in fields(rows[0])] if rows and is_dataclass(rows[0]) else types
    return {column: list(map(attrgetter(name), rows)) for column, name in zip(types, names)}


def with_index(types: Mapping[str, Type], values: Mapping[str, Sequence[Any]], index: str, numbers: Sequence[int]) -> bytes:
    """A message whose last column is the index."""
    return encode({**types, index: INT}, {**values, index: numbers})


def made(types: Mapping[str, Type], values: Mapping[str, Sequence[Any]], index: str, numbers: Sequence[int]) -> list[bytes]:
    """The message of rows of groups, or none of no rows. Values without rows are a fault as other lengths are."""
    is_empty = not any(map(len, (numbers, *values.values())))
    return [] if is_empty else [with_index(types, values, index, numbers)]
