"""What the model has of the day is a summary of a summary.

What it finds
    Two or more compactions on the branch after messages of the day.
Why it matters
    Each compaction summarises the summary before it; detail thins out with every one.
What proves it
    The compaction entries, in their order on the branch after the day's first message.
What it cannot tell
    Which of them dropped a detail; PI306 compares with the latest alone.
What to do
    Go by the originals, not by the latest summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import lines_of
from diagnose.pipeline.finding import Finding, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

# So many compactions are cited, the latest.
_SHOWN = 10


@rule("PI307", "summary-of-summary", layer="compaction", levels=("note",))
def summary_of_summary(case: Case) -> Iterator[Finding]:
    """Find a day that went through more than one compaction."""
    day = case.active_on_day(case.compacted)
    if not day:
        return
    # By id, as Pi looks for a boundary: the first entry of the branch that has it.
    place: dict[object, int] = {}
    for number, entry in enumerate(case.branch):
        place.setdefault(entry.id, number)
    first = place[day[0].id]
    # A compaction that kept the message did not summarise it.
    through = [
        entry
        for entry in case.compactions
        if entry.boundary is not None
        and first < place[entry.id]
        and (first < place.get(entry.boundary.target, place[entry.id]))
    ]
    if len(through) > 1:
        yield Finding(
            f"what line {day[0].line} says went through {len(through)} compactions,"
            f" {lines_of(through)}",
            tuple(case.evidence(entry) for entry in reversed(through[-_SHOWN:])),
        )
