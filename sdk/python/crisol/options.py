"""Options of a stage: a dataclass gives their JSON Schema, and checks what a contract says."""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, dataclass, fields
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from .errors import Failure
from .hints import optional

_JSON_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}
_CALLED = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True)
class Option:
    """What may be said of an option beside its type: `Annotated[int, Option(minimum=1, description="…")]`."""

    description: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    min_items: int | None = None

    def keywords(self) -> dict[str, Any]:
        words = {
            "description": self.description,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "minItems": self.min_items,
        }
        return {name: value for name, value in words.items() if value is not None}


def schema_of(options: type | None) -> dict[str, Any] | None:
    """The JSON Schema; `None` when a stage takes no options."""
    if options is None:
        return None
    hints = get_type_hints(options, include_extras=True)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {field.name: _schema(hints[field.name]) for field in fields(options)},
        "additionalProperties": False,
    }
    required = [field.name for field in fields(options) if _is_required(field)]
    return schema | ({"required": required} if required else {})


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _schema(hint: Any) -> dict[str, Any]:
    hint, _ = optional(hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        notes = [note.keywords() for note in args[1:] if isinstance(note, Option)]
        return _schema(args[0]) | {name: value for note in notes for name, value in note.items()}
    if origin is Literal:
        return {"enum": list(args)}
    if origin is list:
        return {"type": "array", "items": _schema(args[0])}
    if hint in _JSON_NAMES:
        return {"type": _JSON_NAMES[hint]}
    raise TypeError(f"`{hint}` is no type of an option: str, int, float, bool, Literal, list, and `| None`")


def read_options(options: type | None, text: str) -> Any:
    """The options of a contract."""
    given = _parse(text)
    known = {field.name: field for field in fields(options)} if options else {}
    for name in given:
        if name not in known:
            there = f"there are {', '.join(f'`{name}`' for name in known)}" if known else "there are none"
            raise _wrong(f"there is no option `{name}`; {there}")
    if options is None:
        return None
    for name, field in known.items():
        if _is_required(field) and given.get(name) is None:
            raise _wrong(f"`{name}` is missing")
    hints = get_type_hints(options, include_extras=True)
    present = {name: value for name, value in given.items() if value is not None}
    for name, value in present.items():
        _check(name, value, hints[name])
    return options(**present)


def _parse(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise _wrong(str(error)) from None
    if not isinstance(given, dict):
        raise _wrong("they are no object")
    return given


def _check(name: str, value: Any, hint: Any) -> None:
    hint, _ = optional(hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        _check(name, value, args[0])
        for note in args[1:]:
            if isinstance(note, Option):
                _check_limits(name, value, note)
    elif origin is Literal:
        if not any(type(value) is type(arg) and value == arg for arg in args):
            raise _wrong(f"`{name}`: it is none of {', '.join(map(str, args))}")
    elif origin is list:
        if not isinstance(value, list):
            raise _wrong(f"`{name}`: it is not a list")
        for place, item in enumerate(value):
            _check(f"{name}[{place}]", item, args[0])
    elif type(value) is not hint and not (hint is float and type(value) is int):
        raise _wrong(f"`{name}`: it is not {_CALLED[hint]}")


def _check_limits(name: str, value: Any, note: Option) -> None:
    if note.minimum is not None and value < note.minimum:
        raise _wrong(f"`{name}`: {value} is less than {note.minimum}")
    if note.maximum is not None and value > note.maximum:
        raise _wrong(f"`{name}`: {value} is more than {note.maximum}")
    if note.min_items is not None and len(value) < note.min_items:
        raise _wrong(f"`{name}`: it has {len(value)} items, at least {note.min_items} are wanted")


def _wrong(what: str) -> Failure:
    return Failure("options", f"the options do not fit: {what}")
