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
from diagnose.pipeline.words import shortened
from diagnose.sessions.javascript import get

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

# So many entries are cited: the largest, and the first of each kind.
_SHOWN = 10
_KINDS = {
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
            hidden.setdefault(_kind(case, entry), []).append(entry)
            tokens += entry.usage.tokens
            cost += entry.usage.cost
    if not tokens and not cost:
        return
    told = ", ".join(_told(kind, entries) for kind, entries in hidden.items())
    shares = [f"{100 * tokens / all_tokens:.0f} % of the session's tokens"] if all_tokens else []
    shares += [f"{100 * cost / all_cost:.0f} % of its cost"] if all_cost else []
    largest = max(
        (entry for entries in hidden.values() for entry in entries),
        key=lambda entry: (entry.usage.cost, entry.usage.tokens) if entry.usage else (0, 0),
    )
    cited = [largest, *(entries[0] for entries in hidden.values() if entries[0] is not largest)]
    yield Finding(
        f"{told}: {tokens:,.0f} tokens and {cost:.6g} dollars that no reply shows,"
        f" {' and '.join(shares)}",
        tuple(case.evidence(entry) for entry in cited[:_SHOWN]),
    )


def _kind(case: Case, entry: Entry) -> str:
    """Return what an entry's usage was for; a usage entry says so in its `kind`."""
    if entry.type != "usage":
        return _KINDS.get(entry.type or "", "entry")
    kind = get(case.value(entry), "kind")
    if kind == "cache_warm":
        return "cache warming"
    return f"usage entry of kind {shortened(kind, 30)}" if isinstance(kind, str) else "usage entry"


def _told(kind: str, entries: list[Entry]) -> str:
    tokens = sum(entry.usage.tokens for entry in entries if entry.usage)
    number = f"{len(entries)} x {kind}" if len(entries) > 1 else f"1 {kind}"
    return f"{number} ({tokens:,.0f} tokens)"
