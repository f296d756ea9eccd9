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
from diagnose.pipeline.effects import is_cut
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import shortened
from diagnose.sessions.calls import each_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.calls import PairedCall
    from diagnose.sessions.entry import Entry

# Calls of a turn, and turns, beyond this many are not told.
_SHOWN = 10
_TURNS = 20


@rule("PI405", "aborted-batch", layer="source", levels=("warning",))
def aborted_batch(case: Case) -> Iterator[Finding]:
    """Find the calls of aborted turns, and say of each whether it ran."""
    if not any(e.message and e.message.stop_reason == "aborted" for e in case.branch):
        return
    by_reply: dict[int, list[PairedCall]] = {}
    for call in case.pairing.calls:
        by_reply.setdefault(call.entry.line, []).append(call)
    has_durations = any(entry.message and entry.message.ran for entry in case.branch)
    last: list[PairedCall] = []
    told = 0
    for entry in case.branch:
        if entry.role == "user":
            last = []
        if entry.role != "assistant" or entry.message is None:
            continue
        own = by_reply.get(entry.line, [])
        if entry.message.stop_reason == "aborted" and (last or own) and told < _TURNS:
            told += 1
            yield _finding(case, [*last, *own], entry, has_durations=has_durations)
        # An aborted reply ends the turn; one without calls has nothing that could be cut off.
        last = [] if entry.message.stop_reason == "aborted" else own


def _finding(case: Case, calls: list[PairedCall], entry: Entry, *, has_durations: bool) -> Finding:
    shown = each_arguments(case.opened, calls[:_SHOWN])
    said = "; ".join(_told(case, call, given, has_durations=has_durations) for call, given in shown)
    more = f"; and {len(calls) - _SHOWN} more" if len(calls) > _SHOWN else ""
    return Finding(
        f"the turn that ends in {named(entry)} was aborted: {said}{more}",
        (
            case.evidence(calls[0].entry),
            *(case.evidence(one.result) for one in calls[:_SHOWN] if one.result),
            case.evidence(entry, ""),
        ),
        remedy=(Remedy("Look at what the calls that ran have changed."),),
    )


def _told(case: Case, call: PairedCall, given: dict[str, object], *, has_durations: bool) -> str:
    command, path = given.get("command"), given.get("path")
    what = command if isinstance(command, str) else call.call.name
    if not isinstance(command, str) and isinstance(path, str):
        what = f"{call.call.name} {path}"
    shown = shortened(what)
    result = call.result
    if call.never_ran:
        said = "never ran"
    elif result is None or result.message is None:
        said = "has no result, and was likely never begun"
    else:
        has_run = result.message.ran or not has_durations
        if result.message.is_error:
            if not has_run:
                said = "did not run"
            elif is_cut(case.text(result)):
                said = "was cut off, and may have had part of its effect"
            else:
                said = "ran and failed"
        else:
            said = "did run" if has_run else "may not have run: its result has no duration"
        said += f" (line {result.line})"
    return f"{shown!r} {said}"
