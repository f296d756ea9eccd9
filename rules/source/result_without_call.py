"""A tool result whose call is not before it on the branch, or is not sent with it.

What it finds
    Results on the active branch that answer no call above them, and results of calls in replies
    that failed or were aborted: Pi sends such a result and leaves the reply out.
Why it matters
    Some providers refuse such a request; others show the model an answer to no question.
What proves it
    The line of the result, the call id that it names, and where that call stands, if anywhere.
What it cannot tell
    What took the call away; PI109 and PI110 tell of lost lines. A call whose id begins with the
    same part is taken for the result's own: some providers write an id in two forms.
What to do
    Go back to before the result with `/tree`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, rule
from diagnose.pipeline.words import shortened
from diagnose.sessions.calls import results_under_another_form

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

_SHOWN = 20


@rule("PI402", "result-without-call", layer="source", levels=("warning",))
def result_without_call(case: Case) -> Iterator[Finding]:
    """Find results that answer no call before them, or none that is sent."""
    strays = case.pairing.stray_results
    unsent = [call for call in case.pairing.calls if call.never_ran and call.result is not None]
    likely = {
        result.line: case.pairing.calls[place].entry
        for place, result in results_under_another_form(case.pairing).items()
    }
    elsewhere = _calls_elsewhere(case, strays)
    for entry in strays[:_SHOWN]:
        yield _stray(case, entry, likely.get(entry.line), elsewhere)
    for call in unsent[:_SHOWN]:
        if call.result is not None:
            yield Finding(
                f"the tool result in {named(call.result)} answers a call of {named(call.entry)}, a"
                " reply that failed: Pi sends the result and not the reply",
                (case.evidence(call.result), case.evidence(call.entry)),
            )
    rest = [*strays[_SHOWN:], *(call.entry for call in unsent[_SHOWN:])]
    if rest:
        yield Finding(
            f"{len(rest)} more tool results answer no call that is sent before them",
            (case.evidence(rest[0]),),
        )


def _calls_elsewhere(case: Case, strays: list[Entry]) -> dict[object, Entry]:
    """Return, by the id of a call that a stray names, a reply of the file that has one."""
    wanted = {entry.message.call_id for entry in strays if entry.message}
    found: dict[object, Entry] = {}
    for entry in case.opened.entries if wanted else ():
        for call in entry.message.calls if entry.message else ():
            if call.id in wanted:
                found.setdefault(call.id, entry)
    return found


def _stray(
    case: Case, entry: Entry, likely: Entry | None, elsewhere: dict[object, Entry]
) -> Finding:
    call_id = entry.message.call_id if entry.message else None
    shown = shortened(call_id, 40) if isinstance(call_id, str) else "no id"
    asking = likely or elsewhere.get(call_id)
    if likely is not None:
        where = f"; {named(likely)} has a call whose id begins so, likely its own"
    elif asking is None:
        where = "; no reply of the file has such a call"
    elif asking.line in case.tree.on_branch:
        where = f"; the call stands after it, in {named(asking)}"
    else:
        where = f"; the call is on another branch, in {named(asking)}"
    return Finding(
        f"the tool result in {named(entry)} answers a call ({shown}) that is not before it on the"
        f" branch{where}",
        (case.evidence(entry), *((case.evidence(asking),) if asking else ())),
    )
