"""What became of each file that was observed, in words that the rules of the source layer share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from diagnose.pipeline.case import lines_of
from diagnose.pipeline.finding import Evidence
from diagnose.pipeline.own_change import own_commands
from diagnose.pipeline.words import counted, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case, Standing
    from diagnose.pipeline.finding import Level
    from diagnose.project.freshness import State
    from diagnose.project.git import Commit
    from diagnose.sessions.files import Observation

# Files of a state beyond this many are counted, not told one by one.
_SHOWN: Final = 50
_SHORT: Final = 12
_COMMITS: Final = 3
_PATH: Final = 200
_METHODS: Final = {"read": "read", "write": "written", "edit": "left by an edit"}


class Told(msgspec.Struct, frozen=True):
    """An observation as a finding tells it; `level` None is the rule's own."""

    observation: Observation
    state: State
    # The path below the project as history names it, and as it is shown.
    path: str
    name: str
    # "read at 2026-10-20 14:35 (line 7)"
    how: str
    evidence: tuple[Evidence, ...]
    level: Level | None
    # "; the session's own commands did this (line 9)", or "".
    own: str


def tell(case: Case, status: str) -> Iterator[Told]:
    """Give what has a status, by path; a last one stands for what is beyond the number shown."""
    found = [standing for standing in case.standings if standing.state.status == status]
    for standing in found[:_SHOWN]:
        yield _told(case, standing, "")
    rest = found[_SHOWN:]
    if rest:
        # The one that stands for the rest is of the day, or asked about, where any of them is.
        one = next((s for s in rest if case.bears_on_question(s.observation)), rest[0])
        further = len(rest) - 1
        yield _told(case, one, f" (and {counted(further, 'further file')})" if further else "")


def _told(case: Case, standing: Standing, more: str) -> Told:
    one = standing.observation
    path = standing.path if standing.path is not None else one.path
    name = shortened(path, _PATH) + more
    how = f"{_METHODS[one.method]} at {case.clock(one.result.time)} (line {one.result.line})"
    evidence = [case.evidence(one.result)]
    if standing.path is not None and standing.state.status in ("changed", "unchanged"):
        blob = standing.state.blob
        evidence.append(Evidence(str(case.root / path), quote=f"blob {blob}" if blob else None))
    if standing.state.status == "changed":
        evidence += [
            Evidence(case.project.in_repository(path), commit=commit.id, quote=commit.subject)
            for commit in standing.state.commits[:_COMMITS]
        ]
    level: Level | None = None if case.bears_on_question(one) else "warning"
    own = ""
    if commands := own_commands(case, standing):
        level = "note"
        by_line = {call.entry.line: call.entry for call in commands}
        entries = [by_line[line] for line in sorted(by_line)]
        own = f"; the session's own commands did this ({lines_of(entries)})"
        evidence += [case.evidence(entry) for entry in entries[:_COMMITS]]
    return Told(one, standing.state, path, name, how, tuple(evidence), level, own)


def commit_name(case: Case, commit: Commit) -> str:
    """Return a commit as a person knows it: its id, shortened, its subject, author and time."""
    return (
        f"commit {commit.id[:_SHORT]} ({shortened(commit.subject)!r}, {shortened(commit.author)},"
        f" {case.clock(commit.time * 1000)})"
    )


def since(case: Case, state: State) -> str:
    """Say by which commits a file changed, or that the change is uncommitted."""
    if case.project.repository is None:
        return f"there is no history to ask: {case.project.obstacle}"
    if not state.commits:
        return "no commit since has touched it" + (
            ", the change is uncommitted" if state.uncommitted else ""
        )
    named = ", ".join(commit_name(case, commit) for commit in state.commits[:_COMMITS])
    more = len(state.commits) - _COMMITS
    told = f"changed since by {named}" + (f" and {counted(more, 'more')}" if more > 0 else "")
    return told + (", and further, uncommitted" if state.uncommitted else "")
