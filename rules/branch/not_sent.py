"""Replies and commands that the session shows and the model is not sent.

What it finds
    In the context: replies that ended in an error or were aborted, commands that the person ran
    with `!!`, which are excluded, and messages of a role that Pi does not know. On the branch: what
    was asked about, where it stands in an extension's `custom` entries alone. An error where what
    was asked about is in one of them and in nothing that is sent.
Why it matters
    They look like part of the conversation. Pi leaves such replies out of the request (the results
    of their tool calls are still sent), and an excluded command was never meant to be seen. Of a
    role that it does not know it sends nothing, and a `custom` entry is an extension's own state;
    what the model is to see, an extension puts into a `custom_message`.
What proves it
    The entry, its `stopReason`, `excludeFromContext`, `role` or `customType`, by line.
What it cannot tell
    Whether a later reply said the same again in other words, and what an extension of the person's
    own makes of its entries when it is loaded.
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
# So many characters before and after are shown of what was asked about.
_AROUND = 60
# What Pi 1.6.0 makes a request of (core/messages.js `convertToLlm`).
_KNOWN = frozenset(
    (
        *("system", "user", "assistant", "toolResult", "bashExecution", "custom"),
        *("branchSummary", "compactionSummary"),
    )
)


@rule("PI209", "not-sent", layer="branch", levels=("warning", "error"), verdict="not-sent")
def not_sent(case: Case) -> Iterator[Finding]:
    """Find entries of the context that are left out of the request."""
    by_target = edits(case.context)
    found = [e for e in case.context if _is_left_out(e) and e.id not in by_target]
    asked = _asked_about(case, found)
    records = [entry for entry in case.branch if entry.type == "custom" and entry.line in asked]
    for entry in records[:_SHOWN]:
        yield Finding(
            f"what was asked about, {shortened(case.question.about or '')!r}, is in {named(entry)},"
            f" an extension's own record ({_custom_type(case, entry)}): the model is sent no such"
            " entry",
            (case.evidence(entry, asked[entry.line]),),
            level="error",
            remedy=(Remedy("Say it again in a prompt, where the model should know of it."),),
        )
    for entry in found[-_SHOWN:]:
        yield Finding(
            _message(case, entry),
            (case.evidence(entry, asked.get(entry.line) or _error(case, entry)),),
            level="error" if entry.line in asked else None,
            remedy=(Remedy("Say it again in a prompt, where the model should know of it."),),
        )
    if len(found) > _SHOWN:
        rest = found[:-_SHOWN]
        yield Finding(
            f"{counted(len(rest), 'earlier entry')} of the context are not sent either",
            tuple(case.evidence(entry) for entry in rest[-_SHOWN:]),
            level="error" if any(entry.line in asked for entry in rest) else None,
        )


def _asked_about(case: Case, left_out: list[Entry]) -> dict[int, str]:
    """Return the lines that hold what was asked about and are not sent, with the words around it.

    None where the model is sent it all the same. What a prompt or a reply says of it afterwards,
    such as a question about it, is no original.
    """
    if case.question.about is None:
        return {}
    own = [entry for entry in case.branch if entry.type == "custom"]
    out = {entry.line: _around(case, entry) for entry in (*left_out, *own)}
    found = {line: around for line, around in out.items() if around}
    if not found:
        return {}
    first = min(found)
    for entry in case.context:
        sent = entry.line not in out and entry.line in case.sent_lines
        if sent and not (entry.is_activity and entry.line > first) and _around(case, entry):
            return {}
    return found


def _around(case: Case, entry: Entry) -> str:
    """Return the words around what was asked about in the line of an entry, "" without it."""
    text = case.subject.raw(entry.offset, entry.length).decode("utf-8", "replace")
    place = text.casefold().find((case.question.about or "").casefold())
    return text[max(0, place - _AROUND) : place + 2 * _AROUND] if place >= 0 else ""


def _custom_type(case: Case, entry: Entry) -> str:
    found = get(case.value(entry), "customType")
    return f"customType {shortened(found)!r}" if isinstance(found, str) else "no customType"


def _is_left_out(entry: Entry) -> bool:
    message = entry.message
    if message is None:
        return False
    if entry.role == "bashExecution":
        return message.excluded
    if entry.role not in _KNOWN:
        return True
    return entry.role == "assistant" and message.stop_reason in NOT_SENT


def _error(case: Case, entry: Entry) -> str | None:
    """Return what the reply says of its failure."""
    said = get(get(case.value(entry), "message"), "errorMessage")
    return said if isinstance(said, str) and said else None


def _message(case: Case, entry: Entry) -> str:
    message = entry.message
    where = f"{named(entry)}"
    if message is None or entry.role == "bashExecution":
        return (
            f"the command in {where}, {shortened(case.text(entry))!r}, is excluded from the context"
        )
    if entry.role not in _KNOWN:
        return (
            f"the message in {where} has the role {shortened(str(entry.role))!r}, which Pi does"
            " not know: the model is not sent it"
        )
    how = "was aborted" if message.stop_reason == "aborted" else "ended in an error"
    said = _error(case, entry)
    why = f" ({shortened(said, 120)})" if said else ""
    calls = f", with {counted(len(message.calls), 'tool call')}" if message.calls else ""
    return f"the reply in {where} {how}{why}{calls}: the session shows it, the model is not sent it"
