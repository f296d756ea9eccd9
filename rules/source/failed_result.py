"""A tool call failed.

What it finds
    Results that are errors; a warning where the reply right after one claims success, with what can
    be seen of it from outside the session. Which of them never ran, and which were cut off by a
    time limit.
Why it matters
    What failed was not done. An error of a queue or of the network is no proof of that either.
What proves it
    The result's `isError` and text, and the words of the reply after it.
What it cannot tell
    Whether the reply speaks of this call: it is a reading of text, no certainty.
What to do
    Look at the result before you believe the reply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.aftermath import look
from diagnose.pipeline.case import lines_of, named
from diagnose.pipeline.effects import call_effect, is_cut
from diagnose.pipeline.finding import Evidence, Finding, rule
from diagnose.pipeline.words import counted, find, shortened, words
from diagnose.sessions.calls import each_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

_SHOWN = 10


@rule("PI404", "failed-result", layer="source", levels=("note", "warning"))
def failed_result(case: Case) -> Iterator[Finding]:
    """Find failed results, and replies that claim success after one."""
    failed = [entry for entry in case.branch if entry.message and entry.message.is_error]
    if not failed:
        return
    claimed: list[tuple[Entry, Entry, str]] = []
    replies = _next_words(case)
    for entry in failed:
        reply = replies.get(entry.line)
        text = case.text(reply) if reply is not None else ""
        claim = find(text, words("claims_of_success"))
        if reply is not None and claim and not find(text, words("denials_of_success")):
            claimed.append((entry, reply, claim[0]))
    seen = _seen(case, [result for result, _, _ in claimed[:_SHOWN]])
    for result, answer, said in claimed[:_SHOWN]:
        told, cited = seen.get(result.line, ("", ()))
        yield Finding(
            f"the tool call answered in {named(result)} failed, and the reply in {named(answer)}"
            f" says {shortened(said)!r}{told}",
            (case.evidence(result), case.evidence(answer), *cited),
            level="warning",
        )
    has_durations = any(entry.message and entry.message.ran for entry in case.branch)
    unrun = [e for e in failed if has_durations and e.message and not e.message.ran]
    begun = [e for e in failed if not has_durations or (e.message and e.message.ran)]
    cut = [entry for entry in begun if is_cut(case.text(entry))]
    told = f"; {lines_of(unrun)} never ran" if unrun else ""
    told += (
        f"; {lines_of(cut)} {'was' if len(cut) == 1 else 'were'} cut off, and may have had part of"
        " the effect"
        if cut
        else ""
    )
    yield Finding(
        f"{counted(len(failed), 'tool call')} failed, {lines_of(failed)}{told}",
        tuple(case.evidence(entry) for entry in failed[:_SHOWN]),
    )


def _seen(case: Case, results: list[Entry]) -> dict[int, tuple[str, tuple[Evidence, ...]]]:
    """Say what can be seen of failed calls from outside the session, by the line of the result."""
    lines = {result.line for result in results}
    calls = [call for call in case.pairing.calls if call.result and call.result.line in lines]
    found: dict[int, tuple[str, tuple[Evidence, ...]]] = {}
    for call, given in each_arguments(case.opened, calls):
        part = call_effect(call.call.name, given)
        if call.result is None or part.effect == "read":
            continue
        seen = look(case, call, given, part)
        what = given.get("command", given.get("path"))
        shown = f" {shortened(what)!r}" if isinstance(what, str) else ""
        found[call.result.line] = (f";{shown}: {seen.told}" if shown else "", seen.evidence)
    return found


def _next_words(case: Case) -> dict[int, Entry]:
    """Return, by the line of a result of a turn's last calls, the reply that ends the turn."""
    found: dict[int, Entry] = {}
    reply: Entry | None = None
    for entry in reversed(case.branch):
        if entry.role == "user":
            reply = None
        elif entry.role == "assistant" and entry.message:
            # After a further call the reply speaks of that one: what failed was done again.
            reply = None if entry.message.calls else entry
        elif entry.role == "toolResult" and reply is not None:
            found[entry.line] = reply
    return found
