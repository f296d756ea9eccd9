"""Nothing is stored of the day that was asked about.

What it finds
    The project has sessions, and neither the one under examination nor any other of this working
    directory, nor of a directory that is this project under another name, holds a user or assistant
    message of the day. A session of another project does not count, also where it is examined.
Why it matters
    What is not recorded cannot be found in any layer. The rest of the report then speaks of
    another day: the last one before it on which something was recorded.
What proves it
    The messages nearest to the day, before and after it, by file and line; and messages of the day
    in files of the folder that Pi does not list, such as what a rewrite that was cut off leaves.
What it cannot tell
    Why nothing was recorded: no work was done, Pi ran with `--no-session`, with another agent
    folder or on another machine, the file was deleted, or the day is counted in another time zone
    (`--tz`).
What to do
    Look on the other machine, in a backup, or in the project's history for that day.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import cite, messages_by_day
from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI102", "nothing-on-day", layer="storage", levels=("error",), verdict="not-stored")
def nothing_on_day(case: Case) -> Iterator[Finding]:
    """Find that no session of the project holds the day."""
    asked = case.question.day_asked
    if asked is None or (case.session is None and not case.neighbours):
        return  # that there is no session at all is PI101's and PI120's to tell
    if not case.question.is_moved and _anything(case):
        return
    near = [
        f"{day} in {session.path.name}, line {entries[-1].line}"
        for day, session, entries in case.nearest
    ]
    pieces = [cite(session, entries[-1]) for _, session, entries in case.nearest]
    if not pieces:
        path = case.session.path if case.session else case.neighbours[0].path
        pieces = [Evidence(str(path), quote="no user or assistant message")]
    unlisted = ""
    for session in case.leftovers:
        there = messages_by_day(session, case.question).get(asked)
        if there:
            pieces.append(cite(session, there[-1]))
            unlisted += (
                f"; {counted(len(there), 'message')} of that day are in {session.path.name}, which"
                " Pi does not list"
            )
    rest = f"; the rest of the report is about {case.day_name}" if case.question.is_moved else ""
    nearest = (
        f"the nearest days with messages are {' and '.join(near)}"
        if near
        else "no other day has a message either"
    )
    yield Finding(
        f"nothing is stored of {asked}, {asked:%A}; {nearest}{unlisted}{rest}",
        tuple(pieces),
        remedy=(
            Remedy("Ask about a day that is recorded with --day, or look in another agent folder."),
        ),
    )


def _anything(case: Case) -> bool:
    here = case.day_here and case.is_own
    # A file that Pi refuses or passes over holds the day all the same: PI107 and PI108 tell it.
    return bool(here or case.others_on_day or case.passed_over_on_day or case.kin_on_day)
