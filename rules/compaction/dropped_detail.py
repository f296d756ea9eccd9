"""What the summary does not carry: statements of limits, files and commands.

What it finds
    In what the latest compaction left out of the context: statements of what was not done ("not
    checked: …"), files that tools read or changed, and commands that changed something, which the
    summary does not name.
Why it matters
    A limit that is forgotten turns "checked in part" into "checked".
What proves it
    The line of each original, and the summary, in which its words are looked for.
What it cannot tell
    Whether the summary says the same in words of its own. What a summary of an earlier compaction
    carried counts only if the latest carries it too.
What to do
    Tell the agent what was dropped; the originals are at the lines named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.effects import lasting
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.summaries import (
    Named,
    Statement,
    dropped_commands,
    dropped_files,
    dropped_statements,
)
from diagnose.pipeline.words import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

# So many things of a kind are told one by one.
_SHOWN = 10


@rule(
    "PI306",
    "dropped-detail",
    layer="compaction",
    levels=("warning", "error"),
    verdict="summarised",
)
def dropped_detail(case: Case) -> Iterator[Finding]:
    """Find what the latest summary leaves out of what it stands for."""
    compaction = case.compaction
    if compaction is None:
        return
    summary = case.text(compaction)
    # What was asked about may be older than the day; else only the day is looked through.
    wide = case.question.about is not None or case.question.kind == "lost-details"
    entries = case.compacted if wide else case.on_day(case.compacted)
    if not entries:
        return
    spoken = [entry for entry in entries if entry.is_activity]
    texts = [case.text(entry) for entry in spoken]
    for what, dropped in (
        ("statements of limits", dropped_statements(spoken, texts, summary)),
        ("files", dropped_files(case.opened, entries, case.value(compaction), summary)),
        (
            "commands that change something",
            [one for one in dropped_commands(case.opened, entries, summary) if lasting(one.text)],
        ),
    ):
        if dropped:
            yield _finding(case, compaction, what, dropped)


def _finding(
    case: Case, compaction: Entry, what: str, dropped: Sequence[Statement | Named]
) -> Finding:
    asked = case.question.kind == "lost-details" or any(case.mentions(one.text) for one in dropped)
    shown = dropped[:_SHOWN]
    told = "; ".join(f"{shortened(one.text)!r} (line {one.entry.line})" for one in shown)
    more = f"; and {len(dropped) - _SHOWN} more" if len(dropped) > _SHOWN else ""
    return Finding(
        f"the summary in {named(compaction)} does not carry {what} of what it stands for: {told}"
        f"{more}",
        (*(case.evidence(one.entry, one.text) for one in shown), case.evidence(compaction)),
        level="error" if asked else None,
        remedy=(Remedy("Tell the agent what was dropped; the originals are at these lines."),),
    )
