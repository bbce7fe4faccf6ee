"""What a component has not, said in words: without this a clock, a file or a late import would stop it without any."""

from __future__ import annotations

import builtins
import importlib.machinery as machinery
import linecache
import os
import random
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

_CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "sleep", "localtime", "gmtime")
_SEED = 0


def _refuses(what: str, instead: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise RuntimeError(f"{what}: a plugin has none; {instead}")

    return refuse


class _Seeded(random.Random):
    """Always begins alike: a batch that is run again gives the same."""

    def __init__(self, seed: Any = _SEED) -> None:
        super().__init__(_SEED if seed is None else seed)


class _NoLateImports:
    """Modules are found while the component is built, not when it runs."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> NoReturn:
        raise ModuleNotFoundError(f"no module `{name}` came into the component: import it at the top of plugin.py", name=name)


def close(plugin_file: str | None) -> None:
    """Called at the end of the build, with all modules in place."""
    _keep_source(plugin_file)
    for name in _CLOCKS:
        setattr(time, name, _refuses(f"time.{name}", '"now" is `Batch.timestamp`'))
    builtins.open = _refuses("open", "read files at the top of plugin.py, while it is built")
    os.urandom = _refuses("os.urandom", "chance would make a batch that is run again another")
    random.Random = _Seeded
    random.seed(_SEED)


def lock() -> None:
    """Called when the component runs."""
    if _NoLateImports not in sys.meta_path:
        sys.meta_path[:] = [machinery.BuiltinImporter, machinery.FrozenImporter, _NoLateImports]


def _keep_source(plugin_file: str | None) -> None:
    """Tracebacks show lines of the plugin, and import what they need now."""
    if plugin_file:
        linecache.getlines(plugin_file)
    linecache.checkcache = lambda filename=None: None
    linecache.updatecache = lambda *_, **__: []
    linecache.lazycache = lambda *_: False
    try:
        raise ValueError("warming up")
    except ValueError as error:
        "".join(traceback.format_exception(error))
