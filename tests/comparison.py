"""Comparing two accounts of a session: ours, and the real Pi's."""

from __future__ import annotations

import math
from typing import Any

# What both must agree on; `error` is compared by whether there is one.
FIELDS = (
    "header",
    "leaf",
    "leaf_line",
    "entries",
    "name",
    "model",
    "thinkingLevel",
    "branch",
    "context",
    "wire",
    "stats",
)


def difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str | None:
    """Return where two accounts differ first, None where they agree.

    JSON writes neither `undefined` nor NaN, so a field that is null counts as absent.
    """
    if bool(ours.get("error")) != bool(theirs.get("error")):
        return f"error: ours {ours.get('error')!r}, Pi's {theirs.get('error')!r}"
    if ours.get("error"):
        return None
    for field in FIELDS:
        found = _first(ours.get(field), theirs.get(field), field)
        if found is not None:
            return found
    return None


def _first(ours: Any, theirs: Any, place: str) -> str | None:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            found = _first(ours.get(key), theirs.get(key), f"{place}.{key}")
            if found is not None:
                return found
        return None
    if isinstance(ours, list) and isinstance(theirs, list):
        # Not strict: where one is longer, what differs before that says more than the lengths.
        for number, (one, other) in enumerate(zip(ours, theirs, strict=False)):
            found = _first(one, other, f"{place}[{number}]")
            if found is not None:
                return found
        if len(ours) != len(theirs):
            return f"{place}: ours has {len(ours)} items, Pi's {len(theirs)}"
        return None
    numbers = (int, float)
    if isinstance(ours, numbers) and isinstance(theirs, numbers):
        same_kind = isinstance(ours, bool) == isinstance(theirs, bool)
        # Sums of costs: the order of adding is ours to keep, the last digit is not.
        if same_kind and math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=1e-12):
            return None
    elif ours == theirs:
        return None
    return f"{place}: ours {str(ours)[:200]!r}, Pi's {str(theirs)[:200]!r}"
