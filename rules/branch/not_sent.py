"""Replies and commands that the session shows and the model is not sent.

What it finds
    In the context: replies that ended in an error or were aborted, and commands that the person ran
    with `!!`, which are excluded.
Why it matters
    They look like part of the conversation. Pi leaves such replies out of the request (the results
    of their tool calls are still sent), and an excluded command was never meant to be seen.
What proves it
    The entry, its `stopReason` or `excludeFromContext`, by line.
What it cannot tell
    Whether a later reply said the same again.
What to do
    Repeat in a prompt what the model should know of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened
from diagnose.sessions.context import NOT_SENT, edits
from diagnose.sessions.javascript import get

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

# Entries beyond these, the oldest, are counted.
_SHOWN = 10


@rule("PI209", "not-sent", layer="branch", levels=("warning",))
def not_sent(case: Case) -> Iterator[Finding]:
    """Find entries of the context that are left out of the request."""
    by_target = edits(case.context)
    found = [e for e in case.context if _is_left_out(e) and e.id not in by_target]
    for entry in found[-_SHOWN:]:
        yield Finding(
            _message(case, entry),
            (case.evidence(entry, _error(case, entry)),),
            remedy=(Remedy("Say it again in a prompt, where the model should know of it."),),
        )
    if len(found) > _SHOWN:
        rest = found[:-_SHOWN]
        yield Finding(
            f"{counted(len(rest), 'earlier entry')} of the context are not sent either",
            tuple(case.evidence(entry) for entry in rest[-_SHOWN:]),
        )


def _is_left_out(entry: Entry) -> bool:
    message = entry.message
    if message is None:
        return False
    if message.role == "bashExecution":
        return message.excluded
    return message.role == "assistant" and message.stop_reason in NOT_SENT


def _error(case: Case, entry: Entry) -> str | None:
    """Return what the reply says of its failure."""
    said = get(get(case.value(entry), "message"), "errorMessage")
    return said if isinstance(said, str) and said else None


def _message(case: Case, entry: Entry) -> str:
    message = entry.message
    where = f"{named(entry)}"
    if message is None or message.role == "bashExecution":
        return (
            f"the command in {where}, {shortened(case.text(entry))!r}, is excluded from the context"
        )
    how = "was aborted" if message.stop_reason == "aborted" else "ended in an error"
    said = _error(case, entry)
    why = f" ({shortened(said, 120)})" if said else ""
    calls = f", with {counted(len(message.calls), 'tool call')}" if message.calls else ""
    return f"the reply in {where} {how}{why}{calls}: the session shows it, the model is not sent it"
