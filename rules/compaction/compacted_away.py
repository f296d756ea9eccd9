"""The day was compacted away: the model has a summary of it.

What it finds
    Messages of the day on the active branch, before the boundary that the latest compaction keeps.
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
from diagnose.pipeline.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI301", "compacted-away", layer="compaction", levels=("error",), verdict="summarised")
def compacted_away(case: Case) -> Iterator[Finding]:
    """Find messages of the day before the kept boundary."""
    compaction = case.compaction
    day = case.active_on_day(case.compacted)
    if compaction is None or not day:
        return
    yield Finding(
        f"{counted(len(day), 'message')} of the day, {lines_of(day)}, were compacted away: the"
        f" model is sent the summary in {named(compaction)}, and the originals are in the file",
        (case.evidence(compaction), case.evidence(day[0]), case.evidence(day[-1])),
        remedy=(
            Remedy(
                f"Read the originals ({lines_of(day)}) and tell the agent what it needs of them."
            ),
        ),
    )
