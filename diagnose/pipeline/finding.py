"""What rules are made of: evidence, findings, remedies, levels, and the rule itself."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from diagnose.pipeline.case import Case

Level = Literal["error", "warning", "note"]
Layer = Literal["storage", "branch", "compaction", "source", "ledger", "privacy"]
# The order of the walk, which is never skipped; the ledger and privacy stand beside it.
LAYERS: tuple[Layer, ...] = ("storage", "branch", "compaction", "source")
Kind = Literal[
    "intact",
    "not-stored",
    "elsewhere",
    "off-branch",
    "summarised",
    "not-sent",
    "never-observed",
    "outdated",
    "damaged",
]
# A quote longer than this (characters) is cut; it is there to be recognised, not to be read.
_QUOTE = 240


class NotChecked(Exception):  # noqa: N818 (an outcome, no error)
    """A view of the case that cannot be built, and the true reason."""


class NotGiven(NotChecked):
    """Evidence that a person may give and did not, such as an events capture: no doubt is left."""


class Evidence(msgspec.Struct, frozen=True):
    """Where a person can check a finding by hand; lines count from 1.

    With a `commit`, `path` is a path in that commit; else it is a file on this machine.
    """

    path: str
    line: int | None = None
    entry: str | None = None
    commit: str | None = None
    quote: str | None = None

    def __post_init__(self) -> None:
        if self.quote is not None and len(self.quote) > _QUOTE:
            msgspec.structs.force_setattr(self, "quote", self.quote[: _QUOTE - 1] + "…")


class Remedy(msgspec.Struct, frozen=True):
    """What a person can do, and the command for it where there is one."""

    text: str
    command: str | None = None


class Finding(msgspec.Struct, frozen=True):
    """One statement of a rule. The first piece of evidence is the primary one.

    `level` None is the rule's default.
    """

    message: str
    evidence: tuple[Evidence, ...]
    level: Level | None = None
    remedy: tuple[Remedy, ...] = ()

    def __post_init__(self) -> None:
        if not self.evidence:
            raise ValueError(f"a finding without evidence: {self.message}")


class Rule(msgspec.Struct, frozen=True):
    """A check with its code, name, layer, levels (the default first) and page."""

    code: str
    name: str
    layer: Layer
    levels: tuple[Level, ...]
    # What an error of this rule answers to the person.
    verdict: Kind
    check: Callable[[Case], Iterator[Finding]]
    page: str

    @property
    def level(self) -> Level:
        """The default level."""
        return self.levels[0]


def rule(
    code: str, name: str, *, layer: Layer, levels: tuple[Level, ...], verdict: Kind = "intact"
) -> Callable[[Callable[[Case], Iterator[Finding]]], Rule]:
    """Make a rule of a generator of findings; the docstring of its module is its page.

    `verdict` is what an error answers; a rule that never gives an error leaves it out.
    """
    if not levels or set(levels) - set(get_args(Level)):
        raise ValueError(f"{code} has no level, or one that is none")
    if ("error" in levels) != (verdict != "intact"):
        raise ValueError(f"{code}: a rule has a verdict if, and only if, it may give an error")

    def make(check: Callable[[Case], Iterator[Finding]]) -> Rule:
        page = sys.modules[check.__module__].__doc__ or ""
        return Rule(code, name, layer, levels, verdict, check, page)

    return make
