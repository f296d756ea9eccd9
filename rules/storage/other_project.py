"""The day is recorded under another working directory that is this project.

What it finds
    Sessions of another working directory with activity of the day, where that directory is this
    project: another spelling or path of the same folder, a folder inside it or above it, a worktree
    or clone of the same repository, or a folder that is gone (or has no history of its own) but
    whose recorded file contents are in this repository's history. And sessions of any directory
    whose system message of the day says that their tools ran in this one.
Why it matters
    Pi names a session folder after the working directory and follows nothing: after a folder was
    renamed or moved, `--continue` knows nothing of the old sessions, though all are on disk.
What proves it
    The other session's messages of the day and its header's working directory; and what shows the
    kinship: a path, the system message, or the commit that holds what the session read.
What it cannot tell
    Kinship of a folder that is gone and whose session read no file of at least 24 characters that
    was ever committed, or read such on another day than the asked one and more of other projects.
What to do
    Open the session with the command that stands beside the finding. Where its folder is gone, Pi
    asks whether to go on in the present one, or to fork into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import cite, title
from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

# Sessions beyond these, the oldest, are counted.
_SHOWN = 10


@rule("PI103", "other-project", layer="storage", levels=("error", "warning"), verdict="elsewhere")
def other_project(case: Case) -> Iterator[Finding]:
    """Find the day in a session of another directory that is this project."""
    here = bool(case.day_here) and case.is_own
    kin, own = case.kin_on_day, case.session
    shared = {e.entry_id for e in own.entries if e.entry_id} if own and kin else set()
    found = []
    for other, kinship in kin:
        # A fork into this folder carries the other's entries under their ids.
        day = [e for e in case.active_on_day(other.session.entries) if e.entry_id not in shared]
        if day and not case.is_relative(other.session):
            found.append((other.session, kinship, day))
    for session, kinship, day in found[:_SHOWN]:
        pieces = [cite(session, day[-1]), cite(session, day[0])]
        if kinship.path is not None:
            pieces.append(Evidence(kinship.path, kinship.line, commit=kinship.commit))
        yield Finding(
            f"the day's activity is recorded under {session.cwd}, in"
            f" {shortened(title(session))!r}: {counted(len(day), 'message')}, the last at"
            f" {case.clock(day[-1].time)}; it is this project's: {kinship.how}",
            tuple(pieces),
            level="warning" if here else None,
            remedy=(Remedy("Open that session.", case.command_to_open(session)),),
        )
    if len(found) > _SHOWN:
        rest = found[_SHOWN:]
        yield Finding(
            f"{counted(len(rest), 'more session')} of the day are recorded under other working"
            " directories that are this project",
            tuple(cite(session, day[-1]) for session, _, day in rest[:_SHOWN]),
            level="warning" if here else None,
        )
