"""A tool result whose call is not before it on the branch.

What it finds
    Results on the active branch that answer no call above them.
Why it matters
    Some providers refuse such a request; others show the model an answer to no question.
What proves it
    The line of the result and the call id that it names.
What it cannot tell
    Where the call went; PI109 and PI110 tell of lost lines.
What to do
    Go back to before the result with `/tree`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, rule
from diagnose.pipeline.words import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

_SHOWN = 20


@rule("PI402", "result-without-call", layer="source", levels=("warning",))
def result_without_call(case: Case) -> Iterator[Finding]:
    """Find results that answer no call before them."""
    strays = case.pairing.stray_results
    for entry in strays[:_SHOWN]:
        message = entry.message
        call_id = message.call_id if message else None
        shown = shortened(call_id, 40) if isinstance(call_id, str) else "no id"
        yield Finding(
            f"the tool result in {named(entry)} answers a call ({shown}) that is not before it on"
            " the branch",
            (case.evidence(entry),),
        )
    if len(strays) > _SHOWN:
        yield Finding(
            f"{len(strays) - _SHOWN} more tool results answer no call before them",
            (case.evidence(strays[_SHOWN]),),
        )
