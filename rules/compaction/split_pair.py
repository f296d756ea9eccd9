"""The boundary of a compaction parts a tool call from its result.

What it finds
    A tool call before the kept boundary whose result is after it.
Why it matters
    The model is sent a result without the call that it answers, which some providers refuse.
What proves it
    The line of the call, the line of the result, and the compaction between them.
What it cannot tell
    How the provider takes it. Pi itself never cuts so; an extension or an edited file does.
What to do
    Go back to before the compaction with `/tree` and compact again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, rule
from diagnose.pipeline.words import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

# A boundary parts one batch; calls beyond this many are not told.
_SHOWN = 20


@rule("PI308", "split-pair", layer="compaction", levels=("warning",))
def split_pair(case: Case) -> Iterator[Finding]:
    """Find calls that are compacted away while their results are kept."""
    compaction = case.compaction
    if compaction is None:
        return
    told = 0
    for call in case.pairing.calls:
        result = call.result
        if result is None or call.entry.line in case.in_context:
            continue
        if result.line in case.in_context and told < _SHOWN:
            told += 1
            yield Finding(
                f"the boundary of the compaction in {named(compaction)} parts the call"
                f" {shortened(call.call.name)} in {named(call.entry)} from its result in"
                f" {named(result)}",
                (
                    case.evidence(compaction),
                    case.evidence(call.entry),
                    case.evidence(result),
                ),
            )
