"""A tool call has no result: it was asked for, and its outcome is unknown.

What it finds
    Calls on the active branch that no result answers, on this branch or another. Calls of replies
    that failed or were aborted never ran and do not count.
Why it matters
    Pi tells the model only "No result provided". The model then tends to do it again: to push, to
    pay, to send or to delete twice.
What proves it
    The line of the call, and what can be seen outside the session: the file, the commit, the
    remote-tracking ref.
What it cannot tell
    What happened on another machine. Parallel calls are recorded only when the slowest has ended,
    so that a call of a batch without results may have run to its end.
What to do
    Look before you resume, and tell the agent in the next prompt what did happen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.aftermath import look
from diagnose.pipeline.case import named
from diagnose.pipeline.effects import call_effect
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import shortened
from diagnose.sessions.calls import arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.calls import PairedCall

# A command is shown so far (characters); more calls than this are counted.
_COMMAND = 90
_SHOWN = 50


@rule(
    "PI401",
    "unanswered-call",
    layer="source",
    levels=("error", "warning"),
    verdict="never-observed",
)
def unanswered_call(case: Case) -> Iterator[Finding]:
    """Find calls without a result, and look at what became of each."""
    for call in case.unanswered[:_SHOWN]:
        yield _finding(case, call)
    more = case.unanswered[_SHOWN:]
    if more:
        yield Finding(
            f"{len(more)} more calls have no result, from {named(more[0].entry)} on",
            (case.evidence(more[0].entry), case.evidence(more[-1].entry)),
        )


def _finding(case: Case, call: PairedCall) -> Finding:
    given = arguments(case.opened, call)
    part = call_effect(call.call.name, given)
    seen = look(case, call, given, part)
    command = given.get("command", given.get("path"))
    shown = shortened(command, _COMMAND) if isinstance(command, str) else ""
    worst = shortened(part.text, _COMMAND)
    why = f" for its part {worst!r}" if worst not in (shown, call.call.name) else ""
    batch = len(call.entry.message.calls) if call.entry.message else 1
    together = (
        f" It was one of {batch} calls of a reply, which are recorded only when all have ended."
        if batch > 1
        else ""
    )
    is_sent = call.entry.line in case.sent_lines
    told = (
        "the model will be told 'No result provided'"
        if is_sent
        else "it is not among what the model is sent"
    )
    return Finding(
        f"the call of {shortened(call.call.name)} in {named(call.entry)} has no result: {shown!r}"
        f" (class {part.effect}{why}); {seen.told}; {told}.{together}",
        (case.evidence(call.entry, shown), *seen.evidence),
        level=None if is_sent and part.effect != "read" else "warning",
        remedy=(_remedy(shown or call.call.name, seen.happened),),
    )


def _remedy(what: str, happened: bool | None) -> Remedy:
    if happened:
        return Remedy(f"Tell the agent: {what!r} did happen; do not do it again.")
    if happened is False:
        return Remedy(f"Tell the agent: {what!r} did not happen.")
    return Remedy(f"Look whether {what!r} happened before you resume, and tell the agent.")
