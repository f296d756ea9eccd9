"""The JSON Schemas, and words and tables that are data: the only place where a shape is written."""

from __future__ import annotations

import json
from functools import cache

# Not importlib.resources, which imports zipfile and tempfile: 6 ms of every run.
from pkgutil import get_data
from typing import Any


@cache
def raw(name: str) -> str:
    """Return the text of a file of this folder, `entry.schema` or `words`; by its name alone."""
    data = get_data("diagnose.schemas", f"{name}.json")
    if data is None:
        raise FileNotFoundError(f"{name}.json is not installed with diagnose.schemas")
    return data.decode("utf-8")


@cache
def schema(name: str) -> dict[str, Any]:
    """Return the schema of an `entry`, a `report` or a `case`."""
    value: dict[str, Any] = json.loads(raw(f"{name}.schema"))
    return value
