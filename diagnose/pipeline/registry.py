"""The rules, reached by name: the only place that knows where they are."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from diagnose.pipeline.finding import Rule


def pipeline() -> tuple[Rule, ...]:
    """Return the rules in the order in which they are asked: storage, branch, compaction, source.

    They are imported here and not before, so that `--help` loads none of them.
    """
    return cast("tuple[Rule, ...]", import_module("diagnose.rules").PIPELINE)
