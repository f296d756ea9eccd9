"""A file is no longer what was observed.

What it finds
    Files that the branch's tool results recorded and whose content now differs.
Why it matters
    What was observed yesterday is not a fact of today; the model answers from what it was sent.
What proves it
    The tool result, the file as it is now, and the commits that touched it since.
What it cannot tell
    Whether the change matters to what was asked. Where only part of a file was seen, only that part
    is compared.
What to do
    Have the agent read the file again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.observed import since, tell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI501", "changed", layer="source", levels=("error", "warning"), verdict="outdated")
def changed(case: Case) -> Iterator[Finding]:
    """Find observed files whose content differs now."""
    for told in tell(case, "changed"):
        state = told.state
        counts = ""
        if state.added is not None and state.removed is not None:
            counts = f": {state.added} lines more, {state.removed} lines fewer"
        reason = f" ({state.reason})" if state.reason else ""
        own = (
            "; what the session itself changed there is no longer so"
            if told.observation.changed_by_session
            else ""
        )
        yield Finding(
            f"{told.name} differs from what was {told.how}{counts}{reason};"
            f" {since(case, state)}{own}",
            told.evidence,
            level=told.level,
            remedy=(Remedy(f"Have the agent read {told.name} again."),),
        )
