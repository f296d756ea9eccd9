"""The active branch starts at a second root.

What it finds
    The active branch begins at an entry without a parent, and an earlier tree of the same file
    holds a conversation.
Why it matters
    The next request holds nothing of the first tree. Editing the very first prompt does this, and
    so does a tool that appended one session's lines to another's: a second header stands between
    them then, and Pi does not use it.
What proves it
    Both roots, the last message of the first tree, and the second header where there is one.
What it cannot tell
    Whether it was meant.
What to do
    Open the session, type `/tree` and choose the last message of the first tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import lines_of, named
from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened
from diagnose.sessions.javascript import get, parse_line, to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.reading import Session


@rule("PI207", "new-root", layer="branch", levels=("warning",))
def new_root(case: Case) -> Iterator[Finding]:
    """Find that the active branch is not of the file's first tree."""
    root = case.branch[0] if case.branch else None
    if root is None or case.tree.lacks_parent(root):
        return
    first = next(
        (
            left
            for left in case.left
            if left.parting is None
            and left.cause == "left"
            and left.root.line < root.line
            and not case.tree.lacks_parent(left.root)
        ),
        None,
    )
    if first is None:
        return
    tip = first.tip
    path = str(case.subject.path)
    between = [n for n in case.subject.extra_headers if first.root.line < n < root.line]
    second = (
        f"; line {between[-1]} is a second header{_ids(case.subject, between[-1])}, which Pi does"
        " not use: two conversations stand in one file"
        if between
        else ""
    )
    yield Finding(
        f"the active branch begins at a root of its own, {named(root)} of"
        f" {case.clock(root.time)}, and holds nothing of the"
        f" {counted(len(first.entries), 'entry')} before it, {lines_of(first.entries)}, which begin"
        f" at {named(first.root)} of {case.clock(first.root.time)}{second}",
        (
            case.evidence(root),
            case.evidence(first.root),
            case.evidence(tip),
            *(Evidence(path, line) for line in between[-1:]),
        ),
        remedy=(
            Remedy(
                f"Open the session, type /tree and choose {shortened(case.text(tip))!r}"
                f" (line {tip.line}).",
                case.command_to_open(case.subject),
            ),
        ),
    )


def _ids(session: Session, line: int) -> str:
    """Say which session a second header begins, and which one the file is."""
    id_ = shortened(to_text(get(parse_line(session.raw(*session.extra_headers[line])), "id")))
    return f" (of session {id_}; the file's own is of {shortened(session.id or '')})"
