"""The table of all types, and the options that the stages have in common."""

from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from crisol import BigInt, Double, Failure, Float, Int, Micros, Option, SmallInt, TinyInt, decimal, log


@dataclass(slots=True)
class Pair:
    a: Int
    b: str


@dataclass(slots=True)
class Deep:
    k: str
    v: list[Double]


@dataclass(slots=True)
class Textual:
    """Of the table, what JSON has."""

    b: bool | None
    i8: TinyInt | None
    i16: SmallInt | None
    i32: Int | None
    i64: BigInt | None
    f32: Float | None
    f64: Double | None
    d9: Annotated[Decimal, decimal(9, 2)] | None
    d18: Annotated[Decimal, decimal(18, 4)] | None
    d38: Annotated[Decimal, decimal(38, 10)] | None
    s: str | None
    day: date | None
    ts: Micros | None
    ints: list[Int] | None
    texts: list[str] | None
    st: Pair | None
    m: dict[str, BigInt] | None
    deep: list[Deep] | None


@dataclass(slots=True)
class Table:
    """The table of all types."""

    b: bool | None
    i8: TinyInt | None
    i16: SmallInt | None
    i32: Int | None
    i64: BigInt | None
    f32: Float | None
    f64: Double | None
    d9: Annotated[Decimal, decimal(9, 2)] | None
    d18: Annotated[Decimal, decimal(18, 4)] | None
    d38: Annotated[Decimal, decimal(38, 10)] | None
    s: str | None
    bin: bytes | None
    day: date | None
    ts: Micros | None
    ints: list[Int] | None
    texts: list[str] | None
    st: Pair | None
    m: dict[str, BigInt] | None
    deep: list[Deep] | None


NAMES = [field.name for field in fields(Table)]

Every = Annotated[int, Option(minimum=1)] | None


@dataclass(kw_only=True)
class Asking:
    """What all stages take."""

    log: Annotated[str, Option(description="A line for the log, when a batch is opened")] | None = None
    fail: Literal["open", "push", "finish", "trap"] | None = None

    def opened(self) -> None:
        if self.log is not None:
            log.info(self.log)
        self.failing("open")

    def failing(self, place: str) -> None:
        """Fails when this is the place to fail."""
        if self.fail == place:
            raise Failure("asked", f"to fail in {place}")
        if self.fail == "trap" and place == "push":
            raise RuntimeError("asked to trap")


@dataclass(kw_only=True)
class Counting(Asking):
    """What stages over rows take."""

    reject_every: Every = None
    filter_every: Every = None


@dataclass(kw_only=True)
class Copying(Counting):
    """What transformers take."""

    repeat: Every = 1
    stamp: bool = False


def divides(every: int | None, number: int) -> bool:
    """Whether `every` is given and divides a number."""
    return every is not None and number % every == 0


def shown(text: str | None) -> str:
    return "null" if text is None else text
