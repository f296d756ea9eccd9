"""The walk: every rule in layer order, each with one of four outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from diagnose.evidence import UnreadableError
from diagnose.pipeline.finding import Finding, Level, NotChecked, NotGiven, Rule
from diagnose.project.git import GitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from diagnose.pipeline.case import Case

_RANK: dict[Level, int] = {"note": 1, "warning": 2, "error": 3}


class Outcome(msgspec.Struct, frozen=True):
    """What became of one rule; the findings stand also where it failed after giving them."""

    rule: Rule
    outcome: Literal["clear", "found", "not-checked", "failed"]
    reason: str | None = None
    findings: tuple[Finding, ...] = ()
    # Whether what was not looked at leaves a doubt: not where it is evidence that was not given.
    is_doubt: bool = False


def level_of(rule: Rule, finding: Finding) -> Level:
    """Return the level of a finding; ValueError where the rule does not declare it."""
    level = finding.level or rule.level
    if level not in rule.levels:
        raise ValueError(f"{rule.code} gives a level that its table does not have: {level}")
    return level


def walk(
    case: Case, rules: Iterable[Rule], asked: Callable[[Rule], None] | None = None
) -> list[Outcome]:
    """Ask every rule in turn; one that crashes hides no other's findings.

    `asked` is told of each rule before it is asked.
    """
    outcomes = []
    for rule in rules:
        if asked is not None:
            asked(rule)
        outcomes.append(_ask(case, rule))
    return outcomes


def _ask(case: Case, rule: Rule) -> Outcome:
    findings: list[Finding] = []
    try:
        for finding in rule.check(case):
            level_of(rule, finding)
            findings.append(finding)
    except (NotChecked, UnreadableError, GitError) as error:
        doubt = not isinstance(error, NotGiven)
        return Outcome(rule, "not-checked", str(error), tuple(findings), is_doubt=doubt)
    except Exception as error:  # noqa: BLE001 (a fault of the rule is reported as its outcome)
        reason = f"{type(error).__name__}: {error}"
        return Outcome(rule, "failed", reason, tuple(findings), is_doubt=True)
    return Outcome(rule, "found" if findings else "clear", None, tuple(findings))


def at_least(level: Level, threshold: Level) -> bool:
    """Tell whether a level is at or above another."""
    return _RANK[level] >= _RANK[threshold]


def worst(levels: Iterable[Level]) -> Level | None:
    """Return the gravest of the levels, None where there is none."""
    return max(levels, key=_RANK.__getitem__, default=None)
