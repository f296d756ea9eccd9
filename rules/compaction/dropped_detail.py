"""What the summary does not carry: statements of limits, files, commands, and what was asked.

What it finds
    In what the latest compaction left out of the context, and what the summary does not name:
    statements of what was not done ("not checked: …"), files that tools read or changed, commits,
    deletions, remote calls and runs of tests, and what was asked about. Of the day; of all that was
    compacted where something was asked about, or details are missed.
Why it matters
    A limit that is forgotten turns "checked in part" into "checked".
What proves it
    The line of each original, and the summary, in which its words are looked for.
What it cannot tell
    Whether the summary says the same in words of its own, or in another language. What a summary of
    an earlier compaction carried counts only if the latest carries it too.
What to do
    Tell the agent what was dropped; the originals are at the lines named. Pi 1.6.0 makes a summary
    of the first 2,000 characters of each tool result, and of no thinking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import lines_of, named, text_in
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.summaries import (
    Named,
    Place,
    Statement,
    dropped_effects,
    dropped_files,
    dropped_statements,
    places,
)
from diagnose.pipeline.words import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

# So many things of a kind are told one by one.
_SHOWN = 10
# Of a tool result, a compaction's summary saw so many characters (Pi 1.6.0, compaction/utils.js).
_SUMMARISED = 2_000


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
    value = case.value(compaction)
    summary = text_in(compaction, value)
    # What was asked about may be older than the day; else only the day is looked through.
    details = case.question.kind == "lost-details" and case.question.day_asked is None
    wide = case.question.about is not None or details
    entries = case.compacted if wide else case.on_day(case.compacted)
    if not entries:
        return
    spoken = [entry for entry in entries if entry.is_activity]
    texts = [case.text(entry) for entry in spoken]
    is_told = False
    for what, dropped in (
        ("statements of limits", dropped_statements(spoken, texts, summary)),
        ("files", dropped_files(case.opened, entries, value, summary)),
        ("commands", dropped_effects(case.opened, entries, summary)),
    ):
        if dropped:
            is_told = is_told or any(case.mentions(one.text) for one in dropped)
            yield _finding(case, compaction, what, dropped)
    if not is_told:
        yield from _asked_about(case, compaction, summary)


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


def _asked_about(case: Case, compaction: Entry, summary: str) -> Iterator[Finding]:
    """Find what was asked about in the originals alone: not summarised, not kept, not seen again.

    What a prompt or a reply after the compaction says of it is no original.
    """
    about = case.question.about
    if about is None or case.mentions(summary):
        return
    wanted = about.casefold()
    cut = case.branch.index(compaction)
    after = [entry for entry in case.branch[cut + 1 :] if entry.role == "toolResult"]
    kept = [entry for entry in case.branch[:cut] if entry.line in case.in_context]
    if any(places(entry, case.value(entry), wanted) for entry in (*kept, *after)):
        return
    found = [
        place
        for entry in case.compacted
        if entry.message is not None and (place := places(entry, case.value(entry), wanted))
    ]
    if not found:
        return
    where = lines_of([one.entry for one in found])
    why = _unseen(found[0]) if all(_unseen(one) for one in found) else ""
    yield Finding(
        f"what was asked about, {shortened(about)!r}, is in {where} of what was compacted, and the"
        f" summary in {named(compaction)} does not name it{why}",
        (
            *(case.evidence(one.entry, one.around) for one in found[:_SHOWN]),
            case.evidence(compaction),
        ),
        level="error",
        remedy=(Remedy("Read the originals at these lines, and tell the agent what they say."),),
    )


def _unseen(place: Place) -> str:
    """Say why a summary cannot have been made from a place, "" where it can."""
    if place.part == "thinking":
        return (
            "; it is in thinking, of which a summary is given nothing (block"
            f" {place.block} of the reply)"
        )
    if place.part == "tool result" and place.offset >= _SUMMARISED:
        return (
            f"; it is at character {place.offset:,} of a tool result, of which a summary is given"
            f" the first {_SUMMARISED:,}"
        )
    return ""
