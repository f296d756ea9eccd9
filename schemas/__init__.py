"""The JSON Schemas, and words and tables that are data: the only place where a shape is written."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def raw(name: str) -> str:
    """Return the text of a file of this folder, `entry.schema` or `words`; by its name alone."""
    return files("diagnose.schemas").joinpath(f"{name}.json").read_text("utf-8")


@cache
def schema(name: str) -> dict[str, Any]:
    """Return the schema of an `entry`, a `report` or a `case`."""
    value: dict[str, Any] = json.loads(raw(f"{name}.schema"))
    return value
