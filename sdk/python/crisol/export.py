"""The component: what `componentize-py` looks for, around the stage of the module `plugin`.

It wants the class of an exported resource in a module that is called as the interface is.
"""

from __future__ import annotations

import sys
import traceback
from types import ModuleType
from typing import Any

import plugin
from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import log as host_log
from wit_world.imports import types as wit

from . import log, sandbox
from .errors import Failure
from .stage import Stage

_INTERFACES = {
    "decoder": "transform",
    "transformer": "transform",
    "validator": "verdicts",
    "ranker": "group",
    "aggregator": "group",
}


def _found() -> Stage:
    classes = {value for value in vars(plugin).values() if isinstance(value, type) and hasattr(value, "crisol_stage")}
    found = [made_by.crisol_stage for made_by in classes]
    if len(found) != 1:
        raise TypeError(f"plugin.py has {len(found)} stages; a component has one, a class under a decorator such as @crisol.decoder")
    return found[0]


_stage = _found()
#: Made while the component is built, so that it starts faster.
_description = _stage.describe()


def _call(function: Any, *args: Any) -> Any:
    """A failure is an answer; anything else traps, and the host's log has the reason."""
    log.connect(host_log.log)
    sandbox.lock()
    try:
        return function(*args)
    except Failure as failure:
        raise Err(wit.Failure(failure.code, failure.text, list(failure.attributes.items()))) from None
    except BaseException as error:
        for line in "".join(traceback.format_exception(error)).splitlines():
            log.error(line)
        raise


class Session:
    """Work on one batch, or on many groups."""

    def __init__(self, session: Any) -> None:
        self.session = session

    @classmethod
    def open(cls, options: str, input: list[Any], timestamp: int) -> Session:
        return cls(_call(_stage.open, options, input, timestamp))

    def check(self, rows: bytes) -> bytes | None:
        return _call(self.session.check, rows)

    def push(self, rows: bytes) -> Any:
        answer = _call(self.session.push, rows)
        if isinstance(answer, list):
            return answer
        return sys.modules["wit_world.exports.transform"].Output(*answer)

    def finish(self) -> list[bytes]:
        return _call(self.session.finish)


class Description(exports.Description):
    """What the component says of itself."""

    def describe(self) -> str:
        return _description

    def plan(self, options: str, input: list[Any]) -> wit.StagePlan:
        plan = _call(_stage.plan, options, input)
        writes = [wit.Column(name, type.name, type.nullable) for name, type in plan.writes.items()]
        return wit.StagePlan(list(plan.reads), writes)


_interface = ModuleType(_INTERFACES[_stage.kind])
_interface.Session = Session
sys.modules[_interface.__name__] = _interface
sandbox.close(plugin.__file__)
# The interpreter would tell of an exception once more before it traps.
sys.excepthook = lambda *_: None
