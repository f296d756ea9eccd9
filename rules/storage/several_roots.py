"""The file holds more than one tree.

What it finds
    More than one entry without a parent, and how many entries hang on each.
Why it matters
    Pi follows one of them. An edited first prompt makes a second root, and so does a tool that
    appended one session to another.
What proves it
    The roots, by line.
What it cannot tell
    Whether a root was made on purpose.
What to do
    Nothing, where the active branch is the wanted one. Else `/tree` shows the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Finding, rule
from diagnose.pipeline.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

# Roots beyond these are counted.
_SHOWN = 5


@rule("PI113", "several-roots", layer="storage", levels=("note",))
def several_roots(case: Case) -> Iterator[Finding]:
    """Find more than one entry without a parent."""
    tree = case.tree
    _ = case.branch  # says why there is none, where Pi would hang
    roots = [entry for entry in tree.live if entry.is_object and tree.is_root(entry)]
    if len(roots) <= 1:
        return
    active = {entry.line for entry in case.branch}
    told = [
        f"line {root.line} ({counted(len(tree.subtree(root)), 'entry')}"
        f"{', the active one' if root.line in active else ''})"
        for root in roots[:_SHOWN]
    ]
    more = f" and {len(roots) - _SHOWN} more" if len(roots) > _SHOWN else ""
    yield Finding(
        f"the file holds {len(roots)} trees: {', '.join(told)}{more}",
        tuple(case.evidence(root) for root in roots[:_SHOWN]),
    )
