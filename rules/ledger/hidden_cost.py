"""Usage that no reply shows: summaries, cache warming, tools.

What it finds
    Tokens and cost of usage entries, compactions, branch summaries and tool results, which
    `/session` counts and no reply shows.
Why it matters
    It is paid for, and easily overlooked.
What proves it
    The entries that carry the usage, on all branches of the file.
What it cannot tell
    What a provider really charges: the cost is what Pi recorded.
What to do
    Nothing, if the share is small. Cache warming can be turned off in Pi's settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Finding, rule
from diagnose.pipeline.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

_KINDS = {
    "usage": "usage entry",
    "compaction": "compaction",
    "branch_summary": "branch summary",
    "message": "tool result",
}


@rule("PI601", "hidden-cost", layer="ledger", levels=("note",))
def hidden_cost(case: Case) -> Iterator[Finding]:
    """Add up the usage of what is no reply."""
    hidden: dict[str, list[Entry]] = {}
    tokens = cost = all_tokens = all_cost = 0.0
    for entry in case.opened.entries:
        if entry.usage is None:
            continue
        all_tokens += entry.usage.tokens
        all_cost += entry.usage.cost
        if entry.role != "assistant":
            hidden.setdefault(_KINDS.get(entry.type or "", "entry"), []).append(entry)
            tokens += entry.usage.tokens
            cost += entry.usage.cost
    if not hidden:
        return
    told = ", ".join(counted(len(entries), kind) for kind, entries in hidden.items())
    share = 100 * cost / all_cost if all_cost else 100 * tokens / all_tokens if all_tokens else 0
    largest = max(
        (entry for entries in hidden.values() for entry in entries),
        key=lambda entry: (entry.usage.cost, entry.usage.tokens) if entry.usage else (0, 0),
    )
    cited = [largest, *(entries[0] for entries in hidden.values() if entries[0] is not largest)]
    yield Finding(
        f"{told} took {tokens:,.0f} tokens and {cost:.6g} dollars that no reply shows,"
        f" {share:.0f} % of the session's {'cost' if all_cost else 'tokens'}",
        tuple(case.evidence(entry) for entry in cited),
    )
