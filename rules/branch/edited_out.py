"""A context edit removes or replaces entries before they are sent.

What it finds
    `context_edit` entries in the context whose target is in the context too: `null` removes it,
    anything else takes the place of its content. Of several for one target, the latest applies.
    And summaries of branches that repeat what an edit on the branch had hidden.
Why it matters
    The session still shows the original; the model is not sent it. Extensions use edits to save
    tokens; Pi itself removes a failed reply with one, and the results of its calls, when a request
    or a reply was too long, before it compacts. The compaction may fail: the edits stay. Before Pi
    1.5.0 a branch summary was made of the originals, and brought back what was hidden.
What proves it
    The edit and its target, by line; the summary that repeats it.
What it cannot tell
    Who asked for the edit: Pi or an extension. Whether a summary that has most words of a
    hidden sentence has them from there. An edit without `replacement` is reported as an
    error, since Pi throws on it and can build no request at all.
What to do
    Read the original at its line, and tell the agent what it needs of it.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, Level, Remedy, rule
from diagnose.pipeline.summaries import repeats
from diagnose.pipeline.words import counted, is_overflow, shortened
from diagnose.sessions.context import NOT_SENT, edits
from diagnose.sessions.javascript import get

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

# Edits beyond these are counted.
_SHOWN = 20


@rule("PI208", "edited-out", layer="branch", levels=("warning", "error"), verdict="not-sent")
def edited_out(case: Case) -> Iterator[Finding]:
    """Find entries of the context that an edit keeps from the model."""
    by_target = edits(case.context)
    found = [(by_target[e.id], e) for e in case.context if e.id in by_target]
    told = [(edit, target, _level(case, edit, target)) for edit, target in found]
    told.sort(key=lambda one: one[2] != "error")
    for edit, target, level in told[:_SHOWN]:
        yield Finding(
            _message(edit, target) + _unfinished(case, edit, target),
            (case.evidence(edit), case.evidence(target)),
            level=level,
            remedy=(Remedy(f"Read the original in line {target.line}."),),
        )
    if len(told) > _SHOWN:
        rest = told[_SHOWN:]
        yield Finding(
            f"{counted(len(rest), 'more entry')} of the context are edited before they are sent",
            tuple(case.evidence(edit) for edit, _, _ in rest[:_SHOWN]),
            level=rest[0][2],
        )
    yield from _resurfaced(case)


def _resurfaced(case: Case) -> Iterator[Finding]:
    """Find branch summaries that say again what an edit of their branch had hidden."""
    for left in case.left:
        summary = left.summary
        if summary is None or summary.line not in case.in_context:
            continue
        text = case.text(summary)
        by_target = edits(left.summarised)
        for target in left.summarised:
            edit = by_target.get(target.id)
            if edit is None or (said := repeats(text, case.text(target))) is None:
                continue
            yield Finding(
                f"{_message(edit, target)}, and the branch summary in {named(summary)} says"
                f" it again: {shortened(said)!r}",
                (case.evidence(summary), case.evidence(edit), case.evidence(target, said)),
                remedy=(Remedy("Tell the agent what of it no longer holds."),),
            )


def _level(case: Case, edit: Entry, target: Entry) -> Level:
    if edit.edit is not None and edit.edit.effect == "lacks":
        return "error"
    if target.message is None or target.message.stop_reason in NOT_SENT:
        # A failed reply is not sent in any case: overflow recovery takes it out of sight only.
        return "warning"
    if target.role == "system":
        return "warning"
    asked = bool(case.on_day([target])) or case.mentions(case.text(target))
    return "error" if asked else "warning"


def _message(edit: Entry, target: Entry) -> str:
    role = {"assistant": "reply", "toolResult": "tool result", "user": "prompt"}
    kind = role.get(target.role or "", f"{target.type} entry")
    if target.message is not None and target.message.stop_reason in NOT_SENT:
        kind = "failed reply"
    where = f"the {kind} in {named(target)}"
    effect = edit.edit.effect if edit.edit is not None else "lacks"
    if effect == "lacks":
        return (
            f"the context edit in {named(edit)} has no replacement: Pi throws"
            f" on it and can build no request; its target is {where}"
        )
    what = "removes" if effect == "removes" else "replaces the content of"
    return f"the context edit in {named(edit)} {what} {where}"


def _unfinished(case: Case, edit: Entry, target: Entry) -> str:
    """Say where an edit is of Pi's recovery from what was too long, and nothing came of it."""
    attempt = target
    if target.role == "toolResult":
        calls = case.pairing.calls
        attempt = next((call.entry for call in calls if call.result is target), target)
    if edit.edit is None or edit.edit.effect != "removes" or not _was_too_long(case, attempt):
        return ""
    after = case.branch[case.branch.index(edit) :]
    turn = takewhile(lambda entry: entry.role != "user", after)
    if any(entry.type == "compaction" for entry in turn):
        return ""
    return ", as Pi does before it compacts what was too long; no compaction follows"


def _was_too_long(case: Case, attempt: Entry) -> bool:
    """Tell whether a reply, or the request before it, was longer than the model takes."""
    if attempt.message is None or attempt.role != "assistant":
        return False
    if attempt.message.stop_reason != "error":
        return attempt.message.stop_reason == "length"
    said = get(get(case.value(attempt), "message"), "errorMessage")
    return isinstance(said, str) and is_overflow(said)
