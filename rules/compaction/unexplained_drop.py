"""The context shrank between two replies, and nothing in the session says why.

What it finds
    Two replies of one model, one after the other on the branch, between which the tokens sent
    (input, cache read and cache write) fell by more than half, with no compaction, context edit,
    branch summary or change of the system prompt between them.
Why it matters
    Something outside the session cut the context: an extension, a proxy, or the server itself. The
    model did not see what the session shows.
What proves it
    The usage of both replies.
What it cannot tell
    What was cut, and by what. Providers count differently; small requests are left out.
What to do
    Look at extensions with a `context` hook, and at the proxy or server that the model runs behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, rule
from diagnose.sessions.context import NOT_SENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry, Usage

# A request smaller than this (tokens) may lose half of itself for many reasons.
_SMALL = 4_000
_HALF = 0.5


@rule("PI311", "unexplained-drop", layer="compaction", levels=("warning",))
def unexplained_drop(case: Case) -> Iterator[Finding]:
    """Find replies before which the tokens sent fell without a reason in the session."""
    before: Entry | None = None
    sent_before = 0.0
    for entry in case.branch:
        if entry.role in ("user", "toolResult"):
            continue  # most are, and neither is a reply or a reason
        if entry.type in ("compaction", "context_edit", "branch_summary") or entry.role == "system":
            before = None
        if entry.role != "assistant" or entry.usage is None or entry.message is None:
            continue
        sent = _sent(entry.usage)
        if entry.message.stop_reason in NOT_SENT or not sent:
            continue
        if before is not None and before.message is not None:
            same = (before.message.provider, before.message.model) == (
                entry.message.provider,
                entry.message.model,
            )
            if same and sent_before >= _SMALL and sent < _HALF * sent_before:
                yield Finding(
                    f"between {named(before)} and {named(entry)} the tokens sent fell from"
                    f" {sent_before:,.0f} to {sent:,.0f}, and nothing in the session says why",
                    (case.evidence(entry), case.evidence(before)),
                )
        before, sent_before = entry, sent


def _sent(usage: Usage) -> float:
    return usage.input + usage.cache_read + usage.cache_write
