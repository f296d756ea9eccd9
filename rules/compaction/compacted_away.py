"""The day was compacted away: the model has a summary of it.

What it finds
    Messages of the day on the active branch, before the boundary that the latest compaction keeps.
    Where it is other days' messages that were compacted and one of them has what was asked about,
    that is a note. So it is where the boundary itself is lost: PI302 tells why nothing is kept.
Why it matters
    The model is sent a summary in their place. Detail that mattered only later is not in it. The
    originals are still in the file: this is a trouble of retrieval, not a lost record.
What proves it
    The compaction entry, its `firstKeptEntryId`, and the lines before that boundary.
What it cannot tell
    Whether what was asked about is in the summary in other words; PI306 names what is missing.
What to do
    Read the originals at the lines named, and tell the agent what it needs of them. Or go back to
    before the compaction with `/tree`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import lines_of, named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.pipeline.finding import Level
    from diagnose.sessions.entry import Entry


@rule("PI301", "compacted-away", layer="compaction", levels=("error", "note"), verdict="summarised")
def compacted_away(case: Case) -> Iterator[Finding]:
    """Find messages of the day before the kept boundary."""
    compaction = case.compaction
    if compaction is None:
        return
    day = case.active_on_day(case.compacted)
    if day:
        level: Level | None = "note" if case.boundary_is_lost else None
        yield _finding(case, compaction, day, "of the day", level)
    elif case.question.about is not None:
        spoken = [entry for entry in case.compacted if entry.is_activity]
        asked = [entry for entry in spoken if case.mentions(case.text(entry))]
        if asked:
            of = f"that speak of {shortened(case.question.about)!r}, none of them of the day"
            yield _finding(case, compaction, asked, of, "note")


def _finding(
    case: Case, compaction: Entry, entries: list[Entry], of: str, level: Level | None
) -> Finding:
    was = "was" if len(entries) == 1 else "were"
    ends = dict.fromkeys((entries[0].line, entries[-1].line))
    return Finding(
        f"{counted(len(entries), 'message')} {of}, {lines_of(entries)}, {was} compacted away: the"
        f" model is sent the summary in {named(compaction)}, which keeps {case.boundary_words}, and"
        " the originals are in the file",
        (case.evidence(compaction), *(case.evidence(e) for e in entries if e.line in ends)),
        level=level,
        remedy=(
            Remedy(
                f"Read the originals ({lines_of(entries)}) and tell the agent what it needs of"
                " them."
            ),
        ),
    )
