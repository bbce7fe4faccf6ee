"""What all stages have: what they say of themselves, their plan, and how a session of them is opened."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from .errors import Failure, stopping
from .moments import moment_of
from .options import read_options, schema_of
from .types import Type, parse

Columns = dict[str, Type]
_OVER_GROUPS = ("ranker", "aggregator")


class Given(Protocol):
    """A column as the host names it."""

    name: str
    type: str
    nullable: bool


class Plan(NamedTuple):
    """The columns that a stage reads and writes."""

    reads: Columns
    writes: Columns


@dataclass(frozen=True)
class Batch:
    """What a stage is opened with: the options of the contract, and what "now" means."""

    options: Any
    #: Microseconds since 1970 UTC.
    micros: int

    @property
    def timestamp(self) -> datetime:
        return moment_of(self.micros)


@dataclass(frozen=True)
class Stage:
    """A stage as a component exports it."""

    kind: str
    made_by: type
    about: dict[str, Any]
    options: type | None
    planned: Callable[[Any, Columns | None], Plan]
    session: Callable[[Plan, Any], Any]

    def describe(self) -> str:
        about = {"kind": self.kind, **self.about}
        schema = schema_of(self.options)
        return json.dumps(about if schema is None else {**about, "options": schema})

    def plan(self, options: str, given: list[Given]) -> Plan:
        return self.planned(read_options(self.options, options), _columns(given))

    def reads(self, options: str) -> Columns:
        """The columns that it wants of its input."""
        return self.planned(read_options(self.options, options), None).reads

    def open(self, options: str, given: list[Given], micros: int) -> Any:
        batch = Batch(read_options(self.options, options), micros)
        plan = self.planned(batch.options, _columns(given))
        with stopping() if self.kind in _OVER_GROUPS else nullcontext():
            stage = self.made_by()
            if hasattr(stage, "open"):
                stage.open(batch)
            return self.session(plan, stage)


Planning = Callable[[type], Callable[[Any, Columns], Plan]]


def definer(kind: str, methods: Sequence[str], planning: Callable[..., Any], session: Callable[[Plan, Any], Any]) -> Callable[..., Any]:
    """The decorator of a kind; `planning` makes of the class what plans for options and input."""

    def decorator(
        *, name: str, version: str, schema_versions: str = "all", reuse: bool = False, options: type | None = None, **more: Any
    ) -> Callable[[type], type]:
        about = {"name": name, "version": version, "schema_versions": schema_versions, "reuse": reuse}

        def define(made_by: type) -> type:
            for method in methods:
                if not hasattr(made_by, method):
                    raise TypeError(f"the {kind} `{made_by.__name__}` needs a method `{method}`")
            made_by.crisol_stage = Stage(kind, made_by, about, options, planning(made_by, **more), session)
            return made_by

        return define

    decorator.__name__ = kind
    return decorator


def _columns(given: list[Given]) -> Columns:
    return {column.name: replace(parse(column.type), nullable=column.nullable) for column in given}


def wanted(reads: Columns, given: Columns | None) -> Columns:
    """The columns, when the input has them with their types; no input at all has any."""
    for name, type in reads.items() if given is not None else ():
        if name not in given:
            raise missing(name, given)
        if given[name].name != type.name:
            raise Failure("input", f"column `{name}` is {given[name].name}, not {type.name}")
    return reads


def missing(name: str, given: Columns) -> Failure:
    return Failure("input", f"there is no column `{name}` among {', '.join(given)}")
