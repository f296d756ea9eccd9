"""Another branch or commit is checked out than when the files were observed.

What it finds
    By the reflog: a branch that differs from the one of then, or a commit of then that HEAD does
    not reach any more. And commits of the day that came an hour or more after the last entry of it
    in any session: work that no session holds.
Why it matters
    The agent's memory of the project is of another line of history, or ends before the work did:
    a process that cannot write its file goes on in memory, and what it shows is not stored.
What proves it
    The reflog of HEAD at the time of the day's last tool result of a file or of git, what the
    reflog says moved it, HEAD now, and the results that show the commit of then. Of work after the
    last entry: that entry, and the first and last commit with their times.
What it cannot tell
    Nothing without a reflog that reaches so far back; a fresh clone has none. Nor who made the
    commits: a person, another program, or Pi whose writes failed.
What to do
    Check out what was checked out then, or have the agent look again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from diagnose.pipeline.case import cite, named
from diagnose.pipeline.finding import Evidence, Finding, NotChecked, rule
from diagnose.pipeline.words import counted, shortened
from diagnose.sessions.calls import each_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

_SHORT = 12
# A person commits what a session left; later than this (milliseconds) it is work of its own.
_WELL_AFTER = 60 * 60 * 1000
_SWITCH = "checkout: moving from "
# Git shows seven digits of a commit at least.
_ABBREVIATED = 7
# Results that show the commit, beyond these, are not cited.
_SHOWN = 3
# What takes commits out of a branch's history, as the reflog has it.
_MOVES = re.compile(r"reset|rebase|commit \(amend\)|filter-branch|pull --rebase")
_GIT = re.compile(r"\bgit\b")


@rule("PI507", "head-moved", layer="source", levels=("warning", "note"))
def head_moved(case: Case) -> Iterator[Finding]:
    """Compare what was checked out with what is, and the day's commits with its entries."""
    yield from _after_the_last_entry(case)
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


def _after_the_last_entry(case: Case) -> Iterator[Finding]:
    """Find commits of the day that came well after all that any session holds of it."""
    if case.question.day_asked is None or case.question.is_moved or not case.day_here:
        return
    repository = case.project.repository
    if repository is None or not case.is_own:
        return
    sessions = [case.opened, *(one.session for one in case.others_on_day)]
    day = [(e.time, s, e) for s in sessions for e in case.on_day(s.entries) if e.time is not None]
    time, session, entry = max(day, key=lambda one: one[0])
    # What was amended or rebased then may have been made long before.
    anew = {commit for _, commit, what in repository.reflog if _MOVES.match(what)}
    after = [
        one
        for one in repository.commits
        if one.time * 1000 > time and case.question.includes(one.time * 1000) and one.id not in anew
    ]
    after.sort(key=lambda one: one.time)
    if not after or after[-1].time * 1000 - time < _WELL_AFTER:
        return
    first, last = after[0], after[-1]
    spoken = f"the first at {case.clock(first.time * 1000)}, " if len(after) > 1 else ""
    yield Finding(
        f"the last entry of the day is {named(entry)}, at {case.clock(time)}, and"
        f" {counted(len(after), 'commit')} of that day came after it, {spoken}the last at"
        f" {case.clock(last.time * 1000)}: no session holds that work; if Pi did it, its file was"
        " not written any more, and what was said is not to be found here",
        (
            cite(session, entry),
            Evidence(".", commit=first.id, quote=first.subject),
            *([Evidence(".", commit=last.id, quote=last.subject)] if len(after) > 1 else []),
        ),
        # More than a note would accuse everyone who works on without Pi.
        level="note",
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
