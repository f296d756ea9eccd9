"""The day is in the file, and not on the active branch.

What it finds
    Messages of the day in entries that the file holds beside the active branch, and that no branch
    summary on it stands for. A branch is left with `/tree`, or by editing an earlier prompt.
Why it matters
    The model is sent the active branch alone. What was done on another one is whole, on disk, and
    unknown to the next request.
What proves it
    The entry where the two part, the entries that hang on it beside the active branch, and their
    last message, each by its line.
What it cannot tell
    Whether the branch was left on purpose. Attempts in which no reply was completed are a note, as
    nothing was found out in them. Two branches that alternate slowly can be one person going back
    and forth, or two terminals.
What to do
    Open the session, type `/tree` and choose the last message of the branch. To have both, ask for
    a summary on leaving the other one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import lines_of, named
from diagnose.pipeline.finding import Finding, Level, Remedy, rule
from diagnose.pipeline.words import counted, shortened
from diagnose.sessions.branches import completed, last_message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.branches import LeftBranch

# Branches beyond these are counted.
_SHOWN = 10


@rule("PI201", "off-branch", layer="branch", levels=("error", "note"), verdict="off-branch")
def off_branch(case: Case) -> Iterator[Finding]:
    """Find messages of the day beside the active branch."""
    found = [
        (left, level)
        for left in case.left
        if left.cause == "left" and (level := _level(case, left)) is not None
    ]
    # The day's own branches first, the last written of them before the others.
    found.sort(key=lambda one: (one[1] != "error", -one[0].tip.line))
    for left, level in found[:_SHOWN]:
        yield _finding(case, left, level)
    if len(found) > _SHOWN:
        rest = found[_SHOWN:]
        yield Finding(
            f"{counted(len(rest), 'more branch', 'more branches')} of the day beside the active one"
            " are not told one by one",
            tuple(case.evidence(left.tip) for left, _ in rest[:_SHOWN]),
            level=rest[0][1],
        )


def _level(case: Case, left: LeftBranch) -> Level | None:
    day = case.active_on_day(left.hidden)
    if day and completed(left.hidden):
        return "error"
    about = case.question.about
    if day or (about and any(case.mentions(case.text(e)) for e in left.hidden if e.is_activity)):
        return "note"
    return None


def _finding(case: Case, left: LeftBranch, level: Level) -> Finding:
    tip = last_message(left.hidden)
    day = case.active_on_day(left.hidden)
    of_the_day = f" ({counted(len(day), 'message')} of the day)" if day else ""
    return Finding(
        f"the file holds {counted(len(left.hidden), 'entry')}{of_the_day} beside the active branch,"
        f" {lines_of(left.hidden)}, {_where(case, left)}; the last message there is {named(tip)} of"
        f" {case.clock(tip.time)}",
        (case.evidence(tip), case.evidence(left.parting or left.root)),
        level=level,
        remedy=(
            Remedy(
                f"Open the session, type /tree and choose {shortened(case.text(tip))!r}"
                f" (line {tip.line}).",
                case.command_to_open(case.subject),
            ),
        ),
    )


def _where(case: Case, left: LeftBranch) -> str:
    """Say where a branch parts from the active one, and what is odd about it."""
    if left.parting is None:
        where = "beginning at a root of their own"
    elif left.parting is case.branch[-1]:
        where = (
            f"going on from line {left.parting.line}, which Pi takes for the leaf because it is the"
            " last line of the file"
        )
    else:
        where = f"parting from it at {named(left.parting)}"
    if left.summary is not None:
        where += f", written after the summary of the branch in line {left.summary.line}"
    if left.alternations:
        where += ", alternating with it in the file (/tree to and fro, or two terminals)"
    return where
