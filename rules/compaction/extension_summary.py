"""An extension wrote a summary, in a form of its own.

What it finds
    Compactions and branch summaries of the branch with `fromHook`.
Why it matters
    Pi tracks no files for them, and does not carry their lists on into later summaries.
What proves it
    The entry's `fromHook`.
What it cannot tell
    Which extension it was, and what its `details` mean.
What to do
    Look at the extension's own documentation; read the originals for what you need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI310", "extension-summary", layer="compaction", levels=("note",))
def extension_summary(case: Case) -> Iterator[Finding]:
    """Find summaries that an extension wrote."""
    for entry in case.branch:
        if entry.boundary is not None and entry.boundary.from_hook:
            kind = "compaction" if entry.type == "compaction" else "branch summary"
            yield Finding(
                f"an extension wrote the {kind} in {named(entry)}; Pi tracks no files for it",
                (case.evidence(entry),),
            )
