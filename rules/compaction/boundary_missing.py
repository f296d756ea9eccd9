"""The boundary of a compaction is not there: nothing before it is kept.

What it finds
    A latest compaction whose `firstKeptEntryId` is absent, null, or names an entry that is not on
    the branch before it.
Why it matters
    Pi then keeps no earlier entry at all, though the compaction meant to keep the recent ones. The
    model has the summary and what came after.
What proves it
    The compaction entry, and where the entry that it names stands, if it stands anywhere.
What it cannot tell
    Which entries the compaction meant to keep, where it names none.
What to do
    Go back to before the compaction with `/tree` and compact again. Version 1 files give the
    boundary by its place, `firstKeptEntryIndex`; Pi takes 0, the header, for none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened
from diagnose.sessions.javascript import UNDEFINED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule(
    "PI302",
    "boundary-missing",
    layer="compaction",
    levels=("error", "warning"),
    verdict="damaged",
)
def boundary_missing(case: Case) -> Iterator[Finding]:
    """Find a latest compaction that keeps nothing for want of its boundary."""
    compaction = case.compaction
    if compaction is None or compaction.boundary is None:
        return
    target = compaction.boundary.target
    place = case.branch.index(compaction)
    before = [entry for entry in case.branch[:place] if entry.role != "system"]
    if target == compaction.id or not before or any(e.id == target for e in before):
        return
    lost = case.active_on_day(before)
    yield Finding(
        f"the compaction in {named(compaction)} keeps nothing before it: its boundary"
        f" {_what(case, target)}; {counted(len(before), 'entry')} stand before it",
        (case.evidence(compaction), case.evidence(before[-1])),
        level=None if lost else "warning",
        remedy=(Remedy(f"Go back to line {before[-1].line} with /tree and compact again."),),
    )


def _what(case: Case, target: object) -> str:
    if target is UNDEFINED or (isinstance(target, tuple) and case.opened.is_linear):
        return "is not given"
    if not isinstance(target, str):
        return "is null" if target is None else "is no id"
    shown = shortened(target, 40)
    there = case.tree.by_id.get(target)
    if there is None:
        return f"{shown} is not in the file"
    if there in case.branch:
        return f"{shown} stands after it, in line {there.line}"
    return f"{shown} is on another branch, in line {there.line}"
