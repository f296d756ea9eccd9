"""Another session of this project holds the day.

What it finds
    The session under examination has nothing of the day, and another session of the same
    working directory has.
Why it matters
    `pi` without `--continue` begins a new session; the agent then knows nothing of yesterday,
    though all of it is on disk.
What proves it
    The other session's file, its user and assistant messages of the day, and its header's
    working directory.
What it cannot tell
    Which of several sessions of the day was meant.
What to do
    Open the other session with the command that stands beside the finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import cite, title
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

# Sessions beyond these, the oldest, are counted.
_SHOWN = 10


@rule("PI104", "other-session", layer="storage", levels=("error", "warning"), verdict="elsewhere")
def other_session(case: Case) -> Iterator[Finding]:
    """Find the day in another session of the same working directory."""
    here = bool(case.day_here)
    shared = {e.entry_id for e in case.session.entries} if case.session else set()
    found = []
    for other in case.others_on_day:
        # A fork carries its parent's entries under their ids; that is PI205's to tell.
        day = [e for e in case.active_on_day(other.session.entries) if e.entry_id not in shared]
        if day and not case.is_relative(other.session):
            found.append((other.session, day))
    for session, day in found[:_SHOWN]:
        yield Finding(
            f"the day's activity is in another session, {shortened(title(session))!r}:"
            f" {counted(len(day), 'message')}, the last at {case.clock(day[-1].time)}",
            (cite(session, day[-1]), cite(session, day[0])),
            level="warning" if here else None,
            remedy=(Remedy("Open that session.", case.command_to_open(session)),),
        )
    if len(found) > _SHOWN:
        rest = found[_SHOWN:]
        yield Finding(
            f"the day's activity is in {counted(len(rest), 'more session')} of this project",
            tuple(cite(session, day[-1]) for session, day in rest[:_SHOWN]),
            level="warning" if here else None,
        )
