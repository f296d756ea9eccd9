"""A file is still what was observed.

What it finds
    Observed files whose bytes are the same; where only lines were seen, the same lines.
Why it matters
    Here memory and fact agree: what is remembered of this file can be relied on.
What proves it
    The tool result, and the blob id of the file as it is now.
What it cannot tell
    Anything of what was not seen: a part of a file says nothing of the rest.
What to do
    Nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Finding, rule
from diagnose.pipeline.observed import tell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

_SHORT = 12


@rule("PI510", "unchanged", layer="source", levels=("note",))
def unchanged(case: Case) -> Iterator[Finding]:
    """Find observed files that are as they were."""
    for told in tell(case, "unchanged"):
        state = told.state
        blob = f" (blob {state.blob[:_SHORT]})" if state.blob else ""
        if state.shift:
            where = "down" if state.shift > 0 else "up"
            moved = f"; they stand {abs(state.shift)} lines further {where}"
        else:
            moved = ""
        what = "the lines that were seen are" if state.shift is not None else "it is byte for byte"
        exact = f"{what} what was {told.how}"
        if state.reason and state.shift is None:
            exact = f"{state.reason}; it was {told.how}"
        left = "; it is uncommitted" if state.uncommitted else ""
        yield Finding(f"{told.name}: {exact}{blob}{moved}{left}", told.evidence)
