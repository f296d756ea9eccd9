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

from diagnose.pipeline.finding import Finding, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI307", "summary-of-summary", layer="compaction", levels=("note",))
def summary_of_summary(case: Case) -> Iterator[Finding]:
    """Find a day that went through more than one compaction."""
    day = case.active_on_day(case.compacted)
    if not day:
        return
    start = case.branch.index(day[0])
    through = [entry for entry in case.branch[start:] if entry.type == "compaction"]
    if len(through) > 1:
        lines = ", ".join(str(entry.line) for entry in through)
        yield Finding(
            f"what line {day[0].line} and after say went through {len(through)} compactions, in"
            f" lines {lines}",
            tuple(case.evidence(entry) for entry in reversed(through)),
        )
