"""A request was too long for the model, and Pi recovered from it by compacting.

What it finds
    A reply that failed because the request was too long, a context edit that takes it out, and a
    compaction after it.
Why it matters
    The compaction was not chosen: it came in the middle of the work, and dropped what was in use.
What proves it
    The failed reply's message, the edit and the compaction, in this order on the branch.
What it cannot tell
    What the model would have answered.
What to do
    Nothing, if the work went on well; else read the originals before the boundary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, rule
from diagnose.pipeline.words import find, shortened, words
from diagnose.sessions.javascript import get

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI309", "overflow-recovery", layer="compaction", levels=("note",))
def overflow_recovery(case: Case) -> Iterator[Finding]:
    """Find an overflow, the edit that removes it, and the compaction that follows."""
    for place, entry in enumerate(case.branch):
        if entry.message is None or entry.message.stop_reason != "error":
            continue
        after = case.branch[place + 1 :]
        edit = next(
            (
                one
                for one in after
                if one.edit is not None
                and one.edit.target == entry.id
                and one.edit.effect == "removes"
            ),
            None,
        )
        compaction = next((one for one in after if one.type == "compaction"), None)
        if edit is None or compaction is None:
            continue
        said = get(get(case.opened.value(entry), "message"), "errorMessage")
        if not isinstance(said, str) or not find(said, words("overflow_errors")):
            continue
        if find(said, words("no_overflow_errors")):
            continue
        yield Finding(
            f"the request before {named(entry)} was too long ({shortened(said)}); the failed reply"
            f" was taken out by {named(edit)}, and {named(compaction)} compacted what was before",
            (
                case.evidence(entry, said),
                case.evidence(edit, ""),
                case.evidence(compaction),
            ),
        )
