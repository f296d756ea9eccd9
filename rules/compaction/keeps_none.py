"""A compaction keeps no earlier entry, on purpose.

What it finds
    A latest compaction whose `firstKeptEntryId` is its own id.
Why it matters
    The model has the summary and nothing of what was said before it, not even the last words.
What proves it
    The compaction entry.
What it cannot tell
    Why it was asked for so.
What to do
    Read the originals before it, or go back with `/tree`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI303", "keeps-none", layer="compaction", levels=("note",))
def keeps_none(case: Case) -> Iterator[Finding]:
    """Find a latest compaction that names itself as its boundary."""
    compaction = case.compaction
    if compaction is None or compaction.boundary is None:
        return
    if compaction.boundary.target == compaction.id:
        yield Finding(
            f"the compaction in {named(compaction)} keeps no earlier entry, by its own word",
            (case.evidence(compaction),),
        )
