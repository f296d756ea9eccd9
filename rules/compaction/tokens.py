"""How large the context was before a compaction, and after it.

What it finds
    For each compaction of the branch: the tokens before, from its entry; with an events capture
    also the estimate after, and the reason (manual, threshold or overflow).
Why it matters
    A compaction that frees little will soon be followed by another, and each loses detail.
What proves it
    `tokensBefore` of the compaction entry; `estimatedTokensAfter` and `reason` of the capture's
    `compaction_end`, joined by `firstKeptEntryId` and the tokens before.
What it cannot tell
    Without a capture, why it was done and how much was left: the session does not record either.
    The figure after is Pi's estimate, not the provider's count.
What to do
    Nothing, if the figures look right. Capture a run with `pi --mode json` to have both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import lines_of
from diagnose.pipeline.finding import Evidence, Finding, NotChecked, rule
from diagnose.pipeline.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry
    from diagnose.sessions.events import Capture, CapturedCompaction


# So many compactions are told one by one, the latest.
_SHOWN = 10


@rule("PI313", "tokens", layer="compaction", levels=("note",))
def tokens(case: Case) -> Iterator[Finding]:
    """Tell the tokens before and after each compaction."""
    try:
        capture: Capture | None = case.captured
    except NotChecked:
        capture = None
    counted_only = case.compactions[:-_SHOWN]
    if counted_only:
        yield Finding(
            f"{counted(len(counted_only), 'earlier compaction')}, {lines_of(counted_only)}",
            (case.evidence(counted_only[0], ""), case.evidence(counted_only[-1], "")),
        )
    for entry in case.compactions[-_SHOWN:]:
        before = entry.boundary.tokens_before if entry.boundary else None
        if before is None:
            continue
        seen = _captured(entry, capture)
        if seen is None or capture is None:
            yield Finding(
                f"the compaction in line {entry.line} was made of {before:,.0f} tokens; how many"
                " were left, and why it was done, the session does not record",
                (case.evidence(entry, ""),),
            )
            continue
        after = "an unknown number" if seen.tokens_after is None else f"{seen.tokens_after:,.0f}"
        yield Finding(
            f"the compaction in line {entry.line} ({seen.reason}) was made of {before:,.0f} tokens"
            f" and left an estimated {after}",
            (
                case.evidence(entry, ""),
                Evidence(str(capture.path), seen.end_line),
            ),
        )


def _captured(entry: Entry, capture: Capture | None) -> CapturedCompaction | None:
    """Return what the capture has of a compaction entry."""
    if capture is None or entry.boundary is None:
        return None
    return next(
        (
            one
            for one in capture.compactions
            if one.succeeded
            and one.first_kept == entry.boundary.target
            and one.tokens_before == entry.boundary.tokens_before
        ),
        None,
    )
