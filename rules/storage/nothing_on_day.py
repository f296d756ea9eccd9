"""Nothing is stored of the day, or of the thing, that was asked about.

What it finds
    The project has sessions, and neither the one under examination nor any other of this working
    directory, nor of a directory that is this project under another name, holds a user or assistant
    message of the day. A session of another project does not count, also where it is examined.
    As a warning: the day is there, and no entry up to its end names what was asked about.
Why it matters
    What is not recorded cannot be found in any layer. The rest of the report then speaks of
    another day: the last one before it on which something was recorded.
What proves it
    The messages nearest to the day, before and after it, by file and line; and messages of the day
    in files of the folder that Pi does not list, such as what a rewrite that was cut off leaves.
    For a thing: the files that were searched, and the first line after the day that names it.
What it cannot tell
    Whether a thing was told in other words or another language. Beyond 512 MB of files no more are
    searched. Why nothing was recorded: no work was done, Pi ran with `--no-session`, with another
    agent folder or on another machine, the file was deleted, or the day is counted in another time
    zone (`--tz`).
What to do
    Look on the other machine, in a backup, or in the project's history for that day.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from diagnose.evidence import UnreadableError
from diagnose.pipeline.case import cite, messages_by_day
from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened
from diagnose.sessions.search import lines_with

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


# The files that are searched for a word (bytes in all), and how many of them are cited.
_SEARCHED = 512 * 1024 * 1024
_CITED = 5
# In these kinds of question what is asked about is not what is missing.
_NOT_MISSING = ("outdated", "wrong-project")


@rule(
    "PI102",
    "nothing-on-day",
    layer="storage",
    levels=("error", "warning", "note"),
    verdict="not-stored",
)
def nothing_on_day(case: Case) -> Iterator[Finding]:
    """Find that no session of the project holds the day, or names what was asked about."""
    asked = case.question.day_asked
    if case.session is None and not case.neighbours:
        return  # that there is no session at all is PI101's and PI120's to tell
    if asked is None or not (case.question.is_moved or not _anything(case)):
        yield from _unnamed(case)
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


def _unnamed(case: Case) -> Iterator[Finding]:
    """Find that what was asked about is named nowhere up to the end of the day."""
    about, bounds = case.question.about, case.question.bounds()
    if about is None or bounds is None or case.question.kind in _NOT_MISSING:
        return
    later: Evidence | None = None
    searched: list[Path] = []
    size = unsearched = 0
    for path in case.searched:
        try:
            size += path.stat().st_size
            if size > _SEARCHED:
                unsearched += 1
                continue
            for hit in lines_with(path, about.split()):
                if hit.time is None or hit.time < bounds[1]:
                    return
                later = later or Evidence(str(path), hit.line, hit.entry)
        except (OSError, UnreadableError):
            unsearched += 1  # PI118 tells the examined one; of others it is only counted
            continue
        searched.append(path)
    if not searched:
        return
    names = [Evidence(str(path), quote="no entry up to then names it") for path in searched]
    after = f"; it is first named after that, in line {later.line}" if later is not None else ""
    if later is not None and later.path != str(searched[0]):
        after += f" of {Path(later.path).name}"
    rest = f"; {counted(unsearched, 'more file')} could not be searched" if unsearched else ""
    where = "in no entry" if len(searched) == 1 else f"in none of the {len(searched)} session files"
    yield Finding(
        f"{shortened(about)!r} is named {where} of this project up to the end of {case.day_name}"
        f"{after}{rest}; whether it was told in other words, in a session that is gone, or never,"
        " cannot be told from here",
        (*([later] if later is not None else []), *names[:_CITED]),
        # Of a question that is not understood, any word may be taken for what it is about.
        level="note" if case.question.kind == "unknown" else "warning",
        remedy=(
            Remedy(
                "Ask again with other words (--about). A backup, another machine or the history of"
                " git for that day could show that it was done."
            ),
        ),
    )
