"""Entries that one compaction kept and the next neither kept nor carried.

What it finds
    Files of tool calls that an earlier compaction kept in the context, that a later one left before
    its boundary, and that the later summary names neither in its text nor in its lists.
Why it matters
    Some older Pis left these entries out of the second summary: they are in no summary at all.
What proves it
    The calls' lines, which stand after the first compaction's boundary and before the second's, and
    the second summary.
What it cannot tell
    Whether what was said there, beside the files, is in the summary in other words.
What to do
    Read the originals at the lines named.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.summaries import dropped_files
from diagnose.pipeline.words import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

_SHOWN = 10


@rule("PI314", "lost-between", layer="compaction", levels=("warning",))
def lost_between(case: Case) -> Iterator[Finding]:
    """Find files of entries that fell between two compactions."""
    for first, second in pairwise(case.compactions):
        if first.boundary is None or second.boundary is None or second.boundary.from_hook:
            continue
        start, end = case.branch.index(first), case.branch.index(second)
        ids = [entry.id for entry in case.branch]
        kept = ids.index(first.boundary.target) if first.boundary.target in ids[:start] else start
        later = ids.index(second.boundary.target) if second.boundary.target in ids[:end] else end
        between = case.branch[kept : min(start, later)]
        lost = dropped_files(case.opened, between, case.value(second), case.text(second))
        if lost:
            told = ", ".join(
                f"{shortened(one.text)} (line {one.entry.line})" for one in lost[:_SHOWN]
            )
            yield Finding(
                f"{named(first)} kept entries that {named(second)} neither keeps nor carries:"
                f" {told}",
                (
                    *(case.evidence(one.entry, one.text) for one in lost[:_SHOWN]),
                    case.evidence(second),
                ),
                remedy=(Remedy("Read the originals at these lines."),),
            )
