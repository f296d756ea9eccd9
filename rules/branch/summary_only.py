"""The day's branch was left with a summary, and the summary is all that is seen of it.

What it finds
    Messages of the day on a branch that was left, for which a branch summary on the active branch
    stands.
Why it matters
    The model is sent the summary in place of the branch. Pi writes it without having seen a single
    tool result, and what it does not name is unknown to the next request.
What proves it
    The branch summary, the entry from which it was made (`fromId`; before 0.84.3 Pi recorded the
    place where it was put instead, so the branch is then found by the tree, and the finding says
    so), and, for each thing that it leaves out, the line that says it. Calls that failed are told
    with their results, whatever the summary says of them.
What it cannot tell
    Whether a summary says in other words what it does not name. Files and commands are looked for
    by their names, statements of limits ("not checked: …") by their own words.
What to do
    Read the originals at the lines named. To go on with them, open the session, type `/tree` and
    choose the branch's last message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import lines_of, named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.summaries import dropped_commands, dropped_files, dropped_statements
from diagnose.pipeline.words import counted, shortened
from diagnose.sessions.branches import last_message
from diagnose.sessions.calls import pair
from diagnose.sessions.files import details_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.pipeline.finding import Evidence
    from diagnose.sessions.branches import LeftBranch
    from diagnose.sessions.entry import Entry

# Of each kind, so many things that a summary names or leaves out are told one by one.
_SHOWN = 3
# Branches beyond these, the oldest, are counted.
_BRANCHES = 10


@rule("PI203", "summary-only", layer="branch", levels=("error",), verdict="summarised")
def summary_only(case: Case) -> Iterator[Finding]:
    """Find messages of the day for which a branch summary stands."""
    found = [
        (left, left.summary)
        for left in case.left
        if left.summary is not None and case.active_on_day(left.summarised)
    ]
    for left, summary in found[-_BRANCHES:]:
        yield _finding(case, left, summary)
    if len(found) > _BRANCHES:
        rest = found[:-_BRANCHES]
        yield Finding(
            f"{counted(len(rest), 'more branch', 'more branches')} of the day were left with a"
            " summary before these",
            tuple(case.evidence(summary) for _, summary in rest[-_BRANCHES:]),
        )


def _finding(case: Case, left: LeftBranch, summary: Entry) -> Finding:
    entries = left.summarised
    tip = last_message(entries)
    text = case.text(summary)
    read, modified = details_files(case.value(summary))
    names = _list([*modified, *(path for path in read if path not in modified)])
    dropped, pieces = _dropped(case, entries, summary, text)
    day = case.active_on_day(entries)
    told, failed = _failed(case, entries)
    seen = (
        "" if summary.line in case.in_context else ", which itself lies before a later compaction"
    )
    return Finding(
        f"the branch of {counted(len(entries), 'entry')} in {lines_of(entries)}"
        f" ({counted(len(day), 'message')} of the day) was left with the summary in"
        f" {named(summary)}{seen}; it names {names or 'no file'}, and"
        f" {dropped or 'nothing that was looked for is missing from it'}{told}"
        f"{_unsure(case, left, summary)}",
        tuple(dict.fromkeys((case.evidence(summary), *pieces, *failed, case.evidence(tip)))),
        remedy=(
            Remedy(
                f"Read the originals; or open the session, type /tree and choose"
                f" {shortened(case.text(tip))!r} (line {tip.line}).",
                case.command_to_open(case.subject),
            ),
        ),
    )


def _failed(case: Case, entries: list[Entry]) -> tuple[str, list[Evidence]]:
    """Return in words which calls of a branch failed, and the lines of calls and results.

    The summary was made without their results: it may well say that they succeeded.
    """
    found = [
        (call, call.result)
        for call in pair(entries).calls
        if call.result is not None and call.result.message and call.result.message.is_error
    ]
    told = [
        f"{shortened(call.call.name)} in {named(call.entry)}, by its result in {named(result)}"
        for call, result in found[:_SHOWN]
    ]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    pieces = [case.evidence(one) for call, end in found[:_SHOWN] for one in (call.entry, end)]
    words = f"; it saw no results, and these calls failed: {', '.join(told)}{more}" if told else ""
    return words, pieces


def _unsure(case: Case, left: LeftBranch, summary: Entry) -> str:
    """Say where the summary does not name the branch that it was made of."""
    target = summary.boundary.target if summary.boundary is not None else None
    if any(entry.id == target for entry in left.entries):
        return ""
    place = case.tree.by_id.get(target)
    where = f"names {named(place)}" if place is not None else "names no entry of the file"
    if target == summary.parent:
        where += ", where it was put"
    others = [
        one.tip for one in case.left if one is not left and one.entries[0].line < summary.line
    ]
    doubt = f"; other branches end in {', '.join(map(named, others[-_SHOWN:]))}" if others else ""
    return (
        f"; its fromId {where}, and not the branch that was left, which is taken to be the one"
        f" written to last before it{doubt}"
    )


def _dropped(
    case: Case, entries: list[Entry], summary: Entry, text: str
) -> tuple[str, list[Evidence]]:
    """Return in words what the summary leaves out, and the lines that say it."""
    session = case.subject
    said = [entry for entry in entries if entry.is_activity]
    limits = dropped_statements(said, [case.text(entry) for entry in said], text)
    files = dropped_files(session, entries, case.value(summary), text)
    commands = dropped_commands(session, entries, text)
    words = [f"{one.text!r} (line {one.entry.line})" for one in limits[:_SHOWN]]
    words += [f"the file {one.text} (line {one.entry.line})" for one in files[:_SHOWN]]
    words += [
        f"the command {shortened(one.text)!r} (line {one.entry.line})" for one in commands[:_SHOWN]
    ]
    more = sum(max(len(kind) - _SHOWN, 0) for kind in (limits, files, commands))
    if more:
        words.append(f"{counted(more, 'more thing')} of this kind")
    pieces = [case.evidence(one.entry, one.text) for one in limits[:_SHOWN]]
    pieces += [case.evidence(one.entry, one.text) for one in (*files[:_SHOWN], *commands[:_SHOWN])]
    return ("does not carry " + ", ".join(words) if words else ""), pieces


def _list(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
