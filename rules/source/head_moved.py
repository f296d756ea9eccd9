"""Another branch or commit is checked out than when the files were observed.

What it finds
    By the reflog: a branch that differs from the one of then, or a commit of then that HEAD does
    not reach any more.
Why it matters
    The agent's memory of the project is of another line of history.
What proves it
    The reflog of HEAD at the time of the day's last tool result of a file or of git, what the
    reflog says moved it, HEAD now, and the results that show the commit of then.
What it cannot tell
    Nothing without a reflog that reaches so far back; a fresh clone has none.
What to do
    Check out what was checked out then, or have the agent look again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Evidence, Finding, NotChecked, rule
from diagnose.pipeline.words import shortened
from diagnose.sessions.calls import each_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

_SHORT = 12
_SWITCH = "checkout: moving from "
# Git shows seven digits of a commit at least.
_ABBREVIATED = 7
# Results that show the commit, beyond these, are not cited.
_SHOWN = 3
# What takes commits out of a branch's history, as the reflog has it.
_MOVES = re.compile(r"reset|rebase|commit \(amend\)|filter-branch|pull --rebase")
_GIT = re.compile(r"\bgit\b")


@rule("PI507", "head-moved", layer="source", levels=("warning",))
def head_moved(case: Case) -> Iterator[Finding]:
    """Compare what was checked out with what is."""
    times = [
        one.result.time
        for one in case.observations
        if one.result.time is not None and case.question.includes(one.result.time)
    ]
    git = _git_results(case)
    times += [entry.time for entry in git if entry.time is not None]
    if not times:
        return
    repository = case.project.repository
    if repository is None:
        raise NotChecked(f"there is no history to ask: {case.project.obstacle}")
    then = max(times) / 1000
    reflog = repository.reflog
    before = [one for one in reflog if one[0] <= then]
    if not before:
        raise NotChecked("the reflog does not reach back to the day")
    _, commit, _ = before[-1]
    after = [what for time, _, what in reflog if time > then and what.startswith(_SWITCH)]
    was = after[0].removeprefix(_SWITCH).split(" to ")[0] if after else repository.branch
    reached = any(one.id == commit for one in repository.commits)
    if was != repository.branch:
        yield Finding(
            f"{shortened(str(was))} was checked out then, at {commit[:_SHORT]}; now it is"
            f" {shortened(repository.branch or 'no branch')}, at {repository.head[:_SHORT]}",
            (Evidence(".", commit=commit), Evidence(".", commit=repository.head)),
        )
    elif not reached:
        moved = next((one for one in reflog if one[0] > then and _MOVES.match(one[2])), None)
        told, log = "", str(repository.git_dir / "logs" / "HEAD")
        if moved is not None:
            told = f": by the reflog, {shortened(moved[2])!r} at {case.clock(moved[0] * 1000)}"
        shown = [entry for entry in git if commit[:_ABBREVIATED] in case.text(entry)]
        yield Finding(
            f"the commit that was checked out then, {commit[:_SHORT]}, is not in the history of"
            f" HEAD ({repository.head[:_SHORT]}) any more{told}",
            (
                Evidence(".", commit=commit),
                Evidence(".", commit=repository.head),
                *((Evidence(log, quote=moved[2]),) if moved is not None else ()),
                *(case.evidence(entry) for entry in shown[:_SHOWN]),
            ),
        )


def _git_results(case: Case) -> list[Entry]:
    """Return the results of the day's own git commands."""
    day = [
        call
        for call in case.commands_run
        if call.result is not None and case.question.includes(call.result.time)
    ]
    return [
        call.result
        for call, given in each_arguments(case.opened, day)
        if call.result is not None and _GIT.search(str(given.get("command")))
    ]
