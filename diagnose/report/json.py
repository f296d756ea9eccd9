"""A report as JSON: valid UTF-8 whatever the session holds, and safe to print on a terminal."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from diagnose.report.escape import SUSPECT, is_unsafe

# Python writes JSON by recursion; what is nested deeper (levels) is no field of anything, and is
# written as null.
_DEEPEST: Final = 200


def to_json(value: Any, *, indent: int | None = 2) -> str:
    """Return a value as JSON text; numbers that JSON does not have become null."""
    text = json.dumps(_plain(value), ensure_ascii=False, indent=indent, allow_nan=False)
    # They stand in strings alone, so each may be written as its escape.
    return SUSPECT.sub(lambda found: "".join(map(_escaped, found[0])), text)


@cache
def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1] if is_unsafe(character) else character


def _plain(value: Any, level: int = 0) -> Any:
    """Return the value with NaN and infinities as null, which is what JavaScript writes."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if not isinstance(value, dict | list):
        return value
    if level > _DEEPEST:
        return None
    if isinstance(value, dict):
        return {key: _plain(item, level + 1) for key, item in value.items()}
    return [_plain(item, level + 1) for item in value]
