"""Lines for the host's log. What is printed goes there, too. The host cuts long lines and drops floods."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

TRACE, DEBUG, INFO, WARN, ERROR = range(5)
_NAMES = ("trace", "debug", "info", "warn", "error")


def _to_stderr(level: int, text: str) -> None:
    print(f"{_NAMES[level]}: {text}", file=sys.__stderr__)


_write: Callable[[int, str], None] = _to_stderr


def trace(text: object) -> None:
    _write(TRACE, str(text))


def debug(text: object) -> None:
    _write(DEBUG, str(text))


def info(text: object) -> None:
    _write(INFO, str(text))


def warn(text: object) -> None:
    _write(WARN, str(text))


def error(text: object) -> None:
    _write(ERROR, str(text))


class _Lines(io.TextIOBase):
    """A stream whose lines are lines of the log."""

    def __init__(self, level: int) -> None:
        self.level = level
        self.begun = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, self.begun = (self.begun + text).split("\n")
        for line in lines:
            _write(self.level, line)
        return len(text)

    def flush(self) -> None:
        if self.begun:
            line, self.begun = self.begun, ""
            _write(self.level, line)


def connect(write: Callable[[int, str], None]) -> None:
    """From now on lines, and what is printed, go there."""
    global _write
    _write = write
    sys.stdout = _Lines(INFO)
    sys.stderr = _Lines(WARN)
