"""A file is no longer what was observed.

What it finds
    Files that the branch's tool results recorded and whose content now differs. A note where the
    session's own commands name the file and committed the change: the model was told.
Why it matters
    What was observed yesterday is not a fact of today; the model answers from what it was sent.
What proves it
    The tool result, the file as it is now, and the commits that touched it since.
    Where the session itself changed the file, whether the lines that it brought are still there.
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
    from diagnose.pipeline.observed import Told


@rule("PI501", "changed", layer="source", levels=("error", "warning", "note"), verdict="outdated")
def changed(case: Case) -> Iterator[Finding]:
    """Find observed files whose content differs now."""
    for told in tell(case, "changed"):
        state = told.state
        counts = ""
        if state.added is not None and state.removed is not None:
            counts = f": {state.added} lines more, {state.removed} lines fewer"
        reason = f" ({state.reason})" if state.reason else ""
        yield Finding(
            f"{told.name} differs from what was {told.how}{counts}{reason};"
            f" {since(case, state)}{_own_change(case, told)}{told.own}",
            told.evidence,
            level=told.level,
            remedy=(Remedy(f"Have the agent read {told.name} again."),),
        )


def _own_change(case: Case, told: Told) -> str:
    """Say what is left of the session's own change of a file, "" where it made none."""
    known = told.observation.contents(case.opened) if told.observation.changed_by_session else None
    now = case.project.file(told.path).data
    if known is None or now is None:
        return ""
    text = now.decode("utf-8", "replace")
    if known.text_before is not None and text == known.text_before:
        return "; what the session itself changed there is gone: it is as it was before"
    if known.text is None:
        return "; the session itself changed it"
    before = set((known.text_before or "").splitlines())
    own = {line for line in known.text.splitlines() if line.strip()} - before
    left = len(own.intersection(text.splitlines()))
    if own and not left:
        return "; what the session itself changed there is gone"
    if left < len(own):
        return f"; of the {len(own)} lines that the session itself brought, {left} are still there"
    return "; what the session itself brought is still in it" if own else ""
