"""Why a row does not go on, and why a stage cannot go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Rejection(Exception):
    """A row that does not go on: raised, or given by the rules of a validator.

    It goes to quarantine. The code is short and stable, people count by it; the text is for people.
    """

    def __init__(self, code: str, text: str = "", *, filtered: bool = False) -> None:
        super().__init__(code, text)
        self.code = code
        self.text = text
        self.filtered = filtered

    @classmethod
    def filter(cls, code: str, text: str = "") -> Rejection:
        """A row that is dropped on purpose, and counted."""
        return cls(code, text, filtered=True)

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"


def not_null(column: str, text: str) -> Rejection:
    """A null where there may be none."""
    return Rejection(f"not_null: {column}", f"`{column}`: {text}")


class Failure(Exception):
    """A stage cannot do its work: it stops the stream. A bad row is no failure; reject it.

    `code` is short and stable: `options`, `input`, `bug`, or a word of the plugin's own.
    """

    def __init__(self, code: str, text: str, attributes: dict[str, str] | None = None) -> None:
        super().__init__(code, text)
        self.code = code
        self.text = text
        self.attributes = attributes or {}

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"


@contextmanager
def stopping() -> Iterator[None]:
    """A stage over groups has no quarantine: a rejection stops it."""
    try:
        yield
    except Rejection as why:
        raise Failure("input", f"a row of a group is refused, {why}; drop such rows before") from why
