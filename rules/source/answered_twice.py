"""A call was answered twice, or one id stands for two calls of a reply.

What it finds
    Calls with more than one result on the branch, and replies in which an id occurs twice.
Why it matters
    Which of the answers counts is up to the provider; an id that stands for two calls makes it
    unknown which of them was answered.
What proves it
    The lines of the call and of its results.
What it cannot tell
    Whether the tool ran twice, or its result was written twice.
What to do
    Look at both results before you rely on either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import lines_of, named
from diagnose.pipeline.finding import Finding, rule
from diagnose.pipeline.words import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI403", "answered-twice", layer="source", levels=("warning",))
def answered_twice(case: Case) -> Iterator[Finding]:
    """Find calls with several results, and ids with several calls."""
    seen: dict[tuple[int, object], int] = {}
    for call in case.pairing.calls:
        key = (call.entry.line, call.call.id)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] == 2:  # noqa: PLR2004 (the second of that id)
            yield Finding(
                f"two calls of {named(call.entry)} have one id, {shortened(str(call.call.id), 40)}",
                (case.evidence(call.entry),),
            )
        if call.result is not None and call.further_results:
            results = [call.result, *call.further_results]
            yield Finding(
                f"the call of {shortened(call.call.name)} in {named(call.entry)} has"
                f" {len(results)} results, {lines_of(results)}",
                (case.evidence(call.entry), *(case.evidence(one) for one in results[:10])),
            )
