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
    so that a call of a batch without results may have run to its end. A result that names another
    form of the call's id is taken for the call's own, at a lower level.
What to do
    Look before you resume, and tell the agent in the next prompt what did happen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from diagnose.pipeline.aftermath import look
from diagnose.pipeline.case import named
from diagnose.pipeline.effects import call_effect
from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import shortened
from diagnose.sessions.calls import each_arguments, results_under_another_form

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.calls import PairedCall
    from diagnose.sessions.entry import Entry
    from diagnose.sessions.events import Execution

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
    batches: dict[int, list[PairedCall]] = {}
    for call in case.pairing.calls if case.unanswered else ():
        batches.setdefault(call.entry.line, []).append(call)
    likely = results_under_another_form(case.pairing)
    answered = {id(case.pairing.calls[place]): result for place, result in likely.items()}
    ended = _aborted_after(case) if case.unanswered else set()
    started = case.started_and_not_ended
    for call, given in each_arguments(case.opened, case.unanswered[:_SHOWN]):
        batch = batches[call.entry.line]
        seen = _seen_starting(case, started.get(call.call.id))
        together = _together(call, batch, ended) + seen[0]
        finding = _finding(case, call, given, together, answered.get(id(call)))
        yield msgspec.structs.replace(finding, evidence=(*finding.evidence, *seen[1]))
    more = case.unanswered[_SHOWN:]
    if more:
        sent = any(call.entry.line in case.sent_lines for call in more)
        yield Finding(
            f"{len(more)} more calls have no result, from {named(more[0].entry)} on",
            (case.evidence(more[0].entry), case.evidence(more[-1].entry)),
            level=None if sent else "warning",
        )
    known = {call.call.id for call in case.pairing.calls}
    for execution in started.values():
        if execution.call_id not in known:
            # The process was killed before the session had the call itself.
            part = call_effect(execution.tool, execution.arguments)
            told, evidence = _seen_starting(case, execution)
            yield Finding(
                f"a call of {shortened(execution.tool)} that the session does not hold:"
                f" {shortened(part.text, _COMMAND)!r} (class {part.effect}).{told}",
                evidence,
                level=None if part.effect != "read" else "warning",
            )


def _seen_starting(case: Case, execution: Execution | None) -> tuple[str, tuple[Evidence, ...]]:
    """Say what an events capture shows of a call, and cite it."""
    if execution is None or case.capture is None:
        return "", ()
    told = f" The events capture shows it started, in line {execution.line}, and never ended."
    return told, (Evidence(str(case.capture.path), execution.line, quote=execution.tool),)


def _aborted_after(case: Case) -> set[int]:
    """Return the lines of the replies after whose calls the turn was aborted by hand."""
    found: set[int] = set()
    reply: Entry | None = None
    for entry in case.branch:
        if entry.role == "assistant" and entry.message is not None:
            if entry.message.stop_reason == "aborted" and reply is not None:
                found.add(reply.line)
            reply = entry if entry.message.calls else None
        elif entry.role == "user":
            reply = None
    return found


def _together(call: PairedCall, batch: list[PairedCall], aborted: set[int]) -> str:
    """Say what is known from the calls beside it, and from how the turn ended."""
    if call.entry.line in aborted:
        return (
            " The turn was aborted by hand: a call without a result was likely never begun, other"
            " than after a crash."
        )
    if len(batch) == 1:
        return ""
    done = sum(one.result is not None for one in batch)
    if not done:
        return (
            f" It is one of {len(batch)} calls of a reply, which Pi records only when all have"
            " ended: it may have run to its end."
        )
    first = next(one for one in batch if one.result is None)
    begun = "it was likely begun" if first is call else "it was likely never begun"
    return (
        f" {done} of the {len(batch)} calls of its reply are recorded, so they ran one by one and"
        f" {begun}."
    )


def _finding(
    case: Case,
    call: PairedCall,
    given: dict[str, object],
    together: str,
    likely: Entry | None,
) -> Finding:
    part = call_effect(call.call.name, given)
    seen = look(case, call, given, part)
    command = given.get("command", given.get("path"))
    shown = shortened(command, _COMMAND) if isinstance(command, str) else ""
    worst = shortened(part.text, _COMMAND)
    why = f" for its part {worst!r}" if worst not in (shown, call.call.name) else ""
    is_sent = call.entry.line in case.sent_lines
    told = (
        "the model will be told 'No result provided'"
        if is_sent
        else "it is not among what the model is sent"
    )
    head = f"the call of {shortened(call.call.name)} in {named(call.entry)} has no result"
    what = f"{shown!r} (class {part.effect}{why})"
    if likely is not None:
        return Finding(
            f"{head} under its id: {what}; the result in {named(likely)} begins with the same id"
            f" and is likely its own, but {told}",
            (case.evidence(call.entry, shown), case.evidence(likely)),
            level="warning",
            remedy=(Remedy(f"Tell the agent what line {likely.line} says."),),
        )
    return Finding(
        f"{head}: {what}; {seen.told}; {told}.{together}",
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
