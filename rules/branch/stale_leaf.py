"""Bookkeeping under an old parent has become the leaf and hides the conversation.

What it finds
    The file's last entry says nothing: a name, a label, an extension's state, a usage record, a
    change of model or thinking level. It hangs on an older entry from which a conversation went on
    elsewhere.
Why it matters
    Pi stores no leaf: on opening, the last entry of the file is the leaf, whatever its type. A
    second client that renames the session, or an extension that writes under a parent of hours ago,
    moves everybody there. The next prompt is sent without all that was said since.
What proves it
    The leaf, its parent, and the last message of the conversation that hangs on the same parent.
What it cannot tell
    Whether the person had gone back there with `/tree` and only gave a name or label: the file is
    the same.
What to do
    Open the session, type `/tree` and choose the last message of the conversation. A prompt there
    makes it the active branch again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import lines_of, named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened
from diagnose.sessions.branches import is_bookkeeping
from diagnose.sessions.javascript import get

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI202", "stale-leaf", layer="branch", levels=("error", "warning"), verdict="off-branch")
def stale_leaf(case: Case) -> Iterator[Finding]:
    """Find a conversation that is hidden by a leaf which says nothing."""
    for left in case.left:
        if left.cause != "stale leaf":
            continue
        leaf = case.branch[-1]
        said = next((e for e in reversed(case.branch) if not is_bookkeeping(e)), None)
        anchor = left.parting or said or case.tree.parent(leaf)
        where = (
            f"under {named(anchor)} of {case.clock(anchor.time)}" if anchor else "under no parent"
        )
        tip = left.tip
        bounds = case.question.bounds()
        old = bounds is not None and all(
            e.time is not None and e.time < bounds[0] for e in left.conversation
        )
        pieces = [case.evidence(leaf, _quote(case))]
        pieces += [case.evidence(anchor)] if anchor else []
        yield Finding(
            f"the leaf is a {leaf.type} entry, {named(leaf)}, {where}; it"
            f" hides {counted(len(left.entries), 'entry')}, {lines_of(left.entries)}: the"
            f" conversation went on to {named(tip)} of {case.clock(tip.time)}",
            (*pieces, case.evidence(tip)),
            level="warning" if old else None,
            remedy=(
                Remedy(
                    f"Open the session, type /tree, choose {shortened(case.text(tip))!r}"
                    f" (line {tip.line}) and go on from there.",
                    case.command_to_open(case.subject),
                ),
            ),
        )


def _quote(case: Case) -> str | None:
    """Return what the leaf says of itself: an extension's state is known by its `customType`."""
    leaf = case.branch[-1]
    kind = get(case.value(leaf), "customType")
    return kind if isinstance(kind, str) else None
