"""Every entry of a file against `schemas/entry.schema.json`, while the file is read.

jsonschema-rs decides, at a third of what parsing costs; jsonschema puts into words what is wrong
with the first entry of each kind.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import msgspec

from diagnose.sessions.javascript import parse_line
from diagnose.sessions.reading import read_session

if TYPE_CHECKING:
    from jsonschema import ValidationError

    from diagnose.sessions.reading import Session

# Entries that do not fit are looked at no further than this many, and kept for each kind so many.
LOOKED_AT: Final = 2_000
KEPT: Final = 5
_NAMES: Final = {
    "string": "a text",
    "object": "an object",
    "array": "a list",
    "null": "null",
    "boolean": "true or false",
    "number": "a number",
    "integer": "a whole number",
}
_SHOWN: Final = 40
_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
# What jsonschema-rs cannot put into words.
_TOO_DEEP: Final = "depth"


class Violation(msgspec.Struct):
    """One way in which entries do not fit, and the first lines that do so."""

    # The place in the entry: `message.content.0.text`; "" is the entry itself.
    place: str
    expected: str
    found: str
    count: int = 0
    lines: list[int] = msgspec.field(default_factory=list)


@cache
def _validator() -> Any:
    # By name, as mypy cannot follow the mapped package; and 20 ms that most commands do without.
    schema = import_module("diagnose.schemas").schema("entry")
    return import_module("jsonschema_rs").Draft202012Validator(schema)


def _completed(value: Any, linear: bool) -> Any:
    """Return a value with the ids that an entry of version 1 does not have."""
    if linear and isinstance(value, dict) and value.get("type") != "session":
        return {"id": "-", "parentId": None, **value}
    return value


def fits(value: Any, linear: bool) -> bool:
    """Tell whether a parsed line fits the schema; `linear` is whether its file is of version 1."""
    try:
        valid: bool = _validator().is_valid(_completed(value, linear) if linear else value)
    except UnicodeEncodeError:
        # Half of a surrogate pair, where the schema asks for more than a text: looked at later.
        return False
    return valid


def violations(session: Session) -> list[Violation]:
    """Return the ways in which entries of a file do not fit, in the order of the file.

    Entries of version 1 are held to everything but the ids, which they do not have. Raise
    UnreadableError where the file cannot be read again.
    """
    if session.misfits is None:
        session.misfits = read_session(session.path, fits).misfits or []
    if not session.misfits:
        return []
    schema = import_module("diagnose.schemas").schema("entry")
    fast = _validator()
    found: dict[tuple[str, str], Violation] = {}
    for number, offset, length in session.misfits[:LOOKED_AT]:
        line = session.raw(offset, length)
        try:
            value = _completed(parse_line(line), session.is_linear)
            if fast.is_valid(value):
                continue
        except ValueError as error:
            if not isinstance(error, UnicodeEncodeError):
                continue  # it changed since it was read
            halved = parse_line(_HALF.sub(rb"\\ufffd", line))
            value = _completed(halved, session.is_linear)
            if fast.is_valid(value):
                continue
        for place, kind in _errors(fast, value):
            key = (_general(place), kind)
            if key not in found:
                found[key] = _explain(schema, value, place, kind)
            found[key].count += 1
            if len(found[key].lines) < KEPT:
                found[key].lines.append(number)
    return list(found.values())


def _errors(fast: Any, value: Any) -> list[tuple[list[Any], str]]:
    """Return the place of each error and the keyword of the schema that it goes against."""
    found = []
    try:
        errors = list(fast.iter_errors(value))
    except ValueError:
        return [([], _TOO_DEEP)]
    for error in errors:
        place = list(error.instance_path)
        if error.kind.name == "required":
            place.append(error.kind.property)
        found.append((place, str(error.kind.name)))
    return found


def _general(place: list[Any]) -> str:
    """Return a place without the numbers of list items, which are of one kind."""
    return ".".join("*" if isinstance(part, int) else str(part) for part in place)


def _explain(schema: Any, value: Any, place: list[Any], kind: str) -> Violation:
    shown = ".".join(str(part) for part in place)
    if kind == "required":
        return Violation(shown, "a value", "no such field")
    if kind == _TOO_DEEP:
        return Violation(shown, "another value", "one that is nested hundreds of times")
    from jsonschema import Draft202012Validator  # noqa: PLC0415 (only where something is wrong)

    try:
        for error in Draft202012Validator(schema).iter_errors(value):
            if list(error.absolute_path) == place and error.validator == kind:
                return Violation(shown, _expected(error), _found(error.instance))
    except RecursionError:
        pass
    return Violation(shown, f"what {kind!r} of the schema asks for", "something else")


def _expected(error: ValidationError) -> str:
    wanted = error.validator_value
    if error.validator == "type":
        names = wanted if isinstance(wanted, list) else [wanted]
        return " or ".join(_NAMES.get(str(name), str(name)) for name in names)
    if error.validator == "minLength":
        return "a text that is not empty"
    if error.validator == "pattern":
        return "a time in ISO 8601, such as 2026-10-20T14:35:54.217Z"
    return f"{error.validator} {wanted}"


def _found(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        cut = value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…"
        return f"the text {cut!r}" if value else "an empty text"
    if isinstance(value, int | float):
        return f"the number {value}"
    return "a list" if isinstance(value, list) else "an object"
