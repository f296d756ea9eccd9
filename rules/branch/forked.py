"""The session was forked or cloned, and the other side holds what this one does not.

What it finds
    A header that names the session from which this one was forked (`parentSession`), or another
    session of the project that was forked from this one, and the entries that only the other file
    holds: a warning where they are of the day, an error where this session has no message at all.
Why it matters
    `/fork` and `/clone` copy entries up to a point, under the same ids. What was said after it, in
    either file, is unknown to the other.
What proves it
    Both headers, the last entry that both hold, and the entries whose ids stand in one file alone.
    An original that cannot be found was deleted, moved or recorded on another machine: a note, and
    a warning where by its name it may hold the day, of which nothing is here.
What it cannot tell
    Sessions that were copied by hand or that name no parent. A fork of the fork is not followed.
What to do
    Open the other session with the command that stands beside the finding.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from diagnose.pipeline.case import cite, lines_of, named, title
from diagnose.pipeline.finding import Evidence, Finding, Level, Remedy, rule
from diagnose.pipeline.question import end_of
from diagnose.pipeline.words import counted, shortened
from diagnose.sessions.folder import created

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.reading import Session

# Forks beyond these, the oldest, are not looked at.
_SHOWN = 10


@rule(
    "PI205",
    "forked",
    layer="branch",
    levels=("note", "warning", "error"),
    verdict="elsewhere",
)
def forked(case: Case) -> Iterator[Finding]:
    """Find entries that only the original or a fork holds."""
    header = case.subject.header
    if case.origin is not None:
        yield from _only_there(case, case.origin.session, "the session was forked from {}, which")
    elif case.origin_name and header is not None:
        parent = header.text("parentSession") or case.origin_name
        yield Finding(
            f"the session was forked from {case.origin_name}, which is in none of Pi's session"
            " folders: it was deleted, moved or recorded on another machine",
            (Evidence(str(case.subject.path), header.line, quote=parent),),
            # By its name it may hold the day, of which nothing is here.
            level=None if case.day_here or not _may_hold(case, case.origin_name) else "warning",
            remedy=(
                Remedy(
                    "Look for the file in the trash, in a backup and on the machine of the"
                    " original; Pi itself sweeps no sessions away."
                ),
            ),
        )
    for fork in case.forks[:_SHOWN]:
        yield from _only_there(case, fork.session, "{} was forked from this session, and")


def _may_hold(case: Case, name: str) -> bool:
    """Tell whether a session that is gone was begun, by its name, before the asked day's end."""
    begun, asked = created(Path(name)), case.question.day_asked
    if begun is None or asked is None:
        return False
    return begun < end_of(asked, case.question.zone)


def _only_there(case: Case, other: Session, how: str) -> Iterator[Finding]:
    own = {entry.entry_id for entry in case.subject.entries}
    there = [entry for entry in other.entries if entry.entry_id and entry.entry_id not in own]
    if not any(entry.is_activity for entry in there):
        return
    day = case.active_on_day(there)
    spoken = any(entry.is_activity for entry in case.subject.entries)
    level: Level = ("warning" if spoken else "error") if day else "note"
    told = how.format(repr(shortened(title(other))))
    # The last entry that both hold is where the two part.
    point = next((e for e in case.subject.entries if e.entry_id == there[0].parent), None)
    parted = f"; they part after {named(point)}" if point is not None and point.entry_id else ""
    of_the_day = f" ({counted(len(day), 'message')} of the day)" if day else ""
    pieces = [cite(other, (day or there)[0]), cite(other, (day or there)[-1])]
    header = case.subject.header
    if header is not None and case.origin_name == other.path.name:
        origin = header.text("parentSession")
        pieces.append(Evidence(str(case.subject.path), header.line, quote=origin))
    if parted and point is not None:
        pieces.append(case.evidence(point))
    yield Finding(
        f"{told} holds {counted(len(there), 'entry')} that this one does not, its"
        f" {lines_of(there)}{of_the_day}{parted}",
        tuple(pieces),
        level=level,
        remedy=(Remedy("Open that session.", case.command_to_open(other)),),
    )
