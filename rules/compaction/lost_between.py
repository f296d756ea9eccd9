"""Entries that one compaction kept and the next neither kept nor carried.

What it finds
    Entries that an earlier compaction kept in the context and a later one left before its boundary,
    where the later summary does not name a file of theirs or, where they called no tool, has nearly
    none of their words.
Why it matters
    Some older Pis left these entries out of the second summary: they are in no summary at all.
What proves it
    The lines of the entries, which stand after the first compaction's boundary and before the
    second's, and the second summary.
What it cannot tell
    Whether the summary says the same in words of its own, or in another language.
What to do
    Read the originals at the lines named.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from diagnose.pipeline.case import lines_of, named, text_in
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.summaries import dropped_files, speaks_of
from diagnose.pipeline.words import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

_SHOWN = 10


@rule("PI314", "lost-between", layer="compaction", levels=("warning",))
def lost_between(case: Case) -> Iterator[Finding]:
    """Find entries that fell between two compactions."""
    if len(case.compactions) < 2:  # noqa: PLR2004 (one and the next)
        return
    branch = case.branch
    place = {entry.line: number for number, entry in enumerate(branch)}
    # By id, as Pi looks for a boundary: the first entry that has it, which is put there last.
    first_of = {branch[number].id: number for number in reversed(range(len(branch)))}
    for first, second in pairwise(case.compactions):
        if first.boundary is None or second.boundary is None or second.boundary.from_hook:
            continue
        start, end = place[first.line], place[second.line]
        kept = first_of.get(first.boundary.target, start)
        later = min(first_of.get(second.boundary.target, end), end)
        if kept < min(start, later):
            between = branch[kept : min(start, later)]
            after = branch[later] if later < end else None
            yield from _lost(case, first, second, between, after)


def _lost(
    case: Case, first: Entry, second: Entry, between: list[Entry], after: Entry | None
) -> Iterator[Finding]:
    value = case.value(second)
    summary = text_in(second, value)
    lost = dropped_files(case.opened, between, value, summary)
    pieces = [case.evidence(one.entry, one.text) for one in lost[:_SHOWN]]
    told = ", ".join(f"{shortened(one.text)} (line {one.entry.line})" for one in lost[:_SHOWN])
    spoken = [entry for entry in between if entry.is_activity]
    if spoken and not any(entry.message and entry.message.calls for entry in between):
        if speaks_of(summary, [case.text(entry) for entry in spoken]):
            return
        pieces = [case.evidence(spoken[0]), case.evidence(spoken[-1])]
        told = f"what was said in {lines_of(spoken)}"
    if pieces:
        yield Finding(
            f"{named(first)} kept entries that {named(second)} neither keeps nor carries: {told};"
            f" the first kept what stands from {named(between[0])} on, the second"
            f" {f'from {named(after)} on' if after else 'nothing before it'}",
            (*pieces, case.evidence(second)),
            remedy=(Remedy("Read the originals at these lines."),),
        )
