"""The branch ends at a parent that is not in the file.

What it finds
    The active branch begins with an entry that names a parent which no line of the file holds: its
    record was torn, fused with another, split, overwritten, or never written.
Why it matters
    Pi follows parents until one is missing, and says nothing. All that was said before the gap,
    system message and tools included, is on disk and out of reach. It looks like a compaction, and
    is none.
What proves it
    The entry with the missing parent, the last entry before the gap, the system message that is cut
    off with the tools that it declares, and the line in which the lost
    record most likely stands: one that still shows its id, or one that cannot be read in that
    place. A fork whose original holds the parent is told so.
What it cannot tell
    Where no line in that place is damaged, the record was never written: nothing of it is left. How
    much of what stands before the gap was its history is then a likelihood.
What to do
    Read the earlier entries at their lines, or open a copy in which the entry has the last entry
    before the gap as its parent.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from diagnose.pipeline.case import cite, lines_of, named
from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened
from diagnose.sessions.context import tool_names
from diagnose.sessions.javascript import get
from diagnose.sessions.tree import CycleError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.damage import Damage
    from diagnose.sessions.entry import Entry

# Gaps beside the active branch, and tools, beyond these are counted.
_SHOWN = 5


@rule("PI110", "missing-parent", layer="storage", levels=("error", "warning"), verdict="damaged")
def missing_parent(case: Case) -> Iterator[Finding]:
    """Find where a branch ends because an entry is not in the file."""
    branch, tree = case.branch, case.tree
    if branch and tree.lacks_parent(branch[0]):
        yield _on_branch(case, branch[0])
    orphans = [entry for entry in case.off_branch if tree.lacks_parent(entry)]
    for orphan in orphans[-_SHOWN:]:
        lost = _likeliest(case, orphan)
        pieces = [case.evidence(orphan)] + ([_cite(case, lost)] if lost else [])
        yield Finding(
            f"beside the active branch, {named(orphan)} hangs on"
            f" {_name(orphan.parent)}, which is not in the file",
            tuple(pieces),
            level="warning",
        )
    if len(orphans) > _SHOWN:
        rest = orphans[:-_SHOWN]
        yield Finding(
            f"{counted(len(rest), 'more entry')} beside the active branch hang on parents that are"
            " not in the file",
            tuple(case.evidence(orphan) for orphan in rest[-_SHOWN:]),
            level="warning",
        )


def _on_branch(case: Case, first: Entry) -> Finding:
    lost = _likeliest(case, first)
    earlier = [e for e in case.off_branch if e.line < first.line]
    before = earlier[-1] if earlier else None
    history = _history(case, first, lost) or earlier
    pieces = [case.evidence(first)]
    where = f"the active branch begins in {named(first)}"
    words = [f"{where}, whose parent {_name(first.parent)} is not in the file"]
    if history:
        words.append(
            f"that cuts off {counted(len(history), 'earlier entry')} ({lines_of(history)})"
            f"{_prompt(case, history, pieces)}"
        )
    if before is not None:
        pieces.append(case.evidence(before))
        words.append(
            f"the last entry before the gap is {named(before)} of {case.clock(before.time)}"
        )
    held = _held_by_origin(case, first)
    if lost is not None:
        pieces.append(_cite(case, lost))
        sure = "the lost record is" if lost.loses(first.parent) else "the lost record may be"
        words.append(f"{sure} in line {lost.line}, which Pi passes over")
    elif held is not None:
        pieces.append(held)
        words.append("the session that this one was forked from has it")
    else:
        words.append("no line in that place is damaged: it was never written, or taken out whole")
    words.append(f"compactions on the branch: {len(case.compactions)}")
    way = (
        f"Read line{'s' if len(history) != 1 else ''} {history[0].line}-{history[-1].line} where"
        " they stand, or give the entry another parent in a copy."
        if history
        else "Look for the lost record in a backup."
    )
    return Finding("; ".join(words), tuple(pieces), remedy=(Remedy(way),))


def _prompt(case: Case, history: list[Entry], pieces: list[Evidence]) -> str:
    """Say that the system prompt and the declarations of tools are among what is cut off."""
    prompts = [entry for entry in history if entry.role == "system"]
    if not prompts or any(entry.role == "system" for entry in case.branch):
        return ""
    messages = [get(case.value(entry), "message") for entry in prompts]
    names = [name for one in messages for name in tool_names(get(one, "toolsAdded"))]
    shown = [shortened(name) for name in dict.fromkeys(names)]
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    tools = f" and the tools {', '.join(shown[:_SHOWN])}{more}" if shown else ""
    pieces.append(case.evidence(prompts[-1]))
    return f", with the system prompt{tools} ({lines_of(prompts)})"


def _likeliest(case: Case, orphan: Entry) -> Damage | None:
    """Return the line that holds the missing record, or that stands where it should be."""
    named = next((one for one in case.damages if one.loses(orphan.parent)), None)
    if named is not None:
        return named
    near = [one for one in case.damages if one.after is orphan and one.kind != "falsy"]
    # A line that shows another record's id is not this one.
    return next((one for one in reversed(near) if all(r.id is None for r in one.lost)), None)


def _history(case: Case, first: Entry, lost: Damage | None) -> list[Entry]:
    """Return the branch above the lost record, where what is left of it names its parent."""
    for record in lost.lost if lost is not None else []:
        above = case.tree.by_id.get(record.parent) if record.id == first.parent else None
        if above is not None:
            with suppress(CycleError):
                return case.tree.path(above)
    return []


def _held_by_origin(case: Case, first: Entry) -> Evidence | None:
    if case.origin is None:
        return None
    session = case.origin.session
    found = next((entry for entry in session.entries if entry.id == first.parent), None)
    return cite(session, found) if found is not None else None


def _cite(case: Case, damage: Damage) -> Evidence:
    return Evidence(str(case.subject.path), damage.line, quote=case.shown(damage.skipped))


def _name(parent: object) -> str:
    """Return an id as it stands in the file; numbers and truth values are kept as pairs."""
    return (
        parent if isinstance(parent, str) else f"{parent[1]}" if isinstance(parent, tuple) else "?"
    )
