"""The boundary of a compaction is not there: nothing before it is kept.

What it finds
    A latest compaction whose `firstKeptEntryId` is absent, null, or names an entry that is not on
    the branch before it.
Why it matters
    Pi then keeps no earlier entry at all, though the compaction meant to keep the recent ones. The
    model has the summary and what came after.
What proves it
    The compaction entry, and where the entry that it names stands, if it stands anywhere: after it,
    on another branch, or in the session that this one was forked from. (Before Pi 0.85.0 a fork
    left labels out, and with them a boundary that was one.)
What it cannot tell
    Which entries the compaction meant to keep, where it names none.
What to do
    Go back to before the compaction with `/tree` and compact again. Version 1 files give the
    boundary by its place, `firstKeptEntryIndex`; Pi takes 0, the header, for none.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from diagnose.pipeline.case import cite, lines_of, named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened
from diagnose.sessions.javascript import UNDEFINED, get, to_text
from diagnose.sessions.tree import CycleError, Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.pipeline.finding import Evidence
    from diagnose.sessions.entry import Entry

# So many of the entries that were to be kept are cited, the last.
_SHOWN = 10


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
    if not case.boundary_is_lost or not before:
        return
    lost = case.active_on_day(before)
    pieces, held = _held_by_origin(case, compaction, before)
    way = [Remedy(f"Go back to line {before[-1].line} with /tree and compact again.")]
    if held and case.origin is not None:
        open_it = case.command_to_open(case.origin.session)
        way.insert(0, Remedy("Open the session that this one was forked from.", open_it))
    yield Finding(
        f"the compaction in {named(compaction)} keeps nothing before it: its boundary"
        f" {_what(case, target)}; {counted(len(before), 'entry')} stand before it"
        f" ({lines_of(before)}){held}",
        (case.evidence(compaction), *pieces),
        level=None if lost else "warning",
        remedy=tuple(way),
    )


def _held_by_origin(
    case: Case, compaction: Entry, before: list[Entry]
) -> tuple[list[Evidence], str]:
    """Say where the original of a fork has the boundary, and what it was to keep."""
    pieces = [case.evidence(before[-1])]
    target = compaction.boundary.target if compaction.boundary is not None else None
    if case.origin is None or not isinstance(target, str):
        return pieces, ""
    session = case.origin.session
    tree = Tree(session)
    held, same = tree.by_id.get(target), tree.by_id.get(compaction.id)
    if held is None:
        return pieces, ""
    pieces.append(cite(session, held))
    words = f"; the session that this one was forked from has it, a {held.type} entry"
    with suppress(CycleError):
        there = tree.path(same) if same is not None else []
        after = {e.id for e in there[there.index(held) :]} if held in there else set()
        meant = [entry for entry in before if entry.id in after]
        if meant:
            words += f", and kept {lines_of(meant)} by it"
            pieces = [case.evidence(entry) for entry in meant[-_SHOWN:]] + pieces[-1:]
    return pieces, words


def _what(case: Case, target: object) -> str:
    if case.opened.is_linear and case.compaction is not None:
        # Version 1 counts lines, the header being 0; Pi takes the id of what stands there.
        index = get(case.value(case.compaction), "firstKeptEntryIndex")
        if index is not UNDEFINED:
            lines = 1 + len(case.opened.extra_headers) + len(case.opened.entries)
            return f"is firstKeptEntryIndex {shortened(to_text(index), 40)} of {lines} (version 1)"
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
