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
from diagnose.pipeline.words import is_overflow, shortened
from diagnose.sessions.javascript import get

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry


@rule("PI309", "overflow-recovery", layer="compaction", levels=("note",))
def overflow_recovery(case: Case) -> Iterator[Finding]:
    """Find an overflow, the edit that removes it, and the compaction that follows."""
    failed: dict[object, Entry] = {}
    edited: list[tuple[Entry, Entry]] = []
    for entry in case.branch:
        if entry.role == "user":
            failed, edited = {}, []  # what follows the next prompt is no recovery
        elif entry.message is not None and entry.message.stop_reason == "error":
            failed[entry.id] = entry
        elif entry.edit is not None and entry.edit.effect == "removes":
            if entry.edit.target in failed:
                edited.append((failed.pop(entry.edit.target), entry))
        elif entry.type == "compaction":
            for reply, edit in edited:
                yield from _overflow(case, reply, edit, entry)
            edited = []


def _overflow(case: Case, reply: Entry, edit: Entry, compaction: Entry) -> Iterator[Finding]:
    said = get(get(case.opened.value(reply), "message"), "errorMessage")
    if not isinstance(said, str) or not is_overflow(said):
        return
    yield Finding(
        f"the request before {named(reply)} was too long ({shortened(said)}); the failed reply was"
        f" taken out by {named(edit)}, and {named(compaction)} compacted what was before",
        (case.evidence(reply, said), case.evidence(edit, ""), case.evidence(compaction)),
    )
