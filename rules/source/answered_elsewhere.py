"""The result of a call is on another branch.

What it finds
    Calls of the active branch without a result on it, whose result hangs on a branch that was left.
Why it matters
    The model is told "No result provided", though the tool ran and its result is in the file.
What proves it
    The line of the call, and the line of the result on the other branch.
What it cannot tell
    Nothing is left open: the result names the call.
What to do
    Do not have it done again: read the result at its line, or go to its branch with `/tree`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

_SHOWN = 20


@rule("PI408", "answered-elsewhere", layer="source", levels=("warning",))
def answered_elsewhere(case: Case) -> Iterator[Finding]:
    """Find calls whose result is on a branch that was left."""
    for call, result in case.answered_elsewhere[:_SHOWN]:
        yield Finding(
            f"the call of {shortened(call.call.name)} in {named(call.entry)} is answered in"
            f" {named(result)}, on a branch that was left; here the model is told 'No result"
            " provided'",
            (case.evidence(call.entry), case.evidence(result)),
            remedy=(Remedy(f"Tell the agent what line {result.line} says; it did run."),),
        )
