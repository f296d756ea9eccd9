"""The last line of the file is JSON but no entry, and Pi takes it for the leaf.

What it finds
    A last line such as `42`, `[]`, a text, or an object without an id. (`null` does nothing.)
Why it matters
    Pi takes the last value of the file for the leaf, whatever it is. Nothing hangs on a value
    without an id or a parent, so that the next request begins with an empty context. The next entry
    that Pi appends has no parent, and cuts off for good what stands above.
What proves it
    The last line, and the last entry that is one.
What it cannot tell
    Which program wrote the line. Pi does not write such lines.
What to do
    Do not go on in the file. Make a copy without that line, and open the copy.
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry


@rule("PI211", "not-an-entry", layer="branch", levels=("error",), verdict="damaged")
def not_an_entry(case: Case) -> Iterator[Finding]:
    """Find a leaf that is no entry."""
    branch, tree = case.branch, case.tree
    leaf = tree.leaf
    if leaf is None or tree.shown_branch:
        return
    session = case.subject
    text = session.raw(leaf.offset, min(leaf.length, 400)).decode("utf-8", "replace")
    last = next((e for e in reversed(session.entries) if e.entry_id), None)
    kept = sum(entry is not leaf for entry in branch)
    pieces = [Evidence(str(session.path), leaf.line, quote=text)]
    true_leaf = "no line of the file is an entry with an id"
    if last is not None:
        pieces.append(case.evidence(last))
        true_leaf = f"the last entry is {named(last)}"
    nameless = sum(not e.entry_id for e in session.entries)
    header = (
        f"; {counted(nameless, 'entry')} have no id, as in version 1, but the header says version"
        f" {session.version}"
        if nameless > 1
        else ""
    )
    yield Finding(
        f"the last line of the file, {leaf.line}, is {_kind(leaf)} ({shortened(text, 40)}), and Pi"
        f" takes it for the leaf: of {counted(len(session.entries) - 1, 'other entry')} the context"
        f" holds {kept or 'none'}; {true_leaf}{header}",
        tuple(pieces),
        remedy=(
            Remedy(
                "Make a copy without that line, and open the copy.",
                f"sed {leaf.line}d {quote(str(session.path))} >"
                f" {quote(session.path.stem + '-mended.jsonl')}",
            ),
        ),
    )


def _kind(leaf: Entry) -> str:
    return "an object without an id" if leaf.is_object else "no object"
