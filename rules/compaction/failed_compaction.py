"""A compaction was aborted or failed, as an events capture shows.

What it finds
    In a capture of `pi --mode json` or RPC mode: a compaction that ended without a result, or that
    never ended.
Why it matters
    The session file holds nothing of it. What the person believes to be summarised is still whole,
    and the next request may be too long for the model.
What proves it
    The capture's `compaction_end` without a result (`aborted`, or `errorMessage`), or its
    `compaction_start` without an end.
What it cannot tell
    What happened after the capture ended.
What to do
    Run `/compact` again, or go on from a shorter branch with `/tree`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

_REMEDY = (Remedy("Compact once more, and look whether a compaction entry is written."),)


@rule("PI312", "failed-compaction", layer="compaction", levels=("warning",))
def failed_compaction(case: Case) -> Iterator[Finding]:
    """Find compactions of the capture that gave no result."""
    capture = case.captured
    for one in capture.compactions:
        if one.succeeded:
            continue
        what = (
            "was never ended: the capture stops before"
            if one.end_line is None
            else "was aborted"
            if one.aborted
            else f"failed: {one.error}"
        )
        reason = f" ({one.reason})" if one.reason else ""
        yield Finding(
            f"the compaction{reason} begun in line {one.line} of the capture {what}",
            (Evidence(str(capture.path), one.end_line or one.line, quote=one.error),),
            remedy=_REMEDY,
        )
