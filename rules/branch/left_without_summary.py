"""A branch was left and nothing of it was carried over.

What it finds
    A branch beside the active one that holds a conversation and for which no branch summary stands.
Why it matters
    Leaving a branch without a summary is Pi's default answer. The next request then holds no trace
    of it: not that something was tried, nor what came of it.
What proves it
    The branch's last message, and the entry where the active branch parts from it. The settings,
    where they say now that Pi does not even ask for a summary (`branchSummary.skipPrompt`).
What it cannot tell
    Whether anything of it was worth carrying over.
What to do
    To carry it over now: open the session, `/tree` to the branch's last message, and from there
    `/tree` back to the active branch with a summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import lines_of
from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

# Branches beyond these are counted.
_SHOWN = 10


@rule("PI206", "left-without-summary", layer="branch", levels=("note",))
def left_without_summary(case: Case) -> Iterator[Finding]:
    """Find branches that were left without a summary."""
    found = [left for left in case.left if left.cause == "left" and left.summary is None]
    skipping = case.setting("branchSummary", "skipPrompt") if found else None
    unasked, setting = "", []
    if skipping is not None and skipping[0] is True:
        unasked = "; by the settings (branchSummary.skipPrompt) Pi does not ask for one"
        setting = [Evidence(str(skipping[1]), quote='"skipPrompt": true')]
    for left in found[-_SHOWN:]:
        tip = left.tip
        where = f"at line {left.parting.line}" if left.parting else "with another root"
        pieces = [case.evidence(tip)] + ([case.evidence(left.parting)] if left.parting else [])
        yield Finding(
            f"a branch of {counted(len(left.entries), 'entry')}, {lines_of(left.entries)}, was left"
            f" {where} without a summary: the next request holds nothing of it{unasked}",
            (*pieces, *setting),
            remedy=(
                Remedy(
                    f"Open the session, /tree to {shortened(case.text(tip))!r} (line {tip.line}),"
                    " then /tree back to the last message, with a summary.",
                    case.command_to_open(case.subject),
                ),
            ),
        )
    if len(found) > _SHOWN:
        rest = found[:-_SHOWN]
        yield Finding(
            f"{counted(len(rest), 'more branch', 'more branches')} were left without a summary"
            " before these",
            tuple(case.evidence(left.tip) for left in rest[-_SHOWN:]),
        )
