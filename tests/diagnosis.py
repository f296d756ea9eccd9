"""What the tests of rules work with: where a project is, and the findings of a walk over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from diagnose.pipeline.walk import Outcome, level_of
from diagnose.sessions.folder import encode

if TYPE_CHECKING:
    from diagnose.pipeline.case import Case
    from diagnose.pipeline.finding import Finding


@dataclass(frozen=True, slots=True)
class Place:
    """Where Pi's agent folder and the project's working directory are."""

    agent_dir: Path
    cwd: Path

    def folder(self, cwd: str | Path | None = None) -> Path:
        """Return the session folder of a working directory, this project's by default."""
        return self.agent_dir / "sessions" / encode(str(cwd or self.cwd))


class Diagnosis(dict[str, list["Finding"]]):
    """The findings of a walk by code, their levels filled in; a code without findings is []."""

    def __init__(self, case: Case, outcomes: list[Outcome]) -> None:
        self.case = case
        self.outcomes = {one.rule.code: one for one in outcomes}
        super().__init__(
            (one.rule.code, [replace(f, level=level_of(one.rule, f)) for f in one.findings])
            for one in outcomes
        )

    def one(self, code: str) -> Finding:
        """Return the only finding of a rule."""
        (found,) = self[code]
        return found

    def lines(self, code: str) -> list[int | None]:
        """Return the lines that the findings of a rule cite, in order."""
        return [piece.line for one in self[code] for piece in one.evidence]

    def codes(self, *levels: str) -> set[str]:
        """Return the codes with findings, of these levels or all."""
        return {
            code
            for code, found in self.items()
            if any(not levels or one.level in levels for one in found)
        }


# The fixtures of `tests/rules/conftest.py`.
Write: TypeAlias = Callable[..., Path]
Diagnose: TypeAlias = Callable[..., Diagnosis]
