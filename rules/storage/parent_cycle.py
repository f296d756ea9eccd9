"""The parents of entries lead back to themselves: Pi hangs on the file.

What it finds
    Entries whose `parentId`s form a circle: an entry that is its own parent, or a later line that
    uses an earlier entry's id under one of its descendants.
Why it matters
    Pi follows parents from the leaf until there is none. Where the active branch runs into a
    circle, it never ends: Pi takes the full CPU and all memory, and a polite kill does not stop it.
What proves it
    The members of the circle, and the lines that use one id twice.
What it cannot tell
    Which of two lines with one id is the true one.
What to do
    Do not open the file with Pi. Make a copy without the line that closes the circle, and open the
    copy. A circle that the active branch does not meet is a warning: going there hangs Pi as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import cite, lines_of, named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened
from diagnose.sessions.tree import CycleError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

# Circles, and members of one, beyond these are counted.
_SHOWN = 10


@rule("PI112", "parent-cycle", layer="storage", levels=("error", "warning"), verdict="damaged")
def parent_cycle(case: Case) -> Iterator[Finding]:
    """Find circles of parents."""
    tree = case.tree
    try:
        _ = tree.branch
        deadly: set[int] = set()
    except CycleError as error:
        deadly = {id(entry) for entry in error.members}
    cycles = sorted(tree.cycles, key=lambda members: id(members[0]) not in deadly)
    for members in cycles[:_SHOWN]:
        yield _finding(case, members, meets_leaf=id(members[0]) in deadly)
    if len(cycles) > _SHOWN:
        rest = cycles[_SHOWN:]
        yield Finding(
            f"{counted(len(rest), 'more circle')} of parents beside the active branch",
            tuple(case.evidence(members[0]) for members in rest[:_SHOWN]),
            level="warning",
        )


def _ids(members: list[Entry]) -> str:
    ids = [shortened(str(entry.entry_id)) for entry in members[:_SHOWN]]
    return ", ".join(ids) + (", …" if len(members) > _SHOWN else "")


def _finding(case: Case, members: list[Entry], *, meets_leaf: bool) -> Finding:
    session = case.subject
    ids = {entry.id for entry in members}
    lines = {entry.line for entry in members}
    twice = [e for e in session.entries if e.id in ids and e.line not in lines]
    last = members[-1]
    if len(members) == 1:
        what = f"{named(last)} is its own parent"
    else:
        what = (
            f"the parents of {counted(len(members), 'entry')}, {lines_of(members)}"
            f" ({_ids(members)}), form a circle"
        )
    if twice:
        what += f"; {lines_of(twice)} used one of their ids before"
    effect = (
        "Pi hangs on opening the file and must be killed (SIGKILL)"
        if meets_leaf
        else "the active branch does not meet it"
    )
    cited = [*members[: _SHOWN - 1], *([last] if len(members) >= _SHOWN else []), *twice[:_SHOWN]]
    return Finding(
        f"{what}: {effect}",
        tuple(cite(session, entry) for entry in cited),
        level=None if meets_leaf else "warning",
        remedy=(
            Remedy(
                f"Do not open the file with Pi. Make a copy without line {last.line} and open it."
            ),
        ),
    )
