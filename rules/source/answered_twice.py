"""A call was answered twice, or one id stands for two calls of a reply.

What it finds
    Calls with more than one result on the branch, replies in which an id occurs twice, and calls
    between which and whose result another message stands: there Pi makes up a failed result before
    that message, and the real one follows it.
Why it matters
    Which of the answers counts is up to the provider, and some refuse the request; an id that
    stands for two calls makes it unknown which of them was answered.
What proves it
    The lines of the call, of its results, and of what stands between.
What it cannot tell
    Of two results: whether the tool ran twice, or its result was written twice.
What to do
    Look at both results before you rely on either.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from diagnose.pipeline.case import lines_of, named
from diagnose.pipeline.finding import Finding, rule
from diagnose.pipeline.words import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

# More than so many are not told.
_SHOWN = 50


@rule("PI403", "answered-twice", layer="source", levels=("warning",))
def answered_twice(case: Case) -> Iterator[Finding]:
    """Find calls with several answers, and ids with several calls."""
    if not case.pairing.calls:
        return
    seen: dict[tuple[int, object], int] = {}
    closing = [entry for entry in case.branch if _ends_a_batch(case, entry)]
    place = {entry.line: number for number, entry in enumerate(case.branch)}
    places = [place[entry.line] for entry in closing]
    told = 0
    for call in case.pairing.calls:
        if told >= _SHOWN:
            return
        key = (call.entry.line, call.call.id)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] == 2:  # noqa: PLR2004 (the second of that id)
            told += 1
            yield Finding(
                f"two calls of {named(call.entry)} have one id, {shortened(str(call.call.id), 40)}",
                (case.evidence(call.entry),),
            )
        if call.result is None:
            continue
        if call.further_results:
            told += 1
            results = [call.result, *call.further_results]
            yield Finding(
                f"the call of {shortened(call.call.name)} in {named(call.entry)} has"
                f" {len(results)} results, {lines_of(results)}",
                (case.evidence(call.entry), *(case.evidence(one) for one in results[:10])),
            )
        between = bisect_right(places, place[call.entry.line])
        if (
            call.entry.line in case.sent_lines
            and not call.never_ran
            and between < len(places)
            and places[between] < place[call.result.line]
        ):
            told += 1
            other = closing[between]
            yield Finding(
                f"{named(other)} stands between the call of {shortened(call.call.name)} in"
                f" {named(call.entry)} and its result in {named(call.result)}: the tool ran once,"
                " and the model is sent a made-up failure before the real result",
                (case.evidence(call.entry), case.evidence(other), case.evidence(call.result)),
            )


def _ends_a_batch(case: Case, entry: Entry) -> bool:
    """Tell whether Pi closes the calls before an entry when it makes the request of it.

    It does before a user's or a model's message, and before what becomes a user's message.
    """
    if entry.line not in case.sent_lines:
        return False
    if entry.type == "custom_message" or entry.role in ("user", "assistant", "custom"):
        return True
    if entry.type == "branch_summary":
        return entry.boundary is not None and entry.boundary.has_summary
    return entry.role == "bashExecution" and not (entry.message and entry.message.excluded)
