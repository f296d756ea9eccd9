"""A turn was aborted: some of its calls ran, some did not, some may have.

What it finds
    Replies with tool calls in a turn that was aborted, and what the results say of each call.
Why it matters
    "Aborted" does not mean that nothing was done: in Pi 1.6.0, calls after the one that was cut off
    may still run.
What proves it
    Each call's result: a duration stands there only where the tool ran; an error says that it was
    cut off. Calls inside the aborted reply itself never ran.
What it cannot tell
    How far a command that was cut off had come.
What to do
    Look at what the calls that ran have changed before you repeat the turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import shortened
from diagnose.sessions.calls import arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.calls import PairedCall

_SHOWN = 10


@rule("PI405", "aborted-batch", layer="source", levels=("warning",))
def aborted_batch(case: Case) -> Iterator[Finding]:
    """Find the calls of aborted turns, and say of each whether it ran."""
    by_reply: dict[int, list[PairedCall]] = {}
    for call in case.pairing.calls:
        by_reply.setdefault(call.entry.line, []).append(call)
    durations = any(entry.message and entry.message.ran for entry in case.branch)
    last: list[PairedCall] = []
    for entry in case.branch:
        if entry.role == "user":
            last = []
        if entry.role != "assistant" or entry.message is None:
            continue
        own = by_reply.get(entry.line, [])
        if entry.message.stop_reason != "aborted":
            last = own or last
            continue
        calls = [*last, *own]
        if calls:
            told = "; ".join(_told(case, call, durations=durations) for call in calls[:_SHOWN])
            more = f"; and {len(calls) - _SHOWN} more" if len(calls) > _SHOWN else ""
            yield Finding(
                f"the turn that ends in {named(entry)} was aborted: {told}{more}",
                (
                    case.evidence(calls[0].entry),
                    *(case.evidence(one.result) for one in calls[:_SHOWN] if one.result),
                    case.evidence(entry, ""),
                ),
                remedy=(Remedy("Look at what the calls that ran have changed."),),
            )
        last = []


def _told(case: Case, call: PairedCall, *, durations: bool) -> str:
    given = arguments(case.opened, call)
    what = given.get("command", given.get("path"))
    shown = shortened(what) if isinstance(what, str) else shortened(call.call.name)
    result = call.result
    if call.never_ran:
        said = "never ran"
    elif result is None or result.message is None:
        said = "has no result"
    elif result.message.is_error:
        said = "was cut off, and may have had part of its effect"
    elif result.message.ran or not durations:
        said = "did run"
    else:
        said = "may not have run: its result has no duration"
    return f"{shown!r} {said}"
