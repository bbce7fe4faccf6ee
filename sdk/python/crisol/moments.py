"""Dates and moments: texts, and the whole numbers that a column holds."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_EPOCH_NAIVE = datetime(1970, 1, 1)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MICRO = timedelta(microseconds=1)

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_UTC = re.compile(r"\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z", re.ASCII)
_MOMENT = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[Tt ]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?"
    r"(?:[Zz]|([-+])(0\d|1[0-8])(?::?([0-5]\d))?)?)?",
    re.ASCII,
)


def parse_date(text: str) -> date | None:
    """`2026-03-14`, of the years 0001 to 9999."""
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def parse_timestamp(text: str) -> datetime | None:
    """RFC 3339 and its relatives: `2026-03-14T09:26:53.589Z`, `2026-03-14 09:26:53+01:00`, `2026-03-14`.

    Without an offset it is UTC; digits after the microseconds are cut. `None` also when it is not of the years 1 to 9999 in UTC.
    """
    try:
        return datetime.fromisoformat(text) if _UTC.fullmatch(text) else _unusual(text)
    except (ValueError, OverflowError):
        return None


def parse_micros(text: str) -> int | None:
    """Microseconds since 1970 of a text as `parse_timestamp` reads it, and of one that an offset leads out of those years."""
    moment = parse_timestamp(text)
    if moment is not None:
        return micros_of(moment)
    try:
        found = _local(text)
    except ValueError:
        return None
    return found and micros_of(found[0]) - found[1] // _MICRO


def _unusual(text: str) -> datetime | None:
    found = _local(text)
    return found and found[0] - found[1]


def _local(text: str) -> tuple[datetime, timedelta] | None:
    """A moment as if it were UTC, and its offset."""
    found = _MOMENT.fullmatch(text)
    if not found:
        return None
    day, time, second, fraction, sign, hours, minutes = found.groups()
    moment = datetime.fromisoformat(f"{day}T{time or '00:00'}:{second or '00'}.{(fraction or '0')[:6]:0<6}+00:00")
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    return moment, -offset if sign == "-" else offset


def format_timestamp(moment: datetime) -> str:
    """`2026-03-14T09:26:53Z`, or `2026-03-14T09:26:53.589000Z`."""
    return moment.isoformat().replace("+00:00", "Z")


def moment_of(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def micros_of(moment: datetime) -> int:
    """Microseconds since 1970; a moment without an offset is UTC."""
    return (moment - (EPOCH if moment.tzinfo else _EPOCH_NAIVE)) // _MICRO


def day_of(days: int) -> date:
    return date.fromordinal(days + _EPOCH_DAY)


def days_of(day: date) -> int:
    return day.toordinal() - _EPOCH_DAY
